//! Creating and deleting statuses.

use super::instance::{CHARACTERS_MAX, MEDIA_MAX};
use super::state::{Change, State, Status};
use super::{Cx, access, listing, poll, representations, text};
use crate::params::Params;
use crate::reply::{HandlerResult, Reply};

const VISIBILITIES: [&str; 4] = ["public", "unlisted", "private", "direct"];

/// `POST /statuses`: a key that created a status within the last hour returns that status, whatever the request says.
pub(super) fn create(cx: &Cx) -> HandlerResult {
    access::limited(cx, access::CALLS, |account| {
        let params = Params::read(&cx.call).map_err(|_| access::failure(400, "Bad request"))?;
        let key = cx.call.header("idempotency-key").filter(|key| !key.is_empty());
        let (now_ms, base) = (cx.now_ms(), cx.sim.base());
        let again = key.and_then(|key| {
            account.read(|state| {
                let status = state.made_by(key, now_ms)?;
                Some(representations::status(state, status, &account.identity, &base))
            })
        });
        if let Some(shown) = again {
            return Ok(Reply::ok(&shown));
        }
        let quoted = quoted(cx, &params)?;
        let shown = cx.sim.change(account, |state| {
            let mut status = requested_status(state, &params, now_ms)?;
            (status.id, status.quoted) = (cx.sim.env.unique_number(), quoted);
            let shown = representations::status(state, &status, &account.identity, &base);
            let key = key.map(str::to_owned);
            Ok((Change::Status { status: Box::new(status), key }, shown))
        })?;
        Ok(Reply::ok(&shown))
    })
}

/// Returns the status to quote, which must exist.
fn quoted(cx: &Cx, params: &Params) -> Result<Option<u64>, Reply> {
    let Some(id) = params.filled("quoted_status_id") else { return Ok(None) };
    let id = id.parse().ok().filter(|id| listing::find(cx, *id).is_some());
    id.map(Some).ok_or_else(|| access::failure(404, "Record not found"))
}

/// Parses the requested status.
fn requested_status(state: &State, params: &Params, now_ms: i64) -> Result<Status, Reply> {
    let text = params.text("status").unwrap_or_default().trim().to_owned();
    let spoiler_text = params.text("spoiler_text").unwrap_or_default();
    let visibility = params.filled("visibility").unwrap_or_else(|| "public".into());
    if !VISIBILITIES.contains(&visibility.as_str()) {
        return Err(access::invalid("Visibility is not included in the list"));
    }
    if text::length(&text) + spoiler_text.chars().count() > CHARACTERS_MAX {
        let why = format!("Text character limit of {CHARACTERS_MAX} exceeded");
        return Err(access::invalid(&why));
    }
    let poll = poll::read(params, now_ms)?;
    let media = attached(state, params, now_ms)?;
    if text.is_empty() && media.is_empty() && poll.is_none() && spoiler_text.is_empty() {
        return Err(access::invalid("Text can't be blank"));
    }
    let language = params.filled("language");
    let is_language =
        |code: &String| (2..=3).contains(&code.split('-').next().unwrap_or_default().len());
    Ok(Status {
        id: 0,
        at_ms: now_ms,
        sensitive: params.flag("sensitive") || !spoiler_text.is_empty(),
        text,
        spoiler_text,
        visibility,
        language: language.filter(is_language),
        media,
        poll,
        quoted: None,
        in_reply_to: params.integer("in_reply_to_id").and_then(|id| u64::try_from(id).ok()),
    })
}

/// Returns the media to attach: they must be the account's own, processed, in no other status, and not a video with
/// pictures.
fn attached(state: &State, params: &Params, now_ms: i64) -> Result<Vec<u64>, Reply> {
    let ids = params.texts("media_ids");
    if ids.len() > MEDIA_MAX {
        return Err(access::invalid("Cannot attach more than 4 files"));
    }
    let find = |id: &String| state.media.get(&id.parse().ok()?).filter(|one| one.is_loose(now_ms));
    let found: Option<Vec<_>> = ids.iter().map(find).collect();
    let lost = || {
        let why = format!("Media {} not found or already attached to another post", ids.join(", "));
        access::invalid(&why)
    };
    let found = found.ok_or_else(lost)?;
    if found.len() > 1 && found.iter().any(|one| one.kind() != "image") {
        return Err(access::invalid(
            "Cannot attach a video to a post that already contains images",
        ));
    }
    if found.iter().any(|one| one.ready_ms > now_ms) {
        let why = "Cannot attach files that have not finished processing. Try again in a moment!";
        return Err(access::invalid(why));
    }
    Ok(found.iter().map(|one| one.id).collect())
}

/// `DELETE /statuses/{id}`
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    access::limited(cx, access::CALLS, |account| {
        let base = cx.sim.base();
        let id: Option<u64> = cx.call.segment(3).parse().ok();
        let shown = cx.sim.change(account, |state| {
            let found = id.and_then(|id| state.statuses.get(&id));
            let status = found.ok_or_else(|| access::failure(404, "Record not found"))?;
            let shown = representations::status(state, status, &account.identity, &base);
            Ok((Change::Deleted { id: status.id }, shown))
        })?;
        Ok(Reply::ok(&shown))
    })
}
