//! A deterministic simulation of the publish protocol: it runs the real SQL and the real worker, and one seed decides
//! everything about clocks, networks, queued jobs, crashes and callers.
//!
//! `SEEDS=5000` runs more seeds, `SEED=17` runs one and prints its trace.

#![expect(clippy::expect_used, clippy::print_stderr, reason = "a simulation ends where it fails")]

mod callers;
mod calls;
mod connectors;
mod dice;
mod driver;
mod events_and_ledger;
mod fate;
mod fault_rates;
mod judge;
mod lockstep;
mod network;
mod observe;
mod rows;
mod schema;
mod seed_run;
mod steps;
mod time;
mod world;

use std::collections::BTreeSet;

use seed_run::{SeedRun, each};

/// The number of seeds of a normal run.
const SEEDS: u64 = 200;

#[expect(clippy::disallowed_methods, reason = "which seeds to play is said where it is run")]
fn given(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")))
}

#[test]
fn nothing_is_lost_doubled_early_or_unwanted() {
    if let Some(seed) = given("SEED") {
        let story = SeedRun::of(seed);
        eprintln!("{}", story.trace.join("\n"));
        return story.is_good();
    }
    let ends = each(0..given("SEEDS").unwrap_or(SEEDS), |seed| {
        let story = SeedRun::of(seed);
        story.is_good();
        story.ends
    });
    let ends: BTreeSet<(String, String)> = ends.into_iter().flatten().collect();
    // A run proves little unless posts reach every kind of end.
    for (status, code) in [
        ("published", ""),
        ("failed", "outcome_unknown"),
        ("failed", "platform_unavailable"),
        ("failed", "content_rejected"),
        ("failed", "internal_error"),
    ] {
        assert!(
            ends.contains(&(status.into(), code.into())),
            "no post was {status} {code}: {ends:?}"
        );
    }
}

#[test]
fn the_same_seed_tells_the_same_story() {
    for seed in [1, 2, 3] {
        let (one, two) = (SeedRun::of(seed), SeedRun::of(seed));
        let differ = one.trace.iter().zip(&two.trace).position(|(a, b)| a != b);
        if let Some(line) = differ {
            panic!("seed {seed} differs in line {line}:\n{}\n{}", one.trace[line], two.trace[line]);
        }
        assert_eq!((one.trace.len(), one.hash()), (two.trace.len(), two.hash()), "seed {seed}");
    }
}

#[cfg(debug_assertions)]
mod mutations {
    //! Enables each mutation in turn.

    use fanfare_domain::mutation::Mutation;

    use crate::seed_run::{SeedRun, each};

    /// Each mutation must be detected within this many seeds; most are detected within the first few.
    const SEEDS: u64 = 2_500;

    #[test]
    fn each_mutation_is_noticed() {
        let noticed = each(0..Mutation::ALL.len() as u64, |number| {
            let mutation = Mutation::ALL[usize::try_from(number).expect("a small number")];
            let first = (0..SEEDS)
                .find_map(|seed| SeedRun::with(mutation, seed).broken.map(|broken| (seed, broken)));
            (mutation, first)
        });
        for (mutation, first) in &noticed {
            eprintln!("{mutation:?}: {first:?}");
        }
        for (mutation, first) in noticed {
            assert!(first.is_some(), "{mutation:?} was not noticed in {SEEDS} seeds");
        }
    }
}
