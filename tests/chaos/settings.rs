//! The settings of a run: variables of `make chaos`.

use std::time::Duration;

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Only these faults; all if none is named.
    pub only: Vec<String>,
    /// Posts while workers are killed.
    pub posts: usize,
    /// The number of times a worker is killed.
    pub kills: usize,
    /// Posts that are scheduled while Redis is flushed.
    pub scheduled: usize,
    /// The time for which posts become due with flushes of Redis, and as long without.
    pub window: Duration,
    /// The time for which Redis is stopped, and how long it is full.
    pub away: Duration,
    /// The number of times PostgreSQL is restarted.
    pub restarts: usize,
    /// The number of times a worker is frozen past its lease at a random moment.
    pub stops: usize,
    /// Jobs for each party of the kill test beside others, and how often a worker of each is killed.
    pub peer_jobs: usize,
    /// See `peer_jobs`.
    pub peer_kills: usize,
}

impl Settings {
    /// Reads the settings from the environment. `FULL=1` runs each fault for its maximal length.
    ///
    /// # Panics
    /// One is not a number.
    pub fn read() -> Self {
        let full = variable("FULL").is_some_and(|full| full != "0");
        let number = |name: &str, short: usize, long: usize| {
            let default = if full { long } else { short };
            variable(name).map_or(default, |text| {
                text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text:?}"))
            })
        };
        let seconds = |name: &str, short, long| {
            Duration::from_secs(number(name, short, long).try_into().expect("a short time"))
        };
        let only = variable("ONLY").unwrap_or_default();
        let named = only.split([',', ' ']).filter(|name| !name.is_empty());
        Self {
            only: named.map(str::to_owned).collect(),
            posts: number("POSTS", 5_000, 10_000),
            kills: number("KILLS", 100, 200),
            scheduled: number("SCHEDULED", 100_000, 100_000),
            window: seconds("WINDOW", 30, 120),
            away: seconds("AWAY", 40, 300),
            restarts: number("RESTARTS", 20, 20),
            stops: number("STOPS", 20, 200),
            peer_jobs: number("PEER_JOBS", 2_000, 10_000),
            peer_kills: number("PEER_KILLS", 20, 100),
        }
    }

    /// Returns true if a fault is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|one| one == name)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "what `make chaos` is told, which is no configuration of the service"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}
