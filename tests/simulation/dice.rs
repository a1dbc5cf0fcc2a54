//! The random numbers of a simulation, from one seed.

use rand::{RngExt, SeedableRng, rngs::StdRng};

/// A random number generator that depends on the seed alone.
pub struct Dice(StdRng);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    /// Returns true with a probability per thousand.
    pub fn happens(&mut self, in_a_thousand: u32) -> bool {
        self.0.random_range(0..1_000) < in_a_thousand
    }

    /// Returns a random index of a list of this length.
    pub fn place(&mut self, length: usize) -> usize {
        self.0.random_range(0..length)
    }

    /// Returns a number from `least` to `most`.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        self.0.random_range(least..=most)
    }

    /// Returns a random index of a list of weights; `None` if all are 0.
    pub fn weighed(&mut self, weights: &[u32]) -> Option<usize> {
        let all: u32 = weights.iter().sum();
        if all == 0 {
            return None;
        }
        let mut thrown = self.0.random_range(0..all);
        weights.iter().position(|weight| {
            let here = thrown < *weight;
            thrown = thrown.saturating_sub(*weight);
            here
        })
    }
}
