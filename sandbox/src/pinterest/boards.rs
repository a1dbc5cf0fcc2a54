//! Users and their boards. Every user has the same two.

use serde_json::{Value, json};

use super::{Cx, access, failure};
use crate::env::rfc3339;
use crate::metrics::MetricSubject;
use crate::reply::{HandlerResult, Reply};

/// Id, name and privacy of the boards.
pub(super) const BOARDS: [(&str, &str, &str); 2] =
    [("549755885175", "Everything", "PUBLIC"), ("549755885176", "Not yet", "SECRET")];

/// `GET /v5/user_account`
pub(super) fn user(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scopes(cx, &["user_accounts:read"])?;
    let pins = account.read(|state| state.pins.len());
    let identity = &account.identity;
    Ok(Reply::ok(&json!({
        "id": identity.remote_id,
        "username": identity.username,
        "account_type": "BUSINESS",
        "business_name": identity.username,
        "profile_image": cx.sim.picture(&identity.remote_id),
        "website_url": "",
        "board_count": BOARDS.len(),
        "pin_count": pins,
        "follower_count": account.metric_number(MetricSubject::Now, "followers"),
        "following_count": 0,
        "monthly_views": 0,
    })))
}

fn shown(cx: &Cx, (id, name, privacy): (&str, &str, &str)) -> Value {
    let owner = cx.account.as_ref().map(|account| account.identity.username.clone());
    let created = cx.account.as_ref().map(|account| rfc3339(account.identity.created_ms));
    json!({"id": id, "name": name, "privacy": privacy, "description": "", "owner": {"username": owner}, "created_at": created})
}

/// `GET /v5/boards`, in pages.
pub(super) fn list(cx: &Cx) -> HandlerResult {
    access::account_with_scopes(cx, &["boards:read"])?;
    let secret = access::account_with_scopes(cx, &["boards:read_secret"]).is_ok();
    let size: usize =
        cx.call.query_value("page_size").and_then(|size| size.parse().ok()).unwrap_or(25);
    if !(1..=250).contains(&size) {
        return Err(failure::invalid("page_size must be from 1 to 250"));
    }
    let start: usize = cx.call.query_value("bookmark").and_then(|at| at.parse().ok()).unwrap_or(0);
    let all: Vec<_> = BOARDS.into_iter().filter(|board| secret || board.2 == "PUBLIC").collect();
    let items: Vec<Value> =
        all.iter().skip(start).take(size).map(|board| shown(cx, *board)).collect();
    let next = (start + size < all.len()).then(|| (start + size).to_string());
    Ok(Reply::ok(&json!({"items": items, "bookmark": next})))
}

/// `GET /v5/boards/{id}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    access::account_with_scopes(cx, &["boards:read"])?;
    let board = find(cx.call.segment(2))?;
    Ok(Reply::ok(&shown(cx, board)))
}

/// Returns the board with this id.
pub(super) fn find(id: &str) -> Result<(&'static str, &'static str, &'static str), Reply> {
    let found = BOARDS.into_iter().find(|board| board.0 == id);
    found.ok_or_else(|| failure::error(404, 40, "Board not found."))
}
