//! The caller of a request, and the error responses.

use std::sync::Arc;

use serde_json::json;

use super::{Cx, Devto};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// Returns an error in Forem's format.
pub(super) fn failure(status: u16, error: &str) -> Reply {
    Reply::json(status, &json!({"error": error, "status": status}))
}

/// Returns the error for too many articles in a short time.
pub(super) fn too_many(seconds: u64) -> Reply {
    let said = format!("Rate limit reached, try again in {seconds} seconds");
    failure(429, &said).with("retry-after", seconds)
}

/// Returns the account of the request's key.
pub(super) fn account(cx: &Cx) -> Result<Arc<Account<Devto>>, Reply> {
    let account = cx.account.clone().filter(|account| !account.read(|state| state.revoked));
    account.ok_or_else(|| failure(401, "unauthorized"))
}

/// `GET /users/me`
pub(super) fn me(cx: &Cx) -> HandlerResult {
    let identity = &account(cx)?.identity;
    Ok(Reply::ok(&json!({
        "type_of": "user",
        "id": identity.remote_id.parse::<u64>().unwrap_or_default(),
        "username": identity.username,
        "name": identity.username.replace('_', " "),
        "summary": null,
        "twitter_username": null,
        "github_username": null,
        "website_url": null,
        "location": null,
        "joined_at": crate::env::utc(identity.created_ms).format("%b %-d, %Y").to_string(),
        "profile_image": cx.sim.picture(&identity.remote_id),
    })))
}
