//! Feeds `spl_fuzz::hook_record`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::hook_record::check(bytes);
});
