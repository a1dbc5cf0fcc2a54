//! Consent and tokens of a bot. They do not end, for this workspace's app does not rotate them.

use serde_json::json;

use super::{Cx, access};
use crate::consent;
use crate::params::Params;
use crate::reply::{Answer, Reply};

fn refused(why: &str) -> Reply {
    access::detailed("invalid_arguments", why)
}

/// `GET /oauth/v2/authorize`
pub(super) fn authorize(cx: &Cx) -> Answer {
    consent::authorize(cx, refused)
}

/// `oauth.v2.access`
pub(super) fn token(cx: &Cx) -> Answer {
    let params = Params::read(&cx.call).map_err(|_| access::failure("invalid_form_data"))?;
    let account = consent::redeem(cx, &params).ok_or_else(|| access::failure("invalid_code"))?;
    cx.sim.expire(&account, false);
    let identity = &account.identity;
    Ok(access::success(json!({
        "access_token": identity.private("access_token"),
        "token_type": "bot",
        "scope": "chat:write,chat:write.public,channels:read,groups:read,channels:join,channels:history,groups:history,files:write,users:read",
        "bot_user_id": identity.private("bot_user_id"),
        "app_id": "A0FANFARE01",
        "team": {"id": identity.private("team_id"), "name": format!("The {} team", identity.username)},
        "enterprise": null,
        "is_enterprise_install": false,
    })))
}
