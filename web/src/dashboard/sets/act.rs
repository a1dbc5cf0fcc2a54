//! Actions on a set; each runs an operation of the API.

use fanfare_core::{Code, Error, Result};
use fanfare_entities::PostSetId;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::{after, alike, entry::address, wrong};
use crate::{
    dashboard::{
        operation,
        page_member::PageMember,
        parts::{self, ticked},
    },
    oauth_connect::{PageResponse, Visit},
};

/// Runs the action in the path.
pub async fn act(visit: Visit) -> Result<PageResponse> {
    let id = super::id(&visit)?;
    let seat = PageMember::of_post_set(&visit, id).await?;
    let done = match visit.path("verb") {
        "pause" => status(&visit, id, json!({"status": "paused"})).await,
        "draft" => status(&visit, id, json!({"status": "draft"})).await,
        "schedule" => {
            let risk = visit.form("acknowledge_duplicate_risk").is_some();
            let mut change = json!({"status": "scheduled", "acknowledge_duplicate_risk": risk});
            put_time(&visit, seat.zone(), &mut change);
            status(&visit, id, change).await
        }
        "text" => change(&visit, id, json!({"caption": text(&visit)})).await,
        "move" => {
            let at = visit.form("scheduled_at").unwrap_or_default();
            change(&visit, id, json!({"scheduled_at": at, "timezone": seat.zone()})).await
        }
        "retry" => retry(&visit, id).await,
        "add" => add(&visit, &seat, id).await,
        "delete" => {
            let version = visit.form("version");
            run(&visit, "delete_post_set", json!({"id": id, "if_match": version})).await
        }
        _ => return Err(Error::new(Code::NotFound, "There is no such step.")),
    };
    match done {
        Ok(reply) => answer(&visit, id, &reply).await,
        Err(error) if (400..500).contains(&error.status()) => wrong(&visit, error).await,
        Err(error) => Err(error),
    }
}

/// Moves the time that a set's targets have in common.
///
/// # Errors
/// The operation's.
pub async fn move_to(visit: &Visit, id: PostSetId, (at, zone): (&str, &str)) -> Result<Value> {
    let change = json!({"id": id, "scheduled_at": at, "timezone": zone});
    operation::run(visit, "update_post_set", change).await
}

/// Leads on after a step: to the set, or to the posts if nothing of it is left. What a step left alone is said at once.
async fn answer(visit: &Visit, id: PostSetId, reply: &Value) -> Result<PageResponse> {
    let list = |name: &str| reply[name].as_array().map_or(0, Vec::len);
    match visit.path("verb") {
        "delete" if list("kept") == 0 => Ok(PageResponse::Redirect("/dashboard/posts".to_owned())),
        "retry" if list("skipped") > 0 => after(visit, &skipped(reply)).await,
        "add" => {
            let warnings = reply["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
            let alike = alike::ids(warnings);
            let page = address(id);
            let place = if alike.is_empty() { page } else { format!("{page}?alike={alike}") };
            Ok(PageResponse::Redirect(place))
        }
        _ => Ok(PageResponse::Redirect(address(id))),
    }
}

/// Says which failed posts were not sent again.
fn skipped(reply: &Value) -> Markup {
    let all = reply["skipped"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_risk = |one: &&Value| one["code"] == "duplicate_risk";
    let risks = all.iter().filter(is_risk).count();
    let others = all.len() - risks;
    html! {
        div.flash.warn role="status" {
            @if risks > 0 {
                p { "Not sent again, because it may be public already: " (risks) ". Look at the account; tick the box under “Retry what failed” if it is not there." }
            }
            @if others > 0 { p { "Not sent again for another reason: " (others) ". The post's own page says more." } }
        }
    }
}

fn text(visit: &Visit) -> Option<String> {
    let text = visit.form.iter().find(|(name, _)| name == "caption");
    text.map(|(_, text)| text.replace("\r\n", "\n"))
}

fn put_time(visit: &Visit, zone: &str, body: &mut Value) {
    if let Some(at) = visit.form("scheduled_at") {
        body["scheduled_at"] = at.into();
        body["timezone"] = zone.into();
    }
}

async fn run(visit: &Visit, operation: &str, mut body: Value) -> Result<Value> {
    body["idempotency_key"] = json!(format!("set-{}", parts::once_key(visit)));
    operation::run(visit, operation, body).await
}

async fn status(visit: &Visit, id: PostSetId, mut change: Value) -> Result<Value> {
    change["id"] = json!(id);
    run(visit, "update_post_set_status", change).await
}

/// Changes the set if it is still at the version that the form was made from.
async fn change(visit: &Visit, id: PostSetId, mut changes: Value) -> Result<Value> {
    changes["id"] = json!(id);
    changes["if_match"] = json!(visit.form("version"));
    run(visit, "update_post_set", changes).await
}

async fn retry(visit: &Visit, id: PostSetId) -> Result<Value> {
    let risk = visit.form("acknowledge_duplicate_risk").is_some();
    run(visit, "retry_post_set", json!({"id": id, "acknowledge_duplicate_risk": risk})).await
}

async fn add(visit: &Visit, seat: &PageMember, id: PostSetId) -> Result<Value> {
    let own = text(visit).filter(|text| !text.trim().is_empty());
    let targets = ticked(visit, "account_id").into_iter().map(|account| {
        let mut target = json!({"account_id": account});
        if let Some(text) = &own {
            target["caption"] = json!(text);
        }
        put_time(visit, seat.zone(), &mut target);
        target
    });
    let targets: Vec<Value> = targets.collect();
    if targets.is_empty() {
        let message = "No account is chosen.";
        return Err(Error::field(
            Code::FieldRequired,
            "account_id",
            message,
            "Choose at least one.",
        ));
    }
    run(visit, "add_post_set_targets", json!({"id": id, "targets": targets})).await
}
