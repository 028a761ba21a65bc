//! Feeds `spl_fuzz::envelope`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::envelope::check(bytes);
});
