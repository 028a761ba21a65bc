//! Feeds `spl_fuzz::predicate`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::predicate::check(bytes);
});
