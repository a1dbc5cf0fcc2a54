//! Generates texts, images and videos with models, paid with credits.
//!
//! Credits are reserved before a provider is called, and settled or refunded exactly once. Prompts are never logged.

pub mod captions;
pub mod fact_check;
pub mod image;
pub(crate) mod known_facts;
pub mod review_reply;
mod text;
pub mod video;

use std::time::Duration;

use fanfare_ai::{Failure, FailureKind};
use sea_orm::DatabaseTransaction;
use uuid::Uuid;

pub use text::{CheckedTexts, SlotTexts, TextSlot, WritingTask, write_checked};

use crate::{
    Domain,
    access::Membership,
    credits::{self, SHORT_EXPIRY, Spend},
    error::{Code, Error, Result},
};

/// The longest time to generate texts for a caller.
const TIMEOUT: Duration = Duration::from_secs(45);

/// Returns the error for callers when a provider fails.
pub(crate) fn provider_error(failure: &Failure) -> Error {
    match failure.kind {
        FailureKind::Refused => {
            Error::new(Code::ContentRefused, "The provider refuses to make this content.")
        }
        FailureKind::BadAnswer => {
            Error::new(Code::ProviderBadAnswer, "The provider's answer could not be read.")
        }
        _ => {
            tracing::warn!(%failure, "a provider of models failed");
            Error::new(Code::ProviderUnreachable, "The provider of the model did not answer.")
                .with_retry_after(10)
        }
    }
}

/// Returns the error for a provider that the operator has not configured.
pub(crate) fn not_configured(what: &str) -> Error {
    let message = format!("This service has no provider for {what}.");
    Error::new(Code::ProviderNotConfigured, message)
}

/// A paid operation whose caller waits.
struct Purchase {
    operation: String,
    credits: i64,
}

impl Purchase {
    /// Reserves the price of an operation; `cents` is before the operator's factor.
    async fn begin(cx: &Domain, place: &Membership, kind: &str, cents: i64) -> Result<Self> {
        let operation = format!("{kind}:{}", Uuid::now_v7());
        let credits = cx.settings.ai.credits(cents);
        let tx = cx.db.begin().await?;
        let spend = Spend {
            workspace: place.workspace_id,
            operation: &operation,
            credits,
            expires_after: SHORT_EXPIRY,
        };
        credits::reserve(cx, &tx, spend).await?;
        tx.commit().await?;
        cx.failpoint.reach("credits_reserved").await;
        Ok(Self { operation, credits })
    }

    /// Settles the reserved credits, or refunds them if nothing useful was generated. Returns the credits that were
    /// spent.
    async fn end(&self, cx: &Domain, tx: &DatabaseTransaction, is_useful: bool) -> Result<i64> {
        if is_useful {
            credits::settle(cx, tx, &self.operation, self.credits).await?;
            return Ok(self.credits);
        }
        credits::refund(cx, tx, &self.operation).await?;
        Ok(0)
    }

    /// Refunds the credits and returns the error. If that fails, the reservation is refunded when it expires.
    async fn fail(&self, cx: &Domain, error: Error) -> Error {
        let refunded = async {
            let tx = cx.db.begin().await?;
            credits::refund(cx, &tx, &self.operation).await?;
            Ok::<_, Error>(tx.commit().await?)
        };
        if let Err(error) = refunded.await {
            tracing::warn!(%error, "credits were not refunded; it is done when the reservation expires");
        }
        error
    }
}
