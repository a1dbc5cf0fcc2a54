//! Runs changes to completion, also if the caller disconnects, and once per `Idempotency-Key`.

use std::panic::AssertUnwindSafe;

use fanfare_core::{
    Domain, Error, Reply, Result,
    idempotency::{self, Reservation},
};
use futures_util::{FutureExt, future::BoxFuture};
use tracing::Instrument;

/// Runs the work in its own task, so that a caller who disconnects does not interrupt it, and stores the reply under
/// the reserved key.
///
/// # Errors
/// The error of the work.
pub async fn run(
    cx: Domain,
    reservation: Option<Reservation>,
    work: BoxFuture<'static, Result<Reply>>,
) -> Result<Reply> {
    let task = tokio::spawn(run_and_settle(cx, reservation, work).in_current_span());
    task.await.unwrap_or_else(|error| Err(Error::internal(error)))
}

async fn run_and_settle(
    cx: Domain,
    reservation: Option<Reservation>,
    work: BoxFuture<'static, Result<Reply>>,
) -> Result<Reply> {
    let Some(reservation) = reservation else { return catch_panic(work).await };
    let renewal = reservation.keep_renewed(&cx);
    cx.failpoint.reach("key_reserved").await;
    let outcome = catch_panic(work).await;
    cx.failpoint.reach("change_committed").await;
    drop(renewal);
    if let Err(error) = settle(&cx, &reservation, &outcome).await {
        tracing::warn!(%error, "the answer was not stored under its key");
    }
    outcome
}

async fn catch_panic(work: BoxFuture<'static, Result<Reply>>) -> Result<Reply> {
    let outcome = AssertUnwindSafe(work).catch_unwind().await;
    outcome.unwrap_or_else(|_| Err(Error::internal("a handler panicked")))
}

/// Stores the reply that the work has not stored itself, if it has changed something. Nothing else is stored: what was
/// refused or only checked can be sent again under the same key, corrected or not.
async fn settle(cx: &Domain, reservation: &Reservation, outcome: &Result<Reply>) -> Result<()> {
    match outcome {
        _ if reservation.is_settled() => Ok(()),
        Ok(reply) if reply.changed => {
            idempotency::settle(cx, &cx.db.write, &[(reservation, reply)]).await
        }
        Ok(_) | Err(_) => reservation.abandon(cx).await,
    }
}

#[cfg(test)]
mod tests {
    use fanfare_core::Code;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_internal_error() {
        let outcome = catch_panic(Box::pin(async { panic!("on purpose") })).await;
        assert_eq!(outcome.unwrap_err().code(), Code::InternalError);
    }
}
