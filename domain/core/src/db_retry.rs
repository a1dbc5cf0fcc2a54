//! Retries writes while the database is away.
//!
//! Each write is guarded by what it replaces (a fencing token, the id of a secret), so a write whose reply was lost may be
//! repeated: it cannot be applied twice, nor overwrite what somebody else has written since.

use std::time::Duration;

use fanfare_entities::Millis;

use crate::{Code, Result, clock::Clock, failpoint::Failpoint};

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// Retries a write until the database answers, for at most `longest` (in ms): only this process knows what it writes.
///
/// # Errors
/// Those of the write; [`Code::Unavailable`] after that time.
pub async fn retry_while_unavailable<T, F: Future<Output = Result<T>>>(
    (clock, failpoint): (&Clock, &Failpoint),
    longest: Millis,
    write: impl Fn() -> F,
) -> Result<T> {
    let begun = clock.elapsed_ms();
    loop {
        match write().await {
            Err(error)
                if error.code() == Code::Unavailable && clock.elapsed_ms() - begun < longest =>
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

    use super::*;
    use crate::Error;

    #[tokio::test(start_paused = true)]
    async fn a_database_that_is_away_is_waited_for_and_a_bug_is_not() {
        let (clock, failpoint) = (Clock::machine(), Failpoint::default());
        let tries = AtomicU32::new(0);
        let written = retry_while_unavailable((&clock, &failpoint), 60_000, || async {
            match tries.fetch_add(1, Ordering::Relaxed) {
                0..3 => Err(Error::new(Code::Unavailable, "away")),
                _ => Ok(7),
            }
        });
        assert_eq!(written.await.unwrap(), 7);
        assert_eq!(tries.load(Ordering::Relaxed), 4);
        let broken = retry_while_unavailable((&clock, &failpoint), 60_000, || async {
            tries.fetch_add(1, Ordering::Relaxed);
            Err::<(), _>(Error::new(Code::InternalError, "a bug"))
        });
        assert!(broken.await.is_err());
        assert_eq!(tries.load(Ordering::Relaxed), 5);
    }
}
