//! The names of OAuth tokens among an account's secrets, and functions that read them.

use chrono::{DateTime, Utc};

use super::{Oauth, Permission};
use crate::Secrets;

/// The token that authorizes calls.
pub const ACCESS_TOKEN: &str = "access_token";

/// The token for getting fresh ones.
pub const REFRESH_TOKEN: &str = "refresh_token";

/// The address of the account's own server.
pub const INSTANCE: &str = "instance_url";

/// When the access token expires, RFC 3339.
pub(super) const EXPIRES_AT: &str = "expires_at";

/// When the refresh token expires, RFC 3339.
pub(super) const REFRESH_EXPIRES_AT: &str = "refresh_expires_at";

/// The granted permissions, as the network lists them.
pub(super) const SCOPE: &str = "scope";

/// Id of an app that was registered with the account's own server.
pub const CLIENT_ID: &str = "client_id";

/// Secret of that app.
pub const CLIENT_SECRET: &str = "client_secret";

/// Returns when the access token expires, if known.
#[must_use]
pub fn access_token_expiry(secrets: &Secrets) -> Option<DateTime<Utc>> {
    time(secrets, EXPIRES_AT)
}

/// Returns when the refresh token expires, if known.
#[must_use]
pub fn refresh_token_expiry(secrets: &Secrets) -> Option<DateTime<Utc>> {
    time(secrets, REFRESH_EXPIRES_AT)
}

fn time(secrets: &Secrets, name: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(secrets.expose(name)).ok().map(|end| end.to_utc())
}

/// Returns the permissions that were granted, as the network lists them; empty if it does not.
#[must_use]
pub fn granted_permissions(secrets: &Secrets) -> Vec<&str> {
    secrets.expose(SCOPE).split([' ', ',']).filter(|name| !name.is_empty()).collect()
}

/// Returns the required permissions that the user declined, if the network lists the granted ones.
#[must_use]
pub fn missing_permissions(oauth: &Oauth, secrets: &Secrets) -> Vec<&'static Permission> {
    let granted = granted_permissions(secrets);
    let needed = oauth.permissions().filter(|permission| permission.required);
    needed.filter(|permission| !granted.is_empty() && !granted.contains(&permission.name)).collect()
}
