//! Redis is stopped for minutes, and comes back empty.

use std::time::{Duration, Instant};

use fanfare_core::clock::machine_now;

use crate::{
    callers::Callers,
    fleet::Fleet,
    judge::{connect, count, judge, wait_until_ended},
    report::{Outcome, progress},
    settings::Settings,
};

/// Posts a second.
const RATE: u32 = 8;

/// The time for which posts are created before and after.
const AROUND: Duration = Duration::from_secs(5);

/// Stops Redis.
pub async fn run(settings: &Settings) -> Outcome {
    let thrown = format!("Redis stopped for {} s", settings.away.as_secs());
    post_during_fault(
        settings,
        "away",
        thrown,
        |fleet| fleet.redis.stop(),
        |fleet| fleet.redis.restart(),
    )
    .await
}

/// Callers post before, during and after a fault of Redis.
pub async fn post_during_fault(
    settings: &Settings,
    fault: &str,
    thrown: String,
    begin: impl FnOnce(&mut Fleet),
    end: impl FnOnce(&mut Fleet),
) -> Outcome {
    let mut fleet = Fleet::start(2).await;
    let accounts = connect(fleet.user(), 4).await;
    fleet.work(3);
    let callers = Callers::start(&fleet.users, &accounts, fault, RATE, false);
    tokio::time::sleep(AROUND).await;
    let before = callers.taken();
    begin(&mut fleet);
    let begun = Instant::now();
    while begun.elapsed() < settings.away {
        progress(
            fault,
            format_args!("{} s of {}", begun.elapsed().as_secs(), settings.away.as_secs()),
        );
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let meanwhile = callers.taken() - before;
    let out = "SELECT count(*) AS n FROM posts WHERE status = 'published'";
    let out = usize::try_from(count(&fleet.db, out).await).unwrap().saturating_sub(before);
    end(&mut fleet);
    tokio::time::sleep(AROUND).await;
    let told = callers.end().await;
    wait_until_ended(&fleet.db, fault, machine_now()).await;
    let verdict = judge(fleet.user(), &fleet.db, &told.expected).await;
    let mut outcome = Outcome { thrown, broken: verdict.faults(false), ..Outcome::default() };
    outcome.note(format!(
        "answers {}, the slowest after {} ms",
        told.answers(),
        told.slowest.as_millis()
    ));
    outcome.note(format!("{meanwhile} made and about {out} published meanwhile"));
    outcome.require(
        told.refused() == 0,
        format!("not every caller was answered with 201: {}", told.answers()),
    );
    outcome.require(out > 0, "nothing went out meanwhile");
    outcome.broken.extend(fleet.ended());
    outcome.verdict = verdict;
    outcome
}
