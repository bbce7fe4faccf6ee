//! libFuzzer on the decoder of messages.
#![no_main]

mod decoder;

libfuzzer_sys::fuzz_target!(|data: &[u8]| decoder::run(data));
