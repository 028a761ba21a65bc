//! Feeds `spl_fuzz::evaluators`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::evaluators::check(bytes);
});
