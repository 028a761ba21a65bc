//! Feeds `spl_fuzz::session_payload`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::session_payload::check(bytes);
});
