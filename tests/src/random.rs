//! Random sequences that can be made once more.

/// Numbers that follow from a seed.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    state: u64,
}

impl Random {
    /// From `CRISOL_TEST_SEED`, else from the clock; prints the seed.
    #[allow(clippy::new_without_default, clippy::print_stdout, reason = "each has its own seed, which a person needs")]
    pub fn new() -> Self {
        let seed = std::env::var("CRISOL_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or_else(|| {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            since.map_or(1, |since| since.as_nanos() as u64)
        });
        println!("CRISOL_TEST_SEED={seed}");
        Self { seed, state: seed }
    }

    /// What all of them follow from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// A number from 0 on.
    pub fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % end
    }

    /// One of these.
    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// These in any order.
    pub fn shuffled<T: Copy>(&mut self, of: &[T]) -> Vec<T> {
        let mut left = of.to_vec();
        (0..of.len()).map(|_| left.swap_remove(self.below(left.len()))).collect()
    }
}
