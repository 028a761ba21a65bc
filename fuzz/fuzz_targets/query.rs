//! Feeds `spl_fuzz::query`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::query::check(bytes);
});
