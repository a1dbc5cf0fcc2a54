//! The names under which tokens are kept among an account's secrets, and what can be told from them.

use chrono::{DateTime, Utc};

use super::{Oauth, Permission};
use crate::Secrets;

/// The token that calls carry.
pub const ACCESS_TOKEN: &str = "access_token";

/// The token that is exchanged for fresh ones.
pub const REFRESH_TOKEN: &str = "refresh_token";

/// The address of the account's own server.
pub const INSTANCE: &str = "instance_url";

/// The time at which the access token ends, RFC 3339.
pub(super) const EXPIRES_AT: &str = "expires_at";

/// The time at which the refresh token ends, RFC 3339.
pub(super) const REFRESH_EXPIRES_AT: &str = "refresh_expires_at";

/// The granted permissions, as the network lists them.
pub(super) const SCOPE: &str = "scope";

/// Id of an app that was registered with the account's own server.
pub const CLIENT_ID: &str = "client_id";

/// Secret of that app.
pub const CLIENT_SECRET: &str = "client_secret";

/// Returns the time at which the access token ends, if that is known.
#[must_use]
pub fn ends(secrets: &Secrets) -> Option<DateTime<Utc>> {
    time(secrets, EXPIRES_AT)
}

/// Returns the time at which the refresh token ends, if that is known.
#[must_use]
pub fn refresh_ends(secrets: &Secrets) -> Option<DateTime<Utc>> {
    time(secrets, REFRESH_EXPIRES_AT)
}

fn time(secrets: &Secrets, name: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(secrets.expose(name)).ok().map(|end| end.to_utc())
}

/// Returns the permissions that are needed and were kept back, as far as the network tells what it granted.
#[must_use]
pub fn missing(oauth: &Oauth, secrets: &Secrets) -> Vec<&'static Permission> {
    let granted = secrets.expose(SCOPE);
    let is_granted =
        |permission: &&Permission| granted.split([' ', ',']).any(|name| name == permission.name);
    let needed = oauth.permissions.iter().filter(|permission| permission.needed);
    needed.filter(|permission| !granted.is_empty() && !is_granted(permission)).collect()
}
