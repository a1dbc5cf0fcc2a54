//! PostgreSQL crashes repeatedly while callers post and posts are published.

use std::time::{Duration, Instant};

use fanfare_core::clock::machine_now;

use crate::{
    callers::Callers,
    fleet::Fleet,
    judge::{connect, count, judge, wait_until_ended},
    report::{Outcome, number, progress},
    settings::Settings,
};

/// Posts a second.
const RATE: u32 = 10;

/// Crashes and restarts the database repeatedly, as `pg_ctl -m immediate restart` does.
pub async fn run(settings: &Settings) -> Outcome {
    let mut fleet = Fleet::start(2).await;
    let accounts = connect(fleet.user(), 4).await;
    fleet.work(3);
    let callers = Callers::start(&fleet.users, &accounts, "postgres", RATE, true);
    for restart in 0..settings.restarts {
        until_some_are_taken(&callers).await;
        tokio::time::sleep(Duration::from_millis((restart as u64 * 613) % 1_500)).await;
        fleet.postgres.crash();
        tokio::time::sleep(Duration::from_millis((restart as u64 * 177) % 800)).await;
        fleet.postgres.restart();
        progress("postgres", format_args!("{} of {} restarts", restart + 1, settings.restarts));
    }
    until_some_are_taken(&callers).await;
    let told = callers.end().await;
    wait_until_ended(&fleet.db, "postgres", machine_now()).await;
    let rows = count(&fleet.db, "SELECT count(*) AS n FROM posts").await;
    let verdict = judge(fleet.user(), &fleet.db, &told.expected).await;
    let thrown = format!(
        "PostgreSQL restarted -m immediate {} times while callers repeat requests under their keys",
        settings.restarts
    );
    let mut outcome = Outcome { thrown, broken: verdict.faults(false), ..Outcome::default() };
    outcome.note(verdict.describe_flagged());
    outcome.note(format!(
        "{} keys, {} posts; answers {}",
        number(told.taken()),
        rows,
        told.answers()
    ));
    outcome.require(told.given_up == 0, format!("{} callers gave up", told.given_up));
    outcome
        .require(told.ids.values().all(|ids| ids.len() == 1), "a key was answered with two posts");
    let taken = i64::try_from(told.taken()).unwrap();
    outcome.require(rows == taken, format!("{taken} requests made {rows} posts"));
    outcome.broken.extend(fleet.ended());
    outcome.verdict = verdict;
    outcome
}

/// Waits until some posts are accepted, so that the next crash interrupts a working service also on a slow machine.
async fn until_some_are_taken(callers: &Callers) {
    let (before, begun) = (callers.taken(), Instant::now());
    while callers.taken() < before + 20 {
        assert!(begun.elapsed().as_secs() < 120, "callers are no longer served");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
