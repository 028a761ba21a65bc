//! Feeds `spl_fuzz::blueprint`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::blueprint::check(bytes);
});
