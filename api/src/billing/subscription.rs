//! The operations on a user's subscription.

use fanfare_core::{Reply, Result};
use fanfare_people::billing::{OneSubscription, ShownSubscription, change};

use crate::Call;

/// Shows the subscription.
pub async fn show(call: Call) -> Result<Reply<ShownSubscription>> {
    change::show(&call.act).await
}

/// Cancels the subscription.
pub async fn cancel(mut call: Call) -> Result<Reply<OneSubscription>> {
    let asked = call.body()?;
    change::cancel(&call.act, asked, call.idempotency_key.as_deref()).await
}

/// Pauses the subscription.
pub async fn pause(call: Call) -> Result<Reply<OneSubscription>> {
    change::pause(&call.act, call.idempotency_key.as_deref()).await
}

/// Resumes the subscription.
pub async fn resume(call: Call) -> Result<Reply<OneSubscription>> {
    change::resume(&call.act, call.idempotency_key.as_deref()).await
}

/// Downgrades the subscription.
pub async fn downgrade(mut call: Call) -> Result<Reply<OneSubscription>> {
    let asked = call.body()?;
    change::downgrade(&call.act, asked, call.idempotency_key.as_deref()).await
}
