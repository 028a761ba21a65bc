//! Feeds `spl_fuzz::url_path`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::url_path::check(bytes);
});
