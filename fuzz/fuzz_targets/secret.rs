//! Feeds `spl_fuzz::secret`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    spl_fuzz::secret::check(bytes);
});
