//! Feeds `spl_fuzz::policy_settings`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::policy_settings::check(bytes);
});
