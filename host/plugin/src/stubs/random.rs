//! Random numbers that are the same in every run: a batch can be replayed and compared.

use wasmtime_wasi::p2::bindings::random::{insecure, insecure_seed, random};

use crate::limits::RANDOM_BYTES_MAX;
use crate::state::State;

const SEED: u64 = 0x6372_6973_6f6c_2121;

/// SplitMix64 from a fixed seed.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn fixed() -> Self {
        Self(SEED)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        if length > RANDOM_BYTES_MAX {
            wasmtime::bail!("{length} random bytes were asked for, {RANDOM_BYTES_MAX} are given at a time");
        }
        let mut bytes = Vec::with_capacity(length as usize + 8);
        while (bytes.len() as u64) < length {
            bytes.extend_from_slice(&self.next().to_le_bytes());
        }
        bytes.truncate(length as usize);
        Ok(bytes)
    }
}

impl random::Host for State {
    fn get_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        self.random.bytes(length)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        Ok(self.random.next())
    }
}

impl insecure::Host for State {
    fn get_insecure_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        self.random.bytes(length)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        Ok(self.random.next())
    }
}

impl insecure_seed::Host for State {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok((SEED, SEED.rotate_left(32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_in_every_run_and_never_more_than_allowed() {
        let mut random = Random::fixed();
        let bytes = random.bytes(13).unwrap();
        assert_eq!(bytes.len(), 13);
        assert_eq!(bytes, Random::fixed().bytes(13).unwrap());
        assert_ne!(random.next(), random.next());
        assert!(random.bytes(RANDOM_BYTES_MAX + 1).is_err());
        assert!(random.bytes(u64::MAX).is_err());
    }
}
