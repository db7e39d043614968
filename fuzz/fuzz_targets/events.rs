#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dsh_bmpp_fuzz::targets::events::run(bytes));
