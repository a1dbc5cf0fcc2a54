//! Stripe's customer portal: cards, invoices and tax data. Plans are changed on our pages alone.

use fanfare_core::{
    Domain,
    error::{Error, Result},
};
use fanfare_entities::UserId;
use fanfare_payments::{List, Request};
use serde::Deserialize;
use serde_json::Value;

use super::no_subscription;
use crate::billing::{list, stripe_error, subscriptions};

/// The metadata key that marks our configuration of the portal.
const MARK: &str = "metadata[fanfare]";

/// A configuration of the portal.
#[derive(Deserialize)]
struct Configuration {
    id: String,
    #[serde(default)]
    metadata: Value,
}

/// Creates a session of the portal and returns its address.
///
/// # Errors
/// [`fanfare_core::Code::NoSubscription`], or Stripe's.
pub async fn portal(cx: &Domain, person: UserId) -> Result<String> {
    let latest = subscriptions::latest(&cx.db.read, person).await?.ok_or_else(no_subscription)?;
    let stripe = &crate::settings(cx).require_billing()?.stripe;
    // It changes no stored data, so it needs no row.
    let open = Request::post("billing_portal/sessions")
        .with("customer", latest.customer_id)
        .with("configuration", configure(cx).await?)
        .with("return_url", format!("{}/dashboard/billing", cx.settings.base_url));
    let opened: Value = stripe.send(&open, None).await.map_err(|failure| stripe_error(&failure))?;
    let url = opened["url"].as_str().map(str::to_owned);
    url.ok_or_else(|| Error::internal("a session of the portal has no address"))
}

/// Returns the id of our configuration of the portal; creates it if there is none. Without one Stripe's default decides
/// what people may do there, such as ending a subscription behind our back.
///
/// # Errors
/// Stripe's.
pub(in crate::billing) async fn configure(cx: &Domain) -> Result<String> {
    let asked =
        Request::get("billing_portal/configurations").with("active", "true").with("limit", "100");
    let known: List<Configuration> = list(cx, &asked).await?;
    let ours = known.data.into_iter().find(|one| one.metadata["fanfare"] == "portal");
    if let Some(ours) = ours {
        return Ok(ours.id);
    }
    let create = Request::post("billing_portal/configurations")
        .with(MARK, "portal")
        .with("features[payment_method_update][enabled]", "true")
        .with("features[invoice_history][enabled]", "true")
        .with("features[customer_update][enabled]", "true")
        .with("features[customer_update][allowed_updates][0]", "address")
        .with("features[customer_update][allowed_updates][1]", "name")
        .with("features[customer_update][allowed_updates][2]", "tax_id")
        .with("features[subscription_cancel][enabled]", "false")
        .with("features[subscription_update][enabled]", "false");
    let stripe = &crate::settings(cx).require_billing()?.stripe;
    let made: Configuration =
        stripe.send(&create, None).await.map_err(|failure| stripe_error(&failure))?;
    Ok(made.id)
}
