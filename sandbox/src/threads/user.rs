//! The user itself.

use serde_json::json;

use super::{Cx, access, media};
use crate::reply::{HandlerResult, Reply};

/// `GET /me` and `GET /{user}`
pub(super) fn me(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let identity = &account.identity;
    let whole = json!({
        "id": identity.remote_id,
        "username": identity.username,
        "name": identity.username.replace(['.', '_'], " "),
        "threads_profile_picture_url": cx.sim.picture(&identity.remote_id),
        "threads_biography": "",
        "is_verified": false,
        "is_eligible_for_geo_gating": false,
    });
    Ok(Reply::ok(&media::pick(&cx.call, &whole, "ThreadsUser")?))
}
