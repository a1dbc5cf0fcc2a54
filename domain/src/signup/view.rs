//! A signup as it is shown.

use fanfare_entities::{signup, signup::SignupStatus};
use sea_orm::ActiveEnum;
use serde_json::{Value, json};

use super::page;
use crate::{Domain, access::plan_name, clock::show};

/// Returns what whoever has the id may see. Never a key, nor whether the person was known.
#[must_use]
pub fn view(cx: &Domain, session_id: &str, row: &signup::Model) -> Value {
    let base = &cx.settings.base_url;
    json!({
        "session_id": session_id,
        "status": row.status.to_value(),
        "status_message": message(row),
        "checkout_redirect_url": page(cx, session_id),
        "checkout_url": row.checkout_url,
        "poll_url": format!("{base}/api/v1/signup/sessions/{session_id}"),
        "dashboard_url": format!("{base}/dashboard/api"),
        "login_url": format!("{base}/login"),
        "authorize_url": null,
        "expires_at": show(row.expires_at),
        "email": masked(&row.email),
        "tier": plan_name(row.plan_tier),
        "api_addon": row.api_addon,
        "created_at": show(row.created_at),
    })
}

/// Says how far it is, and what comes next.
fn message(row: &signup::Model) -> &'static str {
    match row.status {
        SignupStatus::Created => "Open the checkout link to pay.",
        SignupStatus::CheckoutOpened => "The checkout is open; pay there to go on.",
        SignupStatus::PaymentProcessing => "The payment is on its way; this takes a moment.",
        SignupStatus::Paid => {
            "The payment went through. A letter with a link to set a password is on its way."
        }
        SignupStatus::Ready => "The payment went through. Log in to get an API key.",
        SignupStatus::Completed if row.is_duplicate => {
            "This address had a live subscription, so the new one was cancelled and the payment refunded. Log in as before."
        }
        SignupStatus::Completed => "Everything is set up.",
        SignupStatus::Failed => "The payment failed. Sign up again to try another way to pay.",
        SignupStatus::Expired => "Nobody paid within 24 hours. Sign up again.",
        SignupStatus::Cancelled => {
            "The checkout was cancelled and nothing was charged. Sign up again to go on."
        }
    }
}

/// Returns an address of which only its owner can tell that it is theirs.
#[must_use]
pub fn masked(email: &str) -> String {
    let (name, host) = email.split_once('@').unwrap_or((email, ""));
    let first = name.chars().next().map(String::from).unwrap_or_default();
    format!("{first}•••@{host}")
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn an_address_keeps_its_first_letter_and_its_host() {
        assert_eq!(masked("ada@example.com"), "a•••@example.com");
        assert_eq!(masked("ä@example.com"), "ä•••@example.com");
    }
}
