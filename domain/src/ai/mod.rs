//! Texts, images and films from models, paid for with credits.
//!
//! Credits are reserved before a provider is asked, and settled or refunded once at every end. What a prompt says stands in no log.

pub mod captions;
pub mod fact_check;
pub mod image;
pub(crate) mod known;
pub mod review_reply;
mod text;
pub mod video;

use std::time::Duration;

use fanfare_ai::{Failure, FailureKind};
use sea_orm::DatabaseTransaction;
use uuid::Uuid;

pub use text::{Checked, Slot, Task, Variants, write_checked};

use crate::{
    Domain,
    access::Membership,
    credits::{self, HOUR, Spend},
    error::{Code, Error, Result},
};

/// The time that a caller's texts may take.
const PATIENCE: Duration = Duration::from_secs(45);

/// The error that a caller gets when a provider fails.
pub(crate) fn refusal(failure: &Failure) -> Error {
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
                .retry_after(10)
        }
    }
}

/// The error for a provider that the operator has not configured.
pub(crate) fn not_configured(what: &str) -> Error {
    let message = format!("This service has no provider for {what}.");
    Error::new(Code::ProviderNotConfigured, message)
}

/// An operation that is paid for while its caller waits.
struct Purchase {
    operation: String,
    credits: i64,
}

impl Purchase {
    /// Reserves what an operation costs; `cents` before the operator's factor.
    async fn begin(cx: &Domain, place: &Membership, kind: &str, cents: i64) -> Result<Self> {
        let operation = format!("{kind}:{}", Uuid::now_v7());
        let credits = cx.settings.ai.credits(cents);
        let tx = cx.db.begin().await?;
        let spend =
            Spend { workspace: place.workspace_id, operation: &operation, credits, patience: HOUR };
        credits::reserve(cx, &tx, spend).await?;
        tx.commit().await?;
        cx.failpoint.reach("credits_reserved").await;
        Ok(Self { operation, credits })
    }

    /// Settles what was reserved, or gives it back if nothing useful came of it; returns the credits that were spent.
    async fn end(&self, cx: &Domain, tx: &DatabaseTransaction, is_useful: bool) -> Result<i64> {
        if is_useful {
            credits::settle(cx, tx, &self.operation, self.credits).await?;
            return Ok(self.credits);
        }
        credits::refund(cx, tx, &self.operation).await?;
        Ok(0)
    }

    /// Gives the credits back, and passes the error on. A refund that fails is made when the reservation expires.
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
