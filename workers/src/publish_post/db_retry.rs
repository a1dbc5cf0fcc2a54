//! Retries writes while the database is away.
//!
//! Each write is guarded by the fencing token, so a write whose reply was lost may be repeated: it cannot be applied
//! twice, nor overwrite what a newer holder has written.

use std::time::Duration;

use fanfare_domain::{Code, Result, clock::Clock, durable::LEASE, failpoint::Failpoint};

/// The time for which a write is retried, in ms: as long as a lease. After that another worker may claim the row.
const MAX_RETRY_TIME: i64 = LEASE;

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// Retries a write until the database answers, or the lease has expired. Only this process knows the network's reply,
/// and a call that was recorded and not made would have to be reconciled.
pub async fn retry_while_unavailable<T, F: Future<Output = Result<T>>>(
    clock: &Clock,
    failpoint: &Failpoint,
    write: impl Fn() -> F,
) -> Result<T> {
    let begun = clock.elapsed_ms();
    loop {
        match write().await {
            Err(error)
                if error.code() == Code::Unavailable
                    && clock.elapsed_ms() - begun < MAX_RETRY_TIME =>
            {
                failpoint.reach("unwritten").await;
                clock.sleep(PAUSE).await;
                failpoint.reach("writing").await;
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use fanfare_domain::Error;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_database_that_is_away_is_waited_for_and_a_bug_is_not() {
        let (clock, failpoint) = (Clock::machine(), Failpoint::default());
        let tries = AtomicU32::new(0);
        let written = retry_while_unavailable(&clock, &failpoint, || async {
            match tries.fetch_add(1, Ordering::Relaxed) {
                0..3 => Err(Error::new(Code::Unavailable, "away")),
                _ => Ok(7),
            }
        });
        assert_eq!(written.await.unwrap(), 7);
        assert_eq!(tries.load(Ordering::Relaxed), 4);
        let broken = retry_while_unavailable(&clock, &failpoint, || async {
            tries.fetch_add(1, Ordering::Relaxed);
            Err::<(), _>(Error::new(Code::InternalError, "a bug"))
        });
        assert!(broken.await.is_err());
        assert_eq!(tries.load(Ordering::Relaxed), 5);
    }
}
