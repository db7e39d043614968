//! Build script: link settings of the addon.

fn main() {
    // Link settings of a Node addon (on gnu also `-z nodelete`, which worker threads need). Without the feature there
    // is no addon to link.
    if std::env::var_os("CARGO_FEATURE_NODE").is_some() {
        napi_build::setup();
    }
}
