//! Customers, their cards, and sessions of the billing portal.

use serde_json::{Value, json};

use super::{
    error::{StripeError, StripeResult},
    form::Form,
    objects::Objects,
};

pub(super) fn create(books: &mut Objects, form: &Form) -> StripeResult<String> {
    form.require_known(&["email", "name", "metadata.*"])?;
    let metadata = form.texts_by_name("metadata");
    Ok(make(books, form.text("email"), form.text("name"), metadata.into()))
}

/// Creates a customer and emits an event.
pub(super) fn make(
    books: &mut Objects,
    email: Option<&str>,
    name: Option<&str>,
    metadata: Value,
) -> String {
    let id = books.add(
        "cus",
        "customer",
        json!({
            "email": email, "name": name, "metadata": metadata, "balance": 0, "delinquent": false,
            "invoice_settings": {"default_payment_method": null}, "_declines": false,
        }),
    );
    books.emit("customer.created", &id);
    id
}

pub(super) fn update(books: &mut Objects, id: &str, form: &Form) -> StripeResult<String> {
    form.require_known(&["email", "name", "metadata.*"])?;
    books.find("customer", id, "id")?;
    for name in ["email", "name"] {
        if let Some(text) = form.text(name) {
            books.set(id, json!({ name: text }));
        }
    }
    Ok(id.to_owned())
}

/// Returns true if this customer's card is declined.
pub(super) fn declines(books: &Objects, id: &str) -> bool {
    books.get("customer", id).is_some_and(|customer| customer["_declines"] == true)
}

/// `POST /v1/billing_portal/configurations`.
pub(super) fn configure_portal(books: &mut Objects, form: &Form) -> StripeResult<String> {
    form.require_known(&[
        "business_profile.headline",
        "business_profile.privacy_policy_url",
        "business_profile.terms_of_service_url",
        "default_return_url",
        "features.customer_update.enabled",
        "features.customer_update.allowed_updates.",
        "features.invoice_history.enabled",
        "features.payment_method_update.enabled",
        "features.subscription_cancel.enabled",
        "features.subscription_update.enabled",
        "metadata.*",
        "name",
    ])?;
    let mut features = serde_json::Map::new();
    for name in [
        "customer_update",
        "invoice_history",
        "payment_method_update",
        "subscription_cancel",
        "subscription_update",
    ] {
        let enabled = form.flag(&format!("features.{name}.enabled"))?.unwrap_or(false);
        features.insert(name.to_owned(), json!({ "enabled": enabled }));
    }
    if features.values().all(|feature| feature["enabled"] == false) {
        return Err(StripeError::invalid("At least one feature must be enabled.").about("features"));
    }
    let allowed = form.texts("features.customer_update.allowed_updates");
    features["customer_update"]["allowed_updates"] = json!(allowed);
    Ok(books.add(
        "bpc",
        "billing_portal.configuration",
        json!({
            "active": true, "is_default": false, "features": features, "name": form.text("name"),
            "metadata": form.texts_by_name("metadata"), "default_return_url": form.text("default_return_url"),
        }),
    ))
}

pub(super) fn open_portal(books: &mut Objects, form: &Form, pages: &str) -> StripeResult<String> {
    form.require_known(&["customer", "return_url", "configuration", "locale", "flow_data.*"])?;
    let customer = form.required("customer")?.to_owned();
    books.find("customer", &customer, "customer")?;
    let configuration = form.text("configuration").map(str::to_owned);
    if let Some(id) = &configuration {
        books.find("billing_portal.configuration", id, "configuration")?;
    }
    let back = form.text("return_url").map(str::to_owned);
    if back.as_ref().is_some_and(|back| url::Url::parse(back).is_err()) {
        return Err(StripeError::invalid("Not a valid URL")
            .with_code("url_invalid")
            .about("return_url"));
    }
    let id = books.add(
        "bps",
        "billing_portal.session",
        json!({"customer": customer, "return_url": back, "locale": null, "configuration": configuration}),
    );
    books.set(&id, json!({"url": format!("{pages}/stripe/portal/{id}")}));
    Ok(id)
}
