//! Feeds `spl_fuzz::canon`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::canon::check(bytes);
});
