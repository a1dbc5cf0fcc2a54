//! The webhook itself, and its authorization.

use std::sync::Arc;

use serde_json::json;

use super::form_errors::FormErrors;
use super::{Cx, Discord, below_api, failure};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// Returns the webhook that the path names with its token.
pub(super) fn caller(cx: &Cx) -> Result<Arc<Account<Discord>>, Reply> {
    let segments = cx.call.segments();
    let path = below_api(&segments).unwrap_or_default();
    let (id, token) =
        (path.get(1).copied().unwrap_or_default(), path.get(2).copied().unwrap_or_default());
    let Some(account) = cx.account.clone() else {
        if id.parse::<u64>().is_err() {
            let mut flaws = FormErrors::default();
            flaws.add(
                "webhook_id",
                "NUMBER_TYPE_COERCE",
                &format!("Value \"{id}\" is not snowflake."),
            );
            flaws.refuse()?;
        }
        return Err(failure(404, 10015, "Unknown Webhook"));
    };
    if token != account.identity.private("token") || account.read(|state| state.revoked) {
        return Err(failure(401, 50027, "Invalid Webhook Token"));
    }
    Ok(account)
}

/// `GET /webhooks/{id}/{token}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let account = caller(cx)?;
    let identity = &account.identity;
    let token = identity.private("token");
    Ok(Reply::ok(&json!({
        "application_id": null,
        "avatar": null,
        "channel_id": identity.private("channel_id"),
        "guild_id": identity.private("guild_id"),
        "id": identity.remote_id,
        "name": identity.username,
        "type": 1,
        "token": token,
        "url": format!("{}/api/webhooks/{}/{token}", cx.sim.base(), identity.remote_id),
    })))
}
