//! Feeds `spl_fuzz::body`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::body::check(bytes);
});
