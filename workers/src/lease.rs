//! Leases of work that may take minutes, and the retries of work on files.

use std::{convert::Infallible, time::Duration};

use fanfare_core::durable::{self, LEASE, Lease};
use fanfare_entities::Millis;
use fanfare_jobs::JobKind;
use fanfare_media::Flaw;
use fanfare_ops::ops::samples::measure;
use fanfare_publishing::media::{analysis, variants};
use serde_json::{Value, json};

use crate::Context;

/// The most attempts at work that fails for a temporary reason, each after a longer wait.
const TRIES: i32 = 5;

/// Does the work and renews the lease after each third of its time. A lost lease does not stop the work; the fencing
/// token discards its result.
pub async fn while_leased<T>(
    cx: &Context,
    kind: JobKind,
    lease: Lease,
    work: impl Future<Output = T>,
) -> T {
    let third = Duration::from_millis(LEASE.unsigned_abs() / 3);
    let renew = || async {
        let renewed = durable::renew(&cx.domain, kind, &[lease], cx.now() + LEASE).await;
        if !renewed.is_ok_and(|kept| kept.contains(&lease)) {
            lost(cx, kind, lease).await;
        }
    };
    renewing(work, || tokio::time::sleep(third), renew).await
}

/// Records that a lease could not be renewed, unless the row's owner ended it by what they changed or deleted.
pub async fn lost(cx: &Context, kind: JobKind, lease: Lease) {
    let name = kind.as_str();
    if let Ok(false) = durable::was_taken_over(&cx.domain, kind, lease, &cx.name).await {
        tracing::info!(kind = name, id = lease.id, "what was worked on was changed meanwhile");
        return;
    }
    fanfare_metrics::record::lease_lost(name);
    tracing::warn!(kind = name, id = lease.id, "a lease was not renewed");
}

/// Does the work, and renews after each wait. The work goes on while something is renewed: it may hold what the renewal
/// needs, such as the only connection on which SQLite writes, and would never give it back otherwise.
pub async fn renewing<T, W, R>(
    work: impl Future<Output = T>,
    wait: impl Fn() -> W,
    renew: impl Fn() -> R,
) -> T
where
    W: Future<Output = ()>,
    R: Future<Output = ()>,
{
    tokio::select! {
        // Work that has ended needs no lease.
        biased;
        done = work => done,
        never = renew_for_ever(wait, renew) => match never {},
    }
}

async fn renew_for_ever<W, R>(wait: impl Fn() -> W, renew: impl Fn() -> R) -> Infallible
where
    W: Future<Output = ()>,
    R: Future<Output = ()>,
{
    loop {
        wait().await;
        renew().await;
    }
}

/// Returns the time at which work on a file is tried again, if that may help.
pub fn retry_at(flaw: &Flaw, attempts: i32, now: Millis) -> Option<Millis> {
    let tries = attempts + 1;
    if !flaw.is_temporary() || tries >= TRIES {
        return None;
    }
    tracing::warn!(%flaw, "work on a file failed for now; it is tried again");
    Some(now + 1_000 * 4_i64.pow(tries.unsigned_abs().saturating_sub(1)))
}

/// Returns a flaw as a row stores it.
pub fn flaw_json(flaw: &Flaw) -> Value {
    json!({"code": flaw.code(), "message": flaw.to_string(), "remedy": flaw.remedy()})
}

/// Work whose outcome can be counted.
pub trait Counted {
    /// Returns its measure in the charts.
    fn measure(&self) -> &'static str;
}

impl Counted for analysis::AnalysisOutcome {
    fn measure(&self) -> &'static str {
        match self {
            // A file with a flaw has been analysed too.
            Self::Done(..) | Self::Failed(_) => measure::DONE,
            Self::Retry(_) => measure::RETRIED,
        }
    }
}

impl Counted for variants::ConversionOutcome {
    fn measure(&self) -> &'static str {
        match self {
            Self::Done(_) => measure::DONE,
            Self::Failed(_) => measure::FAILED,
            Self::Retry(_) => measure::RETRIED,
        }
    }
}

/// Removes a file that is not needed, because its row did not take it.
pub async fn discard(cx: &Context, path: Option<String>) {
    let Some(path) = path else { return };
    if let Err(error) = cx.domain.store.delete(&path).await {
        tracing::warn!(%error, "a file that was made in vain was not removed");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{sync::Mutex, time::sleep};

    use super::renewing;

    #[tokio::test]
    async fn work_may_hold_what_a_renewal_waits_for() {
        let (connection, renewed) = (Mutex::new(()), Mutex::new(0));
        let work = async {
            while *renewed.lock().await < 3 {
                let held = connection.lock().await;
                sleep(Duration::from_millis(20)).await;
                drop(held);
            }
        };
        let renew = || async {
            let _held = connection.lock().await;
            *renewed.lock().await += 1;
        };
        let all = renewing(work, || sleep(Duration::from_millis(5)), renew);
        tokio::time::timeout(Duration::from_secs(60), all).await.expect("neither waits for ever");
    }
}
