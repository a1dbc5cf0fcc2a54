//! Records metrics, with one function for each kind of event, so that the labels always match the list.
//!
//! Without [`install`](crate::install) nothing is recorded, and a call costs almost nothing.

use std::time::Duration;

use metrics::{Label, counter, gauge, histogram};

use crate::list;

/// Records the version and role of this process.
pub fn info(version: &'static str, role: &'static str) {
    gauge!(list::INFO.name, "version" => version, "role" => role).set(1.0);
}

/// Sets the counters of rare events to 0 at startup. Prometheus sees no increase in the first value of a counter, so
/// otherwise the first lost answer would raise no alarm.
pub fn platform(platform: &'static str) {
    let unknown = "outcome_unknown";
    let labels = [("platform", platform), ("outcome", unknown), ("code", unknown)];
    counter!(list::ATTEMPTS.name, &labels).increment(0);
    counter!(list::TOKEN_REFRESHES.name, "platform" => platform, "outcome" => "failed")
        .increment(0);
    counter!(list::ACCOUNTS_LOST.name, "platform" => platform).increment(0);
}

/// Records whether the database and the queue are reachable.
pub fn reachable(database: bool, queue: bool) {
    gauge!(list::DATABASE_UP.name).set(bool_value(database));
    gauge!(list::QUEUE_UP.name).set(bool_value(queue));
}

/// Records an answered API request.
pub fn http_request(route: &'static str, status: u16, took: Duration) {
    let status = status.to_string();
    counter!(list::HTTP_REQUESTS.name, "route" => route, "status" => status).increment(1);
    histogram!(list::HTTP_SECONDS.name, "route" => route).record(took);
}

/// Records the end of a publishing attempt. `code` is the error code, if it failed.
pub fn publish_attempt(platform: &'static str, outcome: &'static str, code: Option<String>) {
    let labels = vec![
        Label::new("platform", platform),
        Label::new("outcome", outcome),
        code.map_or(Label::new("code", ""), |code| Label::new("code", code)),
    ];
    counter!(list::ATTEMPTS.name, labels).increment(1);
}

/// Records by how many milliseconds the first publishing call of a post was late.
pub fn lateness(platform: &'static str, ms: i64) {
    #[expect(clippy::cast_precision_loss, reason = "ms of lateness are far below 2^52")]
    let seconds = ms.max(0) as f64 / 1_000.0;
    histogram!(list::LATENESS_SECONDS.name, "platform" => platform).record(seconds);
}

/// Records how many rows a worker asked for and how many it claimed.
pub fn claims(kind: &'static str, asked: usize, taken: usize) {
    let passed = asked.saturating_sub(taken);
    counter!(list::CLAIMS.name, "kind" => kind, "outcome" => "taken").increment(to_u64(taken));
    counter!(list::CLAIMS.name, "kind" => kind, "outcome" => "passed").increment(to_u64(passed));
}

/// Records a batch of rows that was written with one database statement.
pub fn group(statement: &'static str, rows: usize, took: Duration) {
    histogram!(list::GROUP_ROWS.name, "statement" => statement).record(to_f64(rows));
    histogram!(list::GROUP_SECONDS.name, "statement" => statement).record(took);
}

/// Records ids that were handed to the queue, and whether it accepted them.
pub fn enqueued(kind: &'static str, taken: bool, ids: usize) {
    let outcome = if taken { "taken" } else { "failed" };
    counter!(list::ENQUEUED.name, "kind" => kind, "outcome" => outcome).increment(to_u64(ids));
}

/// Records how many jobs are running and how many may run at once.
pub fn running_jobs(kind: &'static str, running: usize, slots: usize) {
    gauge!(list::WORK_RUNNING.name, "kind" => kind).set(to_f64(running));
    gauge!(list::WORK_SLOTS.name, "kind" => kind).set(to_f64(slots));
}

/// Records the waiting work: queued ids, due rows that nobody has claimed, and how long the oldest row has been due.
pub fn waiting_work(kind: &'static str, ids: u64, rows: u64, oldest: Duration) {
    gauge!(list::QUEUE_IDS.name, "kind" => kind).set(to_f64(ids));
    gauge!(list::DUE_ROWS.name, "kind" => kind).set(to_f64(rows));
    gauge!(list::DUE_OLDEST.name, "kind" => kind).set(oldest.as_secs_f64());
}

