//! Actions on a post; each runs an operation of the API.

use fanfare_core::{Code, Error, PostId, Result, zone};
use fanfare_publishing::posts;
use serde_json::{Value, json};

use super::{PAGE, calendar, one};
use crate::{
    dashboard::{operation, page_member::PageMember},
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

/// Moves a post to another day and keeps its time of day.
pub async fn move_day(visit: Visit) -> Result<PageResponse> {
    let absent = || Error::new(Code::PostNotFound, "There is no such post.");
    let id = visit.form("post").and_then(|id| id.parse().ok()).map(PostId).ok_or_else(absent)?;
    let seat = PageMember::of_post(&visit, id).await?;
    let day = calendar::day("day", visit.form("day").unwrap_or_default())?;
    let row = posts::find(&seat.act, id).await?;
    let now = row.scheduled_at.unwrap_or_else(|| seat.act.cx.clock.now());
    let at = day.and_time(zone::local(now, seat.zone()).time());
    let at = at.format("%Y-%m-%dT%H:%M:%S%.3f").to_string();
    match edit(&visit, id, json!({"scheduled_at": at, "timezone": seat.zone()})).await {
        Ok(_) => {
            let view = if visit.form("view") == Some("week") { "week" } else { "month" };
            Ok(PageResponse::Redirect(format!("{PAGE}?view={view}&day={day}")))
        }
        Err(error) if (400..500).contains(&error.status()) => {
            let visit = Visit { path: [("id".to_owned(), id.to_string())].into(), ..visit };
            one::wrong(&visit, error).await
        }
        Err(error) => Err(error),
    }
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
