//! Feeds `spl_fuzz::import_line`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::import_line::check(bytes);
});
