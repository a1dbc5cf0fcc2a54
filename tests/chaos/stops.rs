//! Workers are frozen past their leases, others take over, and the frozen ones go on.

use std::time::Duration;

use fanfare_core::clock::machine_now;
use serde_json::json;

use crate::{
    callers::Callers,
    fleet::Fleet,
    judge::{Account, Expected, Verdict, connect, judge, wait_until_ended},
    process::Process,
    report::{Outcome, number, progress},
    settings::Settings,
};

/// The failpoints at which a worker is frozen: before and after a publishing call is recorded.
const FAILPOINTS: &[&str] = &["claimed", "commit_armed"];

/// The length of a lease, and the time to notice its end.
const PAST_A_LEASE: Duration = Duration::from_secs(64);

/// Workers of the part by chance, and how many of them are frozen at once.
const WORKERS: usize = 12;
const FROZEN: usize = 10;

/// Posts a second in that part; each call takes so long that most workers have one under way.
const RATE: u32 = 12;
const CALL_MS: u64 = 900;

/// SIGSTOP and SIGCONT.
pub async fn run(settings: &Settings) -> Outcome {
    let mut outcome = Outcome::default();
    let placed = at_places(&mut outcome).await;
    let by_chance = by_chance(settings, &mut outcome).await;
    outcome.thrown = format!(
        "{} workers frozen at a failpoint past their leases; {} freezes past a lease at moments of chance, {FROZEN} of \
         {WORKERS} workers at once",
        placed.posts,
        number(settings.stops.div_ceil(FROZEN) * FROZEN),
    );
    outcome.note(format!(
        "posts sent by a worker frozen at a failpoint: {}",
        placed.twice + placed.flagged_public
    ));
    outcome.note(by_chance.describe_flagged());
    outcome.verdict = by_chance;
    outcome.verdict.posts += placed.posts;
    outcome.verdict.public += placed.public;
    outcome.verdict.flagged += placed.flagged;
    outcome
}

/// On each network, freezes a worker at each failpoint; another one takes its post over, then the first continues: it
/// must not send.
async fn at_places(outcome: &mut Outcome) -> Verdict {
    let mut fleet = Fleet::start(1).await;
    let accounts = connect(fleet.user(), 1).await;
    let (mut expected, mut frozen) = (Expected::new(), Vec::new());
    for place in FAILPOINTS {
        for account in &accounts {
            frozen.push((*place, freeze_at(&fleet, *account, place, &mut expected).await));
            progress("stops", format_args!("{} frozen at their places", frozen.len()));
        }
    }
    fleet.work(1);
    wait_until_ended(&fleet.db, "stops", machine_now()).await;
    for (place, worker) in frozen {
        worker.signal("-CONT");
        tokio::time::sleep(Duration::from_secs(2)).await;
        let late = worker.logged().iter().any(|line| line.contains("came late to its start"));
        outcome.require(
            late == (place == "commit_armed"),
            format!("what a worker frozen at {place} noticed: {:?}", worker.logged()),
        );
        // A worker that is still at its failpoint would use its whole grace period, which is longer.
        let stopped = worker.stop(Duration::from_secs(25)).await;
        outcome.require(
            stopped.is_some_and(|status| status.success()),
            format!("a worker frozen at {place} did not go on"),
        );
    }
    let verdict = judge(fleet.user(), &fleet.db, &expected).await;
    outcome.broken.extend(verdict.faults(false));
    outcome
        .require(verdict.flagged_public == 0, "a worker frozen at a failpoint has sent its post");
    outcome.broken.extend(fleet.ended());
    verdict
}

async fn freeze_at(
    fleet: &Fleet,
    account: Account,
    place: &str,
    expected: &mut Expected,
) -> Process {
    let worker = fleet.worker(&[("FANFARE_FAILPOINT", place.to_owned())]);
    let text = format!("{} at {place}", account.platform());
    let _ = fleet.user().publish(json!({"account_id": account.id, "caption": text})).await;
    worker.wait_for_failpoint().await;
    worker.signal("-STOP");
    expected.entry(account).or_default().push(text);
    worker
}

/// Freezes workers at random moments. One that was frozen between its last check of the row and the first byte of the
/// call cannot be kept from sending when it continues: duplicates are counted here, not forbidden.
async fn by_chance(settings: &Settings, outcome: &mut Outcome) -> Verdict {
    let mut fleet = Fleet::start(1).await;
    let accounts = connect(fleet.user(), 40).await;
    for account in &accounts {
        let slow = json!([{"on": "commit", "kind": "delay", "ms": CALL_MS, "times": 1_000_000}]);
        fleet.user().faults(account.platform(), account.id, slow).await;
    }
    fleet.work(WORKERS);
    let rounds = settings.stops.div_ceil(FROZEN);
    let callers = Callers::start(&fleet.users, &accounts, "stops", RATE, true);
    for round in 0..rounds {
        for place in 0..FROZEN {
            let chance = u64::from(uuid::Uuid::new_v4().as_bytes()[0]);
            tokio::time::sleep(Duration::from_millis(200 + chance * 2)).await;
            fleet.workers[(round + place) % WORKERS].signal("-STOP");
        }
        progress(
            "stops",
            format_args!("{} of {} frozen by chance", (round + 1) * FROZEN, rounds * FROZEN),
        );
        tokio::time::sleep(PAST_A_LEASE).await;
        for worker in &fleet.workers {
            worker.signal("-CONT");
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    let told = callers.end().await;
    wait_until_ended(&fleet.db, "stops", machine_now()).await;
    let verdict = judge(fleet.user(), &fleet.db, &told.expected).await;
    outcome.broken.extend(verdict.faults(true));
    outcome.require(told.given_up == 0, format!("{} callers gave up", told.given_up));
    outcome.note(format!(
        "answers {}, the slowest after {} ms",
        told.answers(),
        told.slowest.as_millis()
    ));
    outcome.broken.extend(fleet.ended());
    verdict
}
