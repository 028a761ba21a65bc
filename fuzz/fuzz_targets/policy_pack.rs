//! Feeds `spl_fuzz::policy_pack`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::policy_pack::check(bytes);
});
