//! People and what they pay: users and workspaces, keys, log-in, OAuth for tools, e-mails, plans, subscriptions, credits.

pub mod billing;
pub mod credits;
pub mod invitations;
pub mod keys;
pub mod mail;
pub mod oauth_provider;
pub mod preferences;
pub mod quota;
pub mod room;
pub mod sign_in;
pub mod signup;
pub mod team;
pub mod users;

use fanfare_core::Domain;
use fanfare_entities::Millis;
use fanfare_mail::Mailer;

/// The operator's settings for people and payments.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The payment provider, if there is one.
    pub billing: Option<billing::Billing>,
    /// The plans that are sold.
    pub plans: billing::Plans,
    /// True if anybody may sign up.
    pub signup_open: bool,
    /// The grace time in which a used refresh token still returns a new pair, in ms, as long as the pair it returned
    /// before was not used.
    pub oauth_grace: Millis,
    /// The age of a log-in, in ms, after which the password is asked for again before a sensitive change.
    pub reauth: Millis,
    /// Sends e-mails. Without it they are shown at `/dev/mail`, if the service runs on loopback.
    pub mailer: Option<Mailer>,
}

/// Returns the operator's settings for people and payments.
#[must_use]
pub fn settings(cx: &Domain) -> &Settings {
    cx.feature()
}
