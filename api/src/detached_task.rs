//! Runs changes to completion, also if the caller disconnects, and once per `Idempotency-Key`.

use std::panic::AssertUnwindSafe;

use fanfare_domain::{
    Code, Domain, Error, Reply, Result,
    idempotency::{self, Reservation},
};
use futures_util::{FutureExt, future::BoxFuture};
use tracing::Instrument;

use crate::reply;

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

/// Stores the reply that the work has not stored itself: a success that changed nothing, or a permanent error.
async fn settle(cx: &Domain, reservation: &Reservation, outcome: &Result<Reply>) -> Result<()> {
    match outcome {
        Ok(_) if reservation.is_settled() => Ok(()),
        Ok(answer) => idempotency::settle(cx, &cx.db.write, &[(reservation, answer)]).await,
        Err(error) if is_permanent(error) => {
            let refusal = reply::refusal(error);
            idempotency::settle(cx, &cx.db.write, &[(reservation, &refusal)]).await
        }
        Err(_) => reservation.abandon(cx).await,
    }
}

/// Returns true if the same request would fail again. Permissions, rate limits and failures of ours may change.
fn is_permanent(error: &Error) -> bool {
    (400..500).contains(&error.status())
        && !matches!(error.status(), 401 | 403 | 429)
        && error.code() != Code::IdempotencyInProgress
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_for_good_is_stored() {
        let stored = |code: Code| is_permanent(&Error::new(code, ""));
        for code in [Code::InvalidField, Code::PostNotFound, Code::InvalidTransition] {
            assert!(stored(code), "{code:?}");
        }
        for code in [
            Code::InvalidApiKey,
            Code::InsufficientScope,
            Code::RateLimited,
            Code::InternalError,
            Code::ProviderUnreachable,
            Code::MediaCopyPending,
            Code::IdempotencyInProgress,
        ] {
            assert!(!stored(code), "{code:?}");
        }
    }

    #[tokio::test]
    async fn a_panic_is_an_internal_error() {
        let outcome = catch_panic(Box::pin(async { panic!("on purpose") })).await;
        assert_eq!(outcome.unwrap_err().code(), Code::InternalError);
    }
}
