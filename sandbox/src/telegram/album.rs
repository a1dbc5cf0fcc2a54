//! Albums: two to ten messages in one call.

use std::sync::Arc;

use serde_json::Value;

use super::state::{Kind, Rest};
use super::{Cx, bad, chat, done, files, send};
use crate::faults::Fault;
use crate::reply::{HandlerResult, Reply};

const ITEMS: std::ops::RangeInclusive<usize> = 2..=10;

/// `sendMediaGroup`. It has no parameter for a keyboard, which is ignored.
pub(super) async fn send(cx: Arc<Cx>) -> HandlerResult {
    let params = chat::params(&cx)?;
    let account = chat::target(&cx, &params)?;
    let media = params.json("media").ok_or_else(|| bad("parameter \"media\" is required"))?;
    let media = media.map_err(|_| bad("can't parse media JSON object"))?;
    let items = media.as_array().ok_or_else(|| bad("expected an Array of InputMedia"))?;
    if items.is_empty() {
        return Err(bad("there are no messages to send"));
    }
    if items.len() > *ITEMS.end() {
        return Err(bad("too many messages to send as an album"));
    }
    if !ITEMS.contains(&items.len()) {
        return Err(bad("an album must include 2-10 items"));
    }
    let kinds = items.iter().map(kind).collect::<Result<Vec<_>, _>>()?;
    for lonely in [Kind::Document, Kind::Audio] {
        if kinds.contains(&lonely) && kinds.iter().any(|kind| *kind != lonely) {
            let name = if lonely == Kind::Document { "document" } else { "audio" };
            return Err(bad(&format!("{name} can't be mixed with other media types")));
        }
    }
    let base = Rest { keyboard: None, ..send::rest(&params)? };
    let group = cx.sim.env.unique_number().to_string();
    let mut parts = Vec::with_capacity(items.len());
    for (item, kind) in items.iter().zip(kinds) {
        let text = |name: &str| item[name].as_str().unwrap_or_default();
        let caption = send::check_caption(send::parse(text("caption"), text("parse_mode"))?)?;
        if text("media").is_empty() {
            return Err(bad("media not found"));
        }
        if kind == Kind::LivePhoto {
            files::obtain(&cx, &account, &params, text("photo"), Kind::Photo).await?;
        }
        let file = files::obtain(&cx, &account, &params, text("media"), kind).await?;
        let spoiler = item["has_spoiler"] == true;
        parts.push((
            caption,
            Rest { file: Some(file), group: Some(group.clone()), spoiler, ..base.clone() },
        ));
    }
    let fault = account.take_played();
    let Some((sent, fault)) = fault.and_then(|fault| Some((fault.effect? as usize, fault))) else {
        return done(Value::Array(send::all(&cx, &account, &params, parts)?));
    };
    parts.truncate(sent);
    if sent > 0 {
        let _ = send::all(&cx, &account, &params, parts)?;
    }
    Err(refused_at(sent + 1, &fault))
}

/// Returns the refusal of one message of an album, as seen at <https://github.com/rubenlagus/TelegramBots/issues/1520>.
fn refused_at(message: usize, fault: &Fault) -> Reply {
    let seconds = fault.ms.unwrap_or(1_000).div_ceil(1_000);
    let why = match (&fault.body, fault.status) {
        (Some(why), _) => why.clone(),
        (None, Some(429)) => format!("Too Many Requests: retry after {seconds}"),
        (None, _) => "WEBPAGE_CURL_FAILED".to_owned(),
    };
    bad(&format!("failed to send message #{message} with the error message \"{why}\""))
}

fn kind(item: &Value) -> Result<Kind, Reply> {
    match item["type"].as_str() {
        Some("photo") => Ok(Kind::Photo),
        Some("video") => Ok(Kind::Video),
        Some("document") => Ok(Kind::Document),
        Some("audio") => Ok(Kind::Audio),
        Some("live_photo") => Ok(Kind::LivePhoto),
        Some("animation") => {
            Err(bad("can't parse InputMedia: animations can't be sent in an album"))
        }
        _ => Err(bad(
            "can't parse InputMedia: type must be one of photo, video, live_photo, document and audio",
        )),
    }
}
