//! Signups as replies show them.

use fanfare_core::{Domain, access::PlanTier, clock::Time};
use fanfare_entities::{signup, signup::SignupStatus};
use schemars::JsonSchema;
use serde::Serialize;

use super::{app::authorize_path, page};

/// A signup, as the caller who started it sees it. It never shows a key, nor whether the user existed before.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StartedSignup {
    session_id: String,
    status: SignupStatus,
    /// The progress and the next step, as a sentence.
    pub status_message: &'static str,
    /// The address to send the user to.
    pub checkout_redirect_url: String,
    /// The address of the checkout, once it is known.
    checkout_url: Option<String>,
    /// The address to poll.
    poll_url: String,
    dashboard_url: String,
    /// The address at which the user logs in.
    pub login_url: String,
    /// The address at which the user grants access to the app that started it; null if no app did.
    pub authorize_url: Option<String>,
    expires_at: Time,
}

/// A signup, as a poll shows it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SignupSession {
    #[serde(flatten)]
    started: StartedSignup,
    /// The masked e-mail address, which only its owner can recognise.
    email: String,
    /// The plan.
    tier: PlanTier,
    api_addon: bool,
    created_at: Time,
}

/// One signup.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneSignup {
    signup_session: SignupSession,
}

impl StartedSignup {
    /// The record of a row.
    #[must_use]
    pub fn of(cx: &Domain, session_id: &str, row: &signup::Model) -> Self {
        let base = &cx.settings.base_url;
        Self {
            session_id: session_id.to_owned(),
            status: row.status,
            status_message: message(row),
            checkout_redirect_url: page(cx, session_id),
            checkout_url: row.checkout_url.clone(),
            poll_url: format!("{base}/api/v1/signup/sessions/{session_id}"),
            dashboard_url: format!("{base}/dashboard/api"),
            login_url: format!("{base}/login"),
            authorize_url: authorize_path(row).map(|path| format!("{base}{path}")),
            expires_at: Time(row.expires_at),
        }
    }
}

impl OneSignup {
    /// The record of a row.
    #[must_use]
    pub fn of(cx: &Domain, session_id: &str, row: &signup::Model) -> Self {
        let signup_session = SignupSession {
            started: StartedSignup::of(cx, session_id, row),
            email: masked(&row.email),
            tier: row.plan_tier,
            api_addon: row.api_addon,
            created_at: Time(row.created_at),
        };
        Self { signup_session }
    }
}

/// Returns the progress and the next step, as a sentence.
fn message(row: &signup::Model) -> &'static str {
    match row.status {
        SignupStatus::Created => "Open the checkout link to pay.",
        SignupStatus::CheckoutOpened => "The checkout is open; pay there to go on.",
        SignupStatus::PaymentProcessing => "The payment is on its way; this takes a moment.",
        SignupStatus::Paid => {
            "The payment went through. An e-mail with a link to set a password is on its way."
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

/// Returns a masked e-mail address, which only its owner can recognise.
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
