//! Feeds `spl_fuzz::bearer`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::bearer::check(bytes);
});
