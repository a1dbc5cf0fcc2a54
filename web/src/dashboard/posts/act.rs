//! Actions on a post; each runs an operation of the API.

use chrono::NaiveDate;
use fanfare_core::{Code, Error, PostId, Result, zone};
use fanfare_entities::{Millis, PostSetId};
use fanfare_publishing::posts::{self, sets::pages::WholeSet};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{PAGE, calendar, one};
use crate::{
    dashboard::{operation, page_member::PageMember, sets},
    oauth_connect::{PageResponse, Visit},
};

/// Runs the action in the path.
pub async fn act(visit: Visit) -> Result<PageResponse> {
    let id = one::id(&visit)?;
    let seat = PageMember::of_post(&visit, id).await?;
    let timezone = seat.zone();
    let done = match visit.path("verb") {
        "pause" => status(&visit, json!({ "status": "paused" })).await,
        "draft" => status(&visit, json!({ "status": "draft" })).await,
        "schedule" => {
            let mut change =
                json!({"status": "scheduled", "acknowledge_duplicate_risk": accepts(&visit)});
            if let Some(at) = visit.form("scheduled_at") {
                change["scheduled_at"] = at.into();
                change["timezone"] = timezone.into();
            }
            status(&visit, change).await
        }
        "move" => {
            let at = visit.form("scheduled_at").unwrap_or_default();
            edit(&visit, id, json!({"scheduled_at": at, "timezone": timezone})).await
        }
        "text" => {
            let caption = visit.form.iter().find(|(name, _)| name == "caption");
            let caption = caption.map(|(_, text)| text.replace("\r\n", "\n"));
            edit(&visit, id, json!({ "caption": caption })).await
        }
        "retry" => {
            let retry = json!({"id": id, "acknowledge_duplicate_risk": accepts(&visit)});
            operation::run(&visit, "retry_post", retry).await
        }
        "delete" => operation::run(&visit, "delete_post", json!({ "id": id })).await,
        _ => return Err(Error::new(Code::NotFound, "There is no such step.")),
    };
    match done {
        Ok(_) if visit.path("verb") == "delete" => Ok(PageResponse::Redirect(PAGE.to_owned())),
        Ok(_) => Ok(PageResponse::Redirect(format!("{PAGE}/{id}"))),
        Err(error) if (400..500).contains(&error.status()) => one::wrong(&visit, error).await,
        Err(error) => Err(error),
    }
}

/// Moves a post, or a set with all its posts, to another day and keeps its time of day.
pub async fn move_day(visit: Visit) -> Result<PageResponse> {
    if let Some(set) = visit.form("post").and_then(|id| Uuid::parse_str(id).ok()) {
        return move_set(visit, PostSetId(set)).await;
    }
    let absent = || Error::new(Code::PostNotFound, "There is no such post.");
    let id = visit.form("post").and_then(|id| id.parse().ok()).map(PostId).ok_or_else(absent)?;
    let seat = PageMember::of_post(&visit, id).await?;
    let day = calendar::day("day", visit.form("day").unwrap_or_default())?;
    let row = posts::find(&seat.act, id).await?;
    let at = on_day(&seat, row.scheduled_at, day);
    match edit(&visit, id, json!({"scheduled_at": at, "timezone": seat.zone()})).await {
        Ok(_) => Ok(calendar_at(&visit, day)),
        Err(error) if (400..500).contains(&error.status()) => {
            let visit = Visit { path: [("id".to_owned(), id.to_string())].into(), ..visit };
            one::wrong(&visit, error).await
        }
        Err(error) => Err(error),
    }
}

async fn move_set(visit: Visit, id: PostSetId) -> Result<PageResponse> {
    let seat = PageMember::of_post_set(&visit, id).await?;
    let day = calendar::day("day", visit.form("day").unwrap_or_default())?;
    let whole = WholeSet::find(&seat.act, id).await?;
    let at = on_day(&seat, whole.set.scheduled_at, day);
    match sets::act::move_to(&visit, id, (&at, seat.zone())).await {
        Ok(_) => Ok(calendar_at(&visit, day)),
        Err(error) if (400..500).contains(&error.status()) => {
            let visit = Visit { path: [("id".to_owned(), id.to_string())].into(), ..visit };
            sets::wrong(&visit, error).await
        }
        Err(error) => Err(error),
    }
}

/// Returns the time on a day that has the same time of day.
fn on_day(seat: &PageMember, at: Option<Millis>, day: NaiveDate) -> String {
    let at = at.unwrap_or_else(|| seat.act.cx.clock.now());
    let at = day.and_time(zone::local(at, seat.zone()).time());
    at.format("%Y-%m-%dT%H:%M:%S%.3f").to_string()
}

fn calendar_at(visit: &Visit, day: NaiveDate) -> PageResponse {
    let view = if visit.form("view") == Some("week") { "week" } else { "month" };
    PageResponse::Redirect(format!("{PAGE}?view={view}&day={day}"))
}

fn accepts(visit: &Visit) -> bool {
    visit.form("acknowledge_duplicate_risk").is_some()
}

async fn status(visit: &Visit, mut change: Value) -> Result<Value> {
    change["id"] = visit.path("id").into();
    operation::run(visit, "update_post_status", change).await
}

async fn edit(visit: &Visit, id: PostId, mut changes: Value) -> Result<Value> {
    changes["id"] = json!(id);
    operation::run(visit, "update_post", changes).await
}
