//! Every worker's clock is wrong, and one is set while it runs.

use std::time::Duration;

use fanfare_core::clock::machine_now;
use fanfare_entities::Millis;
use fanfare_tests::faketime;

use crate::{
    callers::Callers,
    fleet::Fleet,
    judge::{connect, judge, lateness, wait_until_ended},
    report::{Outcome, number, progress},
    schedule::{ended, schedule},
    settings::Settings,
};

/// The errors of the workers' clocks.
const WRONG: &[&str] = &["+10m", "-10m", "+1d", "-1d"];

/// The interval between due times, in ms.
const STEP: Millis = 100;

/// The time before the first due time at which posts are created, in ms.
const AHEAD: Millis = 8_000;

/// The number of posts that are scheduled; most of them are not due before the end.
const SCHEDULED: usize = 5_000;

/// Sets clocks wrong.
pub async fn run(settings: &Settings) -> Outcome {
    let mut fleet = Fleet::start(1).await;
    let accounts = connect(fleet.user(), 4).await;
    for wrong in WRONG {
        let worker = fleet.worker(&faketime::by(wrong));
        fleet.workers.push(worker);
    }
    let file = fleet.dir.path("clock");
    std::fs::write(&file, "+0").expect("the file of the clock");
    let moved = fleet.worker(&faketime::by_file(&file));
    fleet.workers.push(moved);
    let key = fleet.user().key.clone();
    fleet.start_api(&key, &faketime::by("+1d"));
    let from = machine_now() + AHEAD;
    let expected = schedule(&fleet, &accounts, SCHEDULED, from, STEP).await;
    let callers = Callers::start(&fleet.users, &accounts, "now", 4, false);
    let window = Millis::try_from(settings.window.as_millis()).unwrap();
    let end = from + window;
    while machine_now() < end {
        let left = end - machine_now();
        if left < window / 2 {
            std::fs::write(&file, "+1d").expect("the file of the clock");
        }
        progress("clocks", format_args!("{} s to go", left / 1_000));
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    let told = callers.end().await;
    wait_until_ended(&fleet.db, "clocks", end).await;
    let broken = fleet.ended();
    for worker in fleet.workers.drain(..) {
        let _ = worker.stop(Duration::from_secs(50)).await;
    }
    let mut all = ended(&fleet.db, &expected, end).await;
    for (account, texts) in &told.expected {
        all.entry(*account).or_default().extend(texts.iter().cloned());
    }
    let mut verdict = judge(fleet.user(), &fleet.db, &all).await;
    let late = lateness(&verdict.times, |_| true);
    verdict.times.clear();
    let thrown = format!(
        "workers whose clocks are off by {}, one that is set a day ahead while it works, an API process a day ahead",
        WRONG.join(", ")
    );
    let mut outcome = Outcome { thrown, broken, ..Outcome::default() };
    outcome.broken.extend(verdict.faults(false));
    outcome.note(format!("{} early; late (p50 / p99 / most): {late}", late.early()));
    outcome.note(format!("{} more are scheduled", number(SCHEDULED.saturating_sub(late.count()))));
    outcome.require(late.early() == 0, format!("{} posts went out early", late.early()));
    outcome.require(told.refused() == 0, format!("callers were answered {}", told.answers()));
    outcome.verdict = verdict;
    outcome
}
