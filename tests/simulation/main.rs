//! A deterministic simulation of the protocol by which posts and replies go out once: it runs the real SQL and the real
//! worker, and one seed decides everything about clocks, networks, queued jobs, crashes and callers.
//!
//! `SEEDS=5000` runs more seeds of each kind, `SEED=17` runs one and prints its trace. `GUARD=Settled` takes away this guard
//! alone.

#![expect(clippy::expect_used, clippy::print_stderr, reason = "a simulation ends where it fails")]

mod callers;
mod calls;
mod connectors;
mod dice;
mod driver;
mod errands;
mod events_and_ledger;
mod fate;
mod fault_rates;
mod judge;
mod kind;
mod lockstep;
mod network;
mod observe;
mod replies;
mod rows;
mod schema;
mod seed_run;
mod steps;
mod time;
mod world;

use std::collections::BTreeSet;

use kind::Kind;
use seed_run::{SeedRun, each};

/// The number of seeds of a normal run.
const SEEDS: u64 = 200;

#[expect(clippy::disallowed_methods, reason = "what to play is said where it is run")]
fn named(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn given(name: &str) -> Option<u64> {
    let text = named(name)?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")))
}

#[test]
fn nothing_is_lost_doubled_early_or_unwanted() {
    nothing_breaks(Kind::Posts);
}

#[test]
fn no_reply_is_lost_doubled_or_told_wrongly() {
    nothing_breaks(Kind::Replies);
}

fn nothing_breaks(kind: Kind) {
    if let Some(seed) = given("SEED") {
        let story = SeedRun::of(kind, seed);
        eprintln!("{}", story.trace.join("\n"));
        return story.is_good();
    }
    let ends = each(0..given("SEEDS").unwrap_or(SEEDS), |seed| {
        let story = SeedRun::of(kind, seed);
        story.is_good();
        story.ends
    });
    let ends: BTreeSet<(String, String)> = ends.into_iter().flatten().collect();
    // A run proves little unless rows reach every kind of end.
    for (status, code) in kind.ends() {
        assert!(
            ends.contains(&((*status).into(), (*code).into())),
            "nothing was {status} {code}: {ends:?}"
        );
    }
}

#[test]
fn the_same_seed_tells_the_same_story() {
    for (kind, seed) in [(Kind::Posts, 1), (Kind::Posts, 2), (Kind::Replies, 3)] {
        let (one, two) = (SeedRun::of(kind, seed), SeedRun::of(kind, seed));
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

    use fanfare_core::mutation::Mutation;

    use crate::{
        kind::Kind,
        seed_run::{SeedRun, each},
    };

    /// Each mutation must be detected within this many seeds; most are detected within the first few.
    const SEEDS: u64 = 2_500;

    #[test]
    fn each_mutation_is_noticed() {
        let pairs = Kind::ALL.into_iter().flat_map(|kind| Mutation::ALL.map(|one| (kind, one)));
        let guard = crate::named("GUARD");
        let is_asked =
            |one: &Mutation| guard.as_ref().is_none_or(|name| format!("{one:?}") == *name);
        let pairs: Vec<_> =
            pairs.filter(|(kind, one)| kind.has_guard(*one) && is_asked(one)).collect();
        assert!(!pairs.is_empty(), "no guard has the name {guard:?}");
        let noticed = each(0..pairs.len() as u64, |number| {
            let (kind, mutation) = pairs[usize::try_from(number).expect("a small number")];
            let first = (0..SEEDS).find_map(|seed| {
                SeedRun::with(kind, mutation, seed).broken.map(|broken| (seed, broken))
            });
            (kind, mutation, first)
        });
        for (kind, mutation, first) in &noticed {
            eprintln!("{kind:?}, {mutation:?}: {first:?}");
        }
        for (kind, mutation, first) in noticed {
            assert!(first.is_some(), "{kind:?}: {mutation:?} was not noticed in {SEEDS} seeds");
        }
    }
}
