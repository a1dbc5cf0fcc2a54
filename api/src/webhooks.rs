//! Webhooks and their deliveries.

use fanfare_core::{Deleted, Listed, Reply, Result, webhooks};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Call, discovery::WorkspaceQuery};

/// The filters of a list of deliveries.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveriesQuery {
    /// 1 to 100, 20 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
}

/// Lists the webhooks of the workspace.
pub async fn list(mut call: Call) -> Result<Reply<Listed<webhooks::WebhookList>>> {
    call.query::<WorkspaceQuery>()?;
    webhooks::list(&call.act).await
}

/// Creates a webhook.
pub async fn create(mut call: Call) -> Result<Reply<webhooks::OneWebhookWithSecret>> {
    let new = call.body()?;
    webhooks::create(&call.act, new).await
}

/// Changes a webhook.
pub async fn update(mut call: Call) -> Result<Reply<webhooks::OneWebhook>> {
    let changes = call.body()?;
    webhooks::update(&call.act, call.webhook()?, changes).await
}

/// Deletes a webhook.
pub async fn delete(call: Call) -> Result<Reply<Deleted>> {
    webhooks::delete(&call.act, call.webhook()?).await
}

/// Sends a test delivery.
pub async fn test(call: Call) -> Result<Reply<webhooks::OneDelivery>> {
    webhooks::send_test(&call.act, call.webhook()?).await
}

/// Lists the deliveries of a webhook.
pub async fn list_deliveries(mut call: Call) -> Result<Reply<Listed<webhooks::DeliveryPage>>> {
    let DeliveriesQuery { limit, cursor } = call.query()?;
    let page = webhooks::DeliveryQuery { limit, cursor, workspace_id: None };
    webhooks::list_deliveries(&call.act, call.webhook()?, page).await
}

/// Delivers an event again.
pub async fn redeliver(call: Call) -> Result<Reply<webhooks::OneDelivery>> {
    webhooks::redeliver(&call.act, call.webhook()?, call.delivery()?).await
}

/// Delivers all failed events since a time again.
pub async fn redeliver_failed(mut call: Call) -> Result<Reply<webhooks::RedeliveredFailed>> {
    let asked = call.body()?;
    webhooks::redeliver_failed(&call.act, call.webhook()?, asked).await
}

/// Ends the earlier secrets of a webhook.
pub async fn end_earlier_secrets(call: Call) -> Result<Reply<webhooks::SecretsEnded>> {
    webhooks::end_earlier_secrets(&call.act, call.webhook()?).await
}

/// Gives a webhook a new secret.
pub async fn rotate_secret(call: Call) -> Result<Reply<webhooks::OneWebhookWithSecret>> {
    webhooks::rotate_secret(&call.act, call.webhook()?).await
}
