//! Redis is flushed every two seconds while very many posts are scheduled.

use std::time::Duration;

use fanfare_core::clock::machine_now;
use fanfare_entities::Millis;

use crate::{
    fleet::Fleet,
    judge::{connect, count, judge, lateness, wait_until_ended},
    report::{Outcome, number, progress},
    schedule::{ended, schedule},
    settings::Settings,
};

/// The interval of flushes.
const EVERY: Duration = Duration::from_secs(2);

/// The interval between due times, in ms.
const STEP: Millis = 100;

/// The time before the first due time at which posts are created, in ms.
const AHEAD: Millis = 15_000;

/// The pause between the part without and the part with flushes, in ms.
const BREAK: Millis = 4_000;

/// Runs FLUSHALL. The lateness with and without it is reported, but not judged, since machines differ.
pub async fn run(settings: &Settings) -> Outcome {
    let mut fleet = Fleet::start(1).await;
    let mut accounts = connect(fleet.user(), 40).await;
    // Posts to Threads are excluded: they would all be prepared at once, a quarter of an hour ahead, which is unrelated
    // to Redis.
    accounts.retain(|account| account.platform() != "threads");
    fleet.work(3);
    let window = Millis::try_from(settings.window.as_millis()).unwrap();
    let from = machine_now() + AHEAD;
    let expected = schedule(&fleet, &accounts, settings.scheduled, from, STEP).await;
    assert!(machine_now() < from, "scheduling took longer than {AHEAD} ms");
    let (quiet, begin) = (from + window, from + window + BREAK);
    let end = begin + window;
    let mut flushes = 0;
    while machine_now() < end {
        if machine_now() > quiet {
            fleet.redis.flush();
            flushes += 1;
        }
        progress(
            "flush",
            format_args!("{flushes} flushes, {} s to go", (end - machine_now()) / 1_000),
        );
        tokio::time::sleep(EVERY).await;
    }
    wait_until_ended(&fleet.db, "flush", end).await;
    let waiting = format!(
        "SELECT count(*) AS n FROM posts WHERE status = 'scheduled' AND due_at = scheduled_at AND scheduled_at > {}",
        machine_now() + 5_000
    );
    let waiting = count(&fleet.db, &waiting).await;
    let broken = fleet.ended();
    // Posts that are published after the end of the window are counted once the workers have stopped.
    for worker in fleet.workers.drain(..) {
        let stopped = worker.stop(Duration::from_secs(50)).await;
        assert!(stopped.is_some_and(|status| status.success()), "a worker did not stop well");
    }
    let ended = ended(&fleet.db, &expected, end).await;
    let mut verdict = judge(fleet.user(), &fleet.db, &ended).await;
    let without = lateness(&verdict.times, |due| due < quiet);
    let with = lateness(&verdict.times, |due| (begin..end).contains(&due));
    verdict.times.clear();
    let thrown = format!(
        "Redis flushed every {} s with {} posts scheduled, {} due while it was",
        EVERY.as_secs(),
        number(expected.values().map(Vec::len).sum()),
        number(with.count())
    );
    let mut outcome = Outcome { thrown, broken, ..Outcome::default() };
    outcome
        .note(format!("late (p50 / p99 / most): {without} without, {with} with {flushes} flushes"));
    outcome
        .note(format!("{} still wait for their time", number(usize::try_from(waiting).unwrap())));
    outcome.require(without.early() + with.early() == 0, "a post went out early");
    outcome.require(flushes > 0, "Redis was never flushed");
    outcome.broken.extend(verdict.faults(false));
    outcome.verdict = verdict;
    outcome
}
