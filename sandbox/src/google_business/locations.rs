//! Accounts and their locations. Every user has one account with the same two.

use serde_json::{Value, json};

use super::{Cx, access, failure};
use crate::behaviour::Visibility;
use crate::network::Identity;
use crate::reply::{HandlerResult, Reply};

/// The locations: the private name of the number, the suffix of the title, and the street.
pub(super) const LOCATIONS: [(&str, &str, &str); 2] =
    [("main", "Main Street", "1 Main Street"), ("harbour", "Harbour", "20 Harbour Road")];

/// Returns the name of the account, with which its locations' names begin.
pub(super) fn account(identity: &Identity) -> String {
    format!("accounts/{}", identity.remote_id)
}

/// Returns the full name of a location.
pub(super) fn location(identity: &Identity, which: &str) -> String {
    format!("{}/locations/{}", account(identity), identity.private(which))
}

/// `GET /v1/accounts`
pub(super) fn accounts(cx: &Cx) -> HandlerResult {
    let account_of = access::account_with_scope(cx)?;
    let identity = &account_of.identity;
    let shown = json!({
        "name": account(identity),
        "accountName": identity.username,
        "type": "PERSONAL",
        "verificationState": "UNVERIFIED",
        "vettedState": "NOT_VETTED",
    });
    Ok(Reply::ok(&json!({"accounts": [shown]})))
}

/// `GET /v1/accounts/{a}/locations?readMask=…`, in pages.
pub(super) fn locations(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx)?;
    if cx.call.segment(2) != account.identity.remote_id {
        return Err(failure::denied());
    }
    let query = |name: &str| cx.call.query_value(name);
    let mask = query("readMask").unwrap_or_default();
    if mask.is_empty() {
        return Err(failure::invalid("read_mask", "The read mask is required."));
    }
    let size: usize = query("pageSize").and_then(|size| size.parse().ok()).unwrap_or(10);
    let start: usize = query("pageToken").and_then(|at| at.parse().ok()).unwrap_or(0);
    let all = LOCATIONS.iter().skip(start).take(size.clamp(1, 100));
    let is_verified = account.behaviour().visibility == Visibility::All;
    let mut shown: Vec<Value> = all.map(|one| show(cx, &account.identity, one, &mask)).collect();
    // Nobody finds the posts of a place that is not verified.
    for metadata in shown.iter_mut().filter_map(|one| one.get_mut("metadata")) {
        metadata["hasVoiceOfMerchant"] = json!(is_verified);
    }
    let mut body = json!({ "locations": shown });
    if start + shown.len() < LOCATIONS.len() {
        body["nextPageToken"] = json!((start + shown.len()).to_string());
    }
    Ok(Reply::ok(&body))
}

fn show(
    cx: &Cx,
    identity: &Identity,
    (which, title, street): &(&str, &str, &str),
    mask: &str,
) -> Value {
    let id = identity.private(which);
    let whole = json!({
        "name": format!("locations/{id}"),
        "title": format!("{}, {title}", identity.username),
        "storefrontAddress": {
            "regionCode": "US", "languageCode": "en", "locality": "Springfield", "addressLines": [street],
        },
        "metadata": {
            "canOperateLocalPost": true,
            "hasVoiceOfMerchant": true,
            "placeId": format!("ChIJ{id}"),
            "mapsUri": format!("{}/maps/{id}", cx.sim.base()),
            "newReviewUri": format!("{}/review/{id}", cx.sim.base()),
        },
    });
    let mut shown = json!({});
    for name in mask.split(',') {
        if let Some(value) = whole.get(name.trim()) {
            shown[name.trim()] = value.clone();
        }
    }
    shown
}

/// Returns the name and private name of the location in a path like `v1/locations/{l}`.
fn named(
    cx: &Cx,
) -> Result<(&'static (&'static str, &'static str, &'static str), Identity), Reply> {
    let account = access::account_with_scope(cx)?;
    let id = cx.call.segment(2);
    let found = LOCATIONS.iter().find(|(which, ..)| account.identity.private(which) == id);
    Ok((found.ok_or_else(failure::missing)?, account.identity.clone()))
}

/// `GET /v1/locations/{l}?readMask=…`
pub(super) fn location_record(cx: &Cx) -> HandlerResult {
    let (which, identity) = named(cx)?;
    let mask = cx.call.query_value("readMask").unwrap_or_default();
    if mask.is_empty() {
        return Err(failure::invalid("read_mask", "The read mask is required."));
    }
    let mut shown = show(cx, &identity, which, &mask);
    let more = json!({
        "phoneNumbers": {"primaryPhone": "+1 555 0100"},
        "categories": {"primaryCategory": {"displayName": "Stationery store"}},
        "websiteUri": "https://example.org",
        "regularHours": {"periods": [
            {"openDay": "MONDAY", "openTime": {"hours": 9}, "closeDay": "MONDAY", "closeTime": {"hours": 18}},
        ]},
        "profile": {"description": "Paper, folded and flat."},
    });
    for name in mask.split(',') {
        if let Some(value) = more.get(name.trim()) {
            shown[name.trim()] = value.clone();
        }
    }
    Ok(Reply::ok(&shown))
}

/// `GET /v1/locations/{l}/VoiceOfMerchantState`
pub(super) fn voice(cx: &Cx) -> HandlerResult {
    named(cx)?;
    Ok(Reply::ok(&json!({"hasVoiceOfMerchant": true, "hasBusinessAuthority": true})))
}