/// Records how many posts have waited for a worker for more than five seconds.
pub fn late_posts(posts: u64) {
    gauge!(list::POSTS_LATE.name).set(to_f64(usize::try_from(posts).unwrap_or(usize::MAX)));
}

/// Records how many workspaces have a trouble at a network.
pub fn network_trouble(platform: &'static str, trouble: &'static str, workspaces: u64) {
    let workspaces = to_f64(usize::try_from(workspaces).unwrap_or(usize::MAX));
    gauge!(list::NETWORK_TROUBLES.name, "platform" => platform, "trouble" => trouble)
        .set(workspaces);
}

/// Records when a network stops answering the version of its API that is used.
pub fn api_version_ends(platform: &'static str, seconds: i64) {
    #[expect(clippy::cast_precision_loss, reason = "seconds of centuries are far below 2^52")]
    gauge!(list::API_VERSION_ENDS.name, "platform" => platform).set(seconds as f64);
}

/// The outcome of one run of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchedulerTurn {
    /// This process is the leader and scheduled.
    Led,
    /// Another process is the leader.
    Followed,
    /// There is no queue, so each process schedules its own work.
    Alone,
    /// The database did not answer.
    Failed,
}

/// Records a run of the scheduler that ended at `unix_ms`.
pub fn scheduler_turn(outcome: SchedulerTurn, took: Duration, unix_ms: i64) {
    let name = match outcome {
        SchedulerTurn::Led => "led",
        SchedulerTurn::Followed => "followed",
        SchedulerTurn::Alone => "alone",
        SchedulerTurn::Failed => "failed",
    };
    counter!(list::SWEEPS.name, "outcome" => name).increment(1);
    gauge!(list::SWEEP_LEADER.name).set(bool_value(outcome == SchedulerTurn::Led));
    if matches!(outcome, SchedulerTurn::Led | SchedulerTurn::Alone) {
        histogram!(list::SWEEP_SECONDS.name).record(took);
        #[expect(clippy::cast_precision_loss, reason = "the time in ms is below 2^52")]
        gauge!(list::SWEEP_LAST.name).set(unix_ms as f64 / 1_000.0);
    }
}

/// Records a webhook delivery attempt.
pub fn webhook_delivery(outcome: &'static str) {
    counter!(list::DELIVERIES.name, "outcome" => outcome).increment(1);
}

/// Records an outgoing request and its outcome.
pub fn outbound_request(peer: &'static str, outcome: &'static str, took: Duration) {
    counter!(list::OUTBOUND.name, "peer" => peer, "outcome" => outcome).increment(1);
    histogram!(list::OUTBOUND_SECONDS.name, "peer" => peer).record(took);
}

/// Records a lease that could not be renewed.
pub fn lease_lost(kind: &'static str) {
    counter!(list::LEASES_LOST.name, "kind" => kind).increment(1);
}

/// Records a job result that was discarded.
pub fn discarded_result(kind: &'static str) {
    counter!(list::DISCARDED.name, "kind" => kind).increment(1);
}

/// Records an attempt to refresh an account's tokens.
pub fn token_refresh(platform: &'static str, outcome: &'static str) {
    counter!(list::TOKEN_REFRESHES.name, "platform" => platform, "outcome" => outcome).increment(1);
}

/// Records that a platform no longer accepts the credentials of an account.
pub fn account_lost(platform: &'static str) {
    counter!(list::ACCOUNTS_LOST.name, "platform" => platform).increment(1);
}

/// Records how many wallets did not match their ledger at the last comparison.
pub fn wallet_mismatches(count: usize) {
    counter!(list::WALLET_MISMATCHES.name).increment(to_u64(count));
}

/// Records how many payments were found neither delivered nor given back.
pub fn unsettled_payments(count: usize) {
    counter!(list::UNSETTLED_PAYMENTS.name).increment(to_u64(count));
}

const fn bool_value(on: bool) -> f64 {
    if on { 1.0 } else { 0.0 }
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "a measure, not an account")]
fn to_f64(count: impl TryInto<u64>) -> f64 {
    count.try_into().unwrap_or(u64::MAX) as f64
}
