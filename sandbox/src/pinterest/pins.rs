//! Creating, listing and deleting pins.

use std::sync::Arc;

use serde_json::{Value, json};

use super::state::{Change, Pin};
use super::{Cx, access, boards, failure, source};
use crate::env::utc;
use crate::rate_limit::Limit;
use crate::reply::{HandlerResult, Reply};

/// Longest texts in characters.
const LIMITS: [(&str, usize); 4] =
    [("title", 100), ("description", 800), ("alt_text", 500), ("link", 2_048)];
/// The fields that a new pin may have.
const FIELDS: [&str; 10] = [
    "board_id",
    "board_section_id",
    "title",
    "description",
    "link",
    "alt_text",
    "dominant_color",
    "media_source",
    "parent_pin_id",
    "sponsor_id",
];
/// The scopes of creating and deleting a pin.
const WRITE: [&str; 4] = ["boards:read", "boards:write", "pins:read", "pins:write"];
/// The limit on writes of one app and user per minute.
const WRITES: Limit = Limit { name: "org_write", units: 100, span_ms: 60_000 };

/// `POST /v5/pins`
pub(super) async fn create(cx: Arc<Cx>) -> HandlerResult {
    let account = access::account_with_scopes(&cx, &WRITE)?;
    let now_ms = cx.now_ms();
    let paced = cx.sim.env.rate_limits().then(|| account.take_units(WRITES, 1, now_ms));
    let limited = |reply: Reply| match paced {
        Some(paced) => reply
            .with("x-ratelimit-limit", WRITES.units)
            .with("x-ratelimit-remaining", paced.remaining)
            .with("x-ratelimit-reset", (paced.reset_ms - now_ms).max(0).div_euclid(1_000) + 1),
        None => reply,
    };
    if paced.is_some_and(|paced| !paced.allowed) {
        let message = "This request exceeded a rate limit. Please retry soon.";
        return Err(limited(failure::error(429, 8, message)));
    }
    let body = cx.call.json().map_err(|_| failure::invalid("the body is no JSON"))?;
    let mut fields = check(&body)?;
    let alt = body["alt_text"].as_str().map(str::to_owned);
    let media = source::read(&cx, &account, &body["media_source"], alt).await?;
    let kind = body["media_source"]["source_type"].clone();
    fields.insert("source_type".to_owned(), kind);
    let pin = Pin { id: super::id(&cx), at_ms: cx.now_ms(), media, fields };
    let made = view(&cx, &pin);
    cx.sim.apply(&account, Change::Pin(pin));
    Ok(limited(Reply::json(201, &made)))
}

fn check(body: &Value) -> Result<serde_json::Map<String, Value>, Reply> {
    let Value::Object(fields) = body else { return Err(failure::invalid("the body is no object")) };
    if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(failure::invalid(&format!("{unknown} is not allowed")));
    }
    for (name, max) in LIMITS {
        let length = match &fields.get(name) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => text.chars().count(),
            Some(_) => return Err(failure::invalid(&format!("{name} must be a string"))),
        };
        if length > max {
            return Err(failure::invalid(&format!("{name} is longer than {max} characters")));
        }
    }
    let link = body["link"].as_str();
    if link.is_some_and(|link| !link.is_empty() && !link.starts_with("http")) {
        return Err(failure::invalid("link is no URL"));
    }
    boards::find(body["board_id"].as_str().unwrap_or_default())?;
    let mut kept = fields.clone();
    kept.remove("media_source");
    Ok(kept)
}

fn view(cx: &Cx, pin: &Pin) -> Value {
    let kind = match pin.fields.get("source_type").and_then(Value::as_str) {
        Some("video_id") => "video",
        Some("multiple_image_urls") => "multiple_images",
        _ => "image",
    };
    let owner = cx.account.as_ref().map(|account| account.identity.username.clone());
    let mut view = json!({
        "id": pin.id.to_string(),
        "created_at": utc(pin.at_ms).format("%Y-%m-%dT%H:%M:%S").to_string(),
        "board_owner": {"username": owner},
        "media": {"media_type": kind},
        "creative_type": "REGULAR",
        "is_standard": true,
    });
    for name in [
        "board_id",
        "board_section_id",
        "title",
        "description",
        "link",
        "alt_text",
        "dominant_color",
    ] {
        view[name] = pin.fields.get(name).cloned().unwrap_or_default();
    }
    view
}

/// `GET /v5/pins` and `GET /v5/boards/{id}/pins`: the latest first.
pub(super) fn list(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scopes(cx, &["boards:read", "pins:read"])?;
    let board = match cx.call.segments().as_slice() {
        ["v5", "boards", id, "pins"] => Some(boards::find(id)?.0),
        _ => None,
    };
    let query = |name: &str| cx.call.query_value(name);
    let size: usize = query("page_size").and_then(|size| size.parse().ok()).unwrap_or(25);
    let before: u64 = query("bookmark").and_then(|at| at.parse().ok()).unwrap_or(u64::MAX);
    let fits = |pin: &&Pin| {
        pin.id < before
            && board.is_none_or(|board| pin.fields.get("board_id") == Some(&json!(board)))
    };
    let (items, more) = account.read(|state| {
        let mut fitting = state.pins.values().rev().filter(fits);
        let items: Vec<Value> =
            fitting.by_ref().take(size.clamp(1, 250)).map(|pin| view(cx, pin)).collect();
        (items, fitting.next().is_some())
    });
    let next = items.last().filter(|_| more).map(|last| last["id"].clone());
    Ok(Reply::ok(&json!({"items": items, "bookmark": next})))
}

/// `GET /v5/pins/{id}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scopes(cx, &["boards:read", "pins:read"])?;
    let id: Option<u64> = cx.call.segment(2).parse().ok();
    let found = account.read(|state| state.pins.get(&id?).map(|pin| view(cx, pin)));
    found.map(|pin| Reply::ok(&pin)).ok_or_else(missing)
}

fn missing() -> Reply {
    failure::error(404, 50, "Pin not found.")
}

/// `DELETE /v5/pins/{id}`
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scopes(cx, &WRITE)?;
    cx.sim.change(&account, |state| {
        let id = cx.call.segment(2).parse().ok().filter(|id| state.pins.contains_key(id));
        Ok((Change::Deleted { id: id.ok_or_else(missing)? }, ()))
    })?;
    Ok(Reply::empty(204))
}

/// `GET /pin/{id}`: the pin as people see it.
pub(super) fn page(cx: &Cx) -> HandlerResult {
    let id: u64 = cx.call.segment(1).parse().map_err(|_| missing())?;
    let all = cx.sim.all();
    let owner = all.iter().find(|account| account.read(|state| state.pins.contains_key(&id)));
    let owner = &owner.ok_or_else(missing)?.identity.remote_id;
    Ok(Reply::empty(302).with("location", format!("{}/ui/{owner}/{id}", cx.sim.pages())))
}
