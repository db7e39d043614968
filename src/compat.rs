//! The version envelope: on which versions of the Harness the policy loads.

use semver::Version;

/// The supported range, as package.json declares it too. A test keeps the two equal.
pub const RANGE: &str = ">=0.1.5-rc.2 <0.2.0";

/// The versions that this project's own suite ran on, as package.json declares them too. Evidence; it changes no
/// behaviour.
pub const VERIFIED: &[&str] = &["0.1.0-rc.8"];

const OLDEST: Version = version(0, 1, 5);
const OLDEST_PRE: &str = "rc.2";
const NEXT: Version = version(0, 2, 0);

const fn version(major: u64, minor: u64, patch: u64) -> Version {
    Version::new(major, minor, patch)
}

/// Where a version stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Standing {
    /// In the supported range.
    Inside,
    /// Before the range.
    Older,
    /// After the range. A pre-release of the next line counts as of that line.
    Newer,
    /// No version at all: text that does not parse.
    Unparsable,
    /// The host's version could not be found out.
    Undetectable,
}

/// What the policy makes of the host.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Compatibility {
    /// Where the version stands.
    pub standing: Standing,
    /// Whether this project's suite ran on exactly this version.
    pub verified: bool,
    /// Whether the policy loads.
    pub activate: bool,
    /// Whether an operator must see the reason: it loads where it was not made for, or does not know where it is.
    pub loud: bool,
    /// The reason, one sentence.
    pub reason: String,
}

/// Judges a host version. `None`: it could not be found out.
#[must_use]
pub fn compatibility(host: Option<&str>, allow_unverified: bool) -> Compatibility {
    let standing = standing(host);
    let text = host.map(shown).unwrap_or_default();
    let verified = host.is_some_and(|host| VERIFIED.contains(&host));
    let evidence = if verified { "verified by this project's suite" } else { "not verified by this project's suite" };
    let outside = |what: &str| {
        if allow_unverified {
            format!("host version {text} {what}, allowed by configuration, {evidence}")
        } else {
            format!(
                "host version {text} {what}: use a supported version, or set allowUnverifiedHarness: true to load \
                 there at your own risk"
            )
        }
    };
    let reason = match standing {
        Standing::Inside if verified => {
            format!("host version {text} is within the supported range {RANGE}, {evidence}")
        }
        Standing::Inside => format!("host version {text} is within the supported range {RANGE}, not verified"),
        Standing::Older => outside(&format!("is older than and outside the supported range {RANGE}")),
        Standing::Newer => outside(&format!("is newer than and outside the supported range {RANGE}")),
        Standing::Unparsable => {
            outside(&format!("is no version that can be compared with the supported range {RANGE}"))
        }
        Standing::Undetectable => {
            format!("the host's version could not be found out, so it is not checked against {RANGE}")
        }
    };
    let inside = standing == Standing::Inside;
    let undetectable = standing == Standing::Undetectable;
    Compatibility { standing, verified, activate: inside || undetectable || allow_unverified, loud: !inside, reason }
}

fn standing(host: Option<&str>) -> Standing {
    let Some(host) = host else { return Standing::Undetectable };
    let Ok(version) = Version::parse(host) else { return Standing::Unparsable };
    // Build metadata has no part in precedence.
    let version = Version { build: semver::BuildMetadata::EMPTY, ..version };
    let mut oldest = OLDEST;
    oldest.pre = semver::Prerelease::new(OLDEST_PRE).unwrap_or(semver::Prerelease::EMPTY);
    if version < oldest {
        Standing::Older
    } else if (version.major, version.minor, version.patch) >= (NEXT.major, NEXT.minor, NEXT.patch) {
        Standing::Newer
    } else {
        Standing::Inside
    }
}

/// A version text from a manifest, fit for one line.
fn shown(text: &str) -> String {
    text.chars().take(60).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_stands_where_precedence_puts_it() {
        for (host, expected) in [
            ("0.1.5-rc.2", Standing::Inside),
            ("0.1.5-rc.10", Standing::Inside),
            ("0.1.5", Standing::Inside),
            ("0.1.5+build.7", Standing::Inside),
            ("0.1.6-alpha.1", Standing::Inside),
            ("0.1.99", Standing::Inside),
            ("0.1.5-rc.1", Standing::Older),
            ("0.1.5-alpha", Standing::Older),
            ("0.1.0-rc.8", Standing::Older),
            ("0.0.9", Standing::Older),
            ("0.2.0-rc.1", Standing::Newer),
            ("0.2.0", Standing::Newer),
            ("1.0.0", Standing::Newer),
            ("", Standing::Unparsable),
            ("v0.1.5", Standing::Unparsable),
            ("0.1", Standing::Unparsable),
            ("latest", Standing::Unparsable),
        ] {
            assert_eq!(standing(Some(host)), expected, "{host}");
        }
        assert_eq!(standing(None), Standing::Undetectable);
    }

    #[test]
    fn outside_the_range_it_loads_only_by_configuration_and_says_so() {
        for host in ["0.1.0-rc.8", "0.2.0", "nonsense"] {
            let refused = compatibility(Some(host), false);
            assert!(
                !refused.activate && refused.reason.contains(host) && refused.reason.contains("allowUnverifiedHarness")
            );
            let allowed = compatibility(Some(host), true);
            assert!(allowed.activate && allowed.loud && allowed.reason.contains("allowed by configuration"));
        }
        let verified = compatibility(Some("0.1.0-rc.8"), true);
        assert!(
            verified.verified
                && verified.reason.ends_with("allowed by configuration, verified by this project's suite")
        );
        assert!(verified.reason.contains("outside the supported range"));
    }

    #[test]
    fn inside_and_undetectable_it_loads() {
        let inside = compatibility(Some("0.1.5"), false);
        assert!(inside.activate && !inside.loud && inside.reason.contains("within the supported range"));
        assert!(inside.reason.ends_with("not verified"));
        let unknown = compatibility(None, false);
        assert!(unknown.activate && unknown.loud && !unknown.verified);
    }
}
