//! Generates texts, images and videos with models, paid with credits.
//!
//! Credits are reserved before a provider is called, and settled or refunded exactly once. Prompts are never logged.

pub mod captions;
pub mod fact_check;
pub mod image;
pub(crate) mod known_facts;
pub mod prices;
pub mod review_reply;
pub mod strangers;
mod text;
pub mod video;

use std::time::Duration;

use fanfare_ai::{Failure, FailureKind};
use fanfare_core::{
    Act, Domain,
    error::{Code, Error, Result, Violation, violation},
    input::text::{TextRule, problem},
};
use fanfare_people::credits::{self, SHORT_EXPIRY, Spend, SpentBy};
use sea_orm::DatabaseTransaction;
use uuid::Uuid;

pub use text::{CheckedTexts, SlotTexts, TextSlot, TextVariant, WritingTask, write_checked};

/// The longest time to generate texts for a caller.
const TIMEOUT: Duration = Duration::from_secs(45);

/// The longest wait that callers are asked for when a provider is busy, in seconds.
const LONGEST_WAIT: u64 = 3_600;

/// Returns what a provider refuses, though the content is not to blame.
const fn denial(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Denied => {
            "The provider does not accept the key, the plan or the quota of this service's operator."
        }
        FailureKind::Retired => "The provider no longer offers the model that this service uses.",
        _ => "The provider does not accept the request as this service makes it.",
    }
}

/// Returns the error for callers when a provider fails.
pub(crate) fn provider_error(failure: &Failure) -> Error {
    match failure.kind {
        FailureKind::Refused => {
            Error::new(Code::ContentRefused, "The provider refuses to make this content.")
        }
        FailureKind::BadAnswer => {
            Error::new(Code::ProviderBadAnswer, "The provider's answer could not be read.")
        }
        FailureKind::Denied | FailureKind::Retired | FailureKind::Rejected => {
            tracing::error!(%failure, kind = ?failure.kind, "a provider of models refuses this service");
            Error::new(Code::ProviderDenied, denial(failure.kind))
        }
        FailureKind::Busy { after } => {
            let seconds = after.map_or(10, |after| after.as_secs().clamp(1, LONGEST_WAIT));
            Error::new(Code::Unavailable, "The provider of the model is busy.")
                .with_retry_after(seconds)
        }
        FailureKind::NotSent | FailureKind::Lost | FailureKind::Failed => {
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

/// The words of a caller about a paid operation.
#[derive(Debug, Clone, Default)]
struct Terms {
    /// The text by which the caller knows it.
    reference: Option<String>,
    /// The most that it may cost.
    max_credits: Option<i64>,
}

impl Terms {
    /// Returns the flaws of the two fields.
    fn flaws(&self) -> Vec<Violation> {
        let rule = TextRule::line(200);
        let mut flaws: Vec<_> =
            self.reference.iter().filter_map(|it| problem("reference", it, rule)).collect();
        if self.max_credits.is_some_and(|most| most < 0) {
            let message = "max_credits is below 0.";
            flaws.push(violation(Code::InvalidField, "max_credits", message, "Send 0 or more."));
        }
        flaws
    }

    /// Fails if the operation costs more than the caller wants to pay.
    fn require(&self, credits: i64) -> Result<()> {
        Error::check(self.flaws())?;
        let Some(most) = self.max_credits.filter(|most| credits > *most) else { return Ok(()) };
        let message = format!("This costs {credits} credits, more than max_credits {most}.");
        let remedy = "Send a larger max_credits, or ask for less.";
        let mut broken = violation(Code::InvalidField, "max_credits", message, remedy);
        broken.limit = Some(most.into());
        broken.actual = Some(credits.into());
        broken.unit = Some("credits");
        Err(Error::violation(broken))
    }

    fn spent_by(&self, act: &Act) -> SpentBy {
        let key = Some(act.caller.key_id).filter(|_| !act.caller.is_browser_session());
        SpentBy { key, reference: self.reference.clone() }
    }
}

/// A paid operation whose caller waits.
struct Purchase {
    operation: String,
    credits: i64,
}

impl Purchase {
    /// Reserves the price of an operation; `cents` is before the operator's factor.
    async fn begin(act: &Act, kind: &str, cents: i64, terms: &Terms) -> Result<Self> {
        let cx = &act.cx;
        let operation = format!("{kind}:{}", Uuid::now_v7());
        let credits = crate::settings(cx).ai.credits(cents);
        terms.require(credits)?;
        let tx = cx.db.begin().await?;
        let spend = Spend {
            workspace: act.membership.workspace_id,
            operation: &operation,
            credits,
            expires_after: SHORT_EXPIRY,
        };
        credits::reserve_for(cx, &tx, spend, &terms.spent_by(act)).await?;
        tx.commit().await?;
        cx.failpoint.reach("credits_reserved").await;
        Ok(Self { operation, credits })
    }

    /// Settles the reserved credits, or refunds them if nothing useful was generated. Returns the credits that were
    /// spent.
    async fn end(&self, cx: &Domain, tx: &DatabaseTransaction, is_useful: bool) -> Result<i64> {
        if is_useful {
            credits::pay(cx, tx, &self.operation, self.credits).await?;
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
