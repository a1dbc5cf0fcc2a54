//! Channels, videos, thumbnails and playlists.

use chrono::NaiveDate;
use serde_json::{Map, Value, json};

use super::state::{Change, Video};
use super::{Cx, Youtube, access, failure};
use crate::env::rfc3339;
use crate::metrics::{self, MetricSubject};
use crate::page;
use crate::picture;
use crate::received_file::ReceivedFile;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

const THUMBNAIL_MAX: usize = 52_428_800;
const THUMBNAIL_TYPES: [&str; 3] = ["image/jpeg", "image/png", "application/octet-stream"];
/// The most ids of a call.
const IDS: usize = 50;
const READ: [&str; 1] = ["youtube.readonly"];
/// The parts of a video, and of its statistics.
const VIDEO_PARTS: [&str; 18] = [
    "id",
    "ageGating",
    "brandPartner",
    "contentDetails",
    "fileDetails",
    "liveStreamingDetails",
    "localizations",
    "monetizationDetails",
    "paidProductPlacementDetails",
    "player",
    "processingDetails",
    "projectDetails",
    "recordingDetails",
    "snippet",
    "statistics",
    "status",
    "suggestions",
    "topicDetails",
];
const BATCH_PARTS: [&str; 4] = ["id", "snippet", "contentDetails", "statistics"];

fn list(kind: &str, items: Vec<Value>) -> HandlerResult {
    let found = json!({"totalResults": items.len(), "resultsPerPage": 50});
    Ok(Reply::ok(&json!({"kind": kind, "pageInfo": found, "items": items})))
}

/// Returns the requested parts of a resource.
fn parts(cx: &Cx, known: &[&str]) -> Result<Vec<String>, Reply> {
    let asked = cx.call.query_pairs().filter(|(name, _)| name == "part");
    let asked: Vec<String> = asked
        .flat_map(|(_, value)| value.split(',').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    if asked.is_empty() {
        return Err(failure::error(400, "missingRequiredParameter", "Required parameter: part"));
    }
    match asked.iter().find(|part| !known.contains(&part.as_str())) {
        Some(unknown) => Err(failure::error(400, "unknownPart", &format!("'{unknown}'"))),
        None => Ok(asked),
    }
}

/// Returns the requested ids, which may be given one by one or with commas between them.
fn ids(cx: &Cx) -> Result<Vec<String>, Reply> {
    let asked = cx.call.query_pairs().filter(|(name, _)| name == "id");
    let asked: Vec<String> = asked
        .flat_map(|(_, value)| value.split(',').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    if asked.len() > IDS {
        let message = format!("The number of ids is greater than {IDS}.");
        return Err(failure::error(400, "invalidParameter", &message));
    }
    Ok(asked)
}

/// Returns the id of the playlist of a channel's uploads.
fn uploads_of(channel: &str) -> String {
    channel.replacen("UC", "UU", 1)
}

/// `GET /youtube/v3/channels?mine=true`
pub(super) fn mine(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx, &READ, access::READ)?;
    if cx.call.query_value("mine").as_deref() != Some("true") {
        return Err(failure::error(400, "missingRequiredParameter", "No filter selected."));
    }
    let identity = &account.identity;
    let videos = account.read(|state| state.videos.len());
    let mut statistics = json!({"videoCount": videos.to_string(), "hiddenSubscriberCount": false});
    if let Some(count) = account.metric_number(MetricSubject::Now, "followers") {
        statistics["subscriberCount"] = json!(count.to_string());
    }
    let channel = json!({
        "kind": "youtube#channel",
        "id": identity.remote_id,
        "snippet": {
            "title": identity.username,
            "customUrl": format!("@{}", identity.username),
            "thumbnails": {"default": {"url": cx.sim.picture(&identity.remote_id)}},
        },
        "statistics": statistics,
        "contentDetails": {"relatedPlaylists": {"uploads": uploads_of(&identity.remote_id)}},
    });
    list("youtube#channelListResponse", vec![channel])
}

/// Returns a video in Google's format.
pub(super) fn shown(video: &Video, now_ms: i64) -> Value {
    let mut shown = video.resource.clone();
    let is_ready = now_ms >= video.ready_ms;
    (shown["kind"], shown["id"]) = (json!("youtube#video"), json!(video.id));
    shown["snippet"]["publishedAt"] = json!(rfc3339(video.at_ms));
    let (upload, processing) = match (&video.flaw, is_ready) {
        (_, false) => ("uploaded", "processing"),
        (None, true) => ("processed", "succeeded"),
        (Some(flaw), true) => {
            shown["status"]["failureReason"] = json!(flaw);
            ("failed", "failed")
        }
    };
    shown["status"]["uploadStatus"] = json!(upload);
    shown["processingDetails"] = json!({"processingStatus": processing});
    shown
}

/// `GET /youtube/v3/videos?part=…&id=…`
pub(super) fn videos(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx, &READ, access::READ)?;
    let (asked, ids, now_ms) = (parts(cx, &VIDEO_PARTS)?, ids(cx)?, cx.now_ms());
    let mut found: Vec<Value> = account.read(|state| {
        let videos = ids.iter().filter_map(|id| state.video(id));
        videos.map(|video| shown(video, now_ms)).collect()
    });
    for video in &mut found {
        let id = video["id"].as_str().unwrap_or_default().to_owned();
        if asked.iter().any(|part| part == "statistics") {
            video["statistics"] = statistics(&account, &id)?;
        }
        keep(video, &asked);
    }
    list("youtube#videoListResponse", found)
}

/// `GET /youtube/v3/videos:batchGetStats?part=…&id=…`: videos that are gone are left out.
pub(super) fn batch(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx, &READ, access::BATCHES)?;
    let (asked, ids) = (parts(cx, &BATCH_PARTS)?, ids(cx)?);
    let mut found = Vec::new();
    for id in ids {
        let video = account.read(|state| state.video(&id).map(|video| shown(video, cx.now_ms())));
        let Some(video) = video else { continue };
        let mut one = json!({"kind": "youtube#videoStat", "id": id});
        one["snippet"] = json!({"publishTime": video["snippet"]["publishedAt"]});
        one["statistics"] = statistics(&account, &id)?;
        keep(&mut one, &asked);
        found.push(one);
    }
    Ok(Reply::ok(&json!({"kind": "youtube#batchGetStatsResponse", "items": found})))
}

/// Leaves what a resource is, and the requested parts.
fn keep(resource: &mut Value, parts: &[String]) {
    if let Some(fields) = resource.as_object_mut() {
        fields.retain(|name, _| matches!(name.as_str(), "kind" | "id") || parts.contains(name));
    }
}

/// Returns the statistics of a video, as texts; disabled ones are left out.
fn statistics(account: &Account<Youtube>, id: &str) -> Result<Value, Reply> {
    let places = [("/likeCount", "likes"), ("/commentCount", "comments"), ("/viewCount", "views")];
    let mut shown = json!({"likeCount": null, "commentCount": null, "viewCount": null});
    metrics::fill_metrics(account, MetricSubject::Post(id), &mut shown, &places)?;
    let counts = shown.as_object().into_iter().flatten();
    let counts =
        counts.filter_map(|(name, count)| Some((name.clone(), json!(count.as_i64()?.to_string()))));
    Ok(Value::Object(counts.collect()))
}

/// `GET /v2/reports`: the channel by day. The report ends with the last day that has metrics.
pub(super) fn report(cx: &Cx) -> HandlerResult {
    let account = access::account_with_reports(cx)?;
    let date = |name: &str| -> Result<NaiveDate, Reply> {
        let text = cx.call.query_value(name).unwrap_or_default();
        let wrong = || failure::error(400, "invalidParameter", "A date is not valid.");
        text.parse().map_err(|_| wrong())
    };
    let (from, to) = (date("startDate")?, date("endDate")?);
    let metrics = cx.call.query_value("metrics").unwrap_or_default();
    let metrics: Vec<&str> = metrics.split(',').collect();
    let ours = |metric: &str| match metric {
        "subscribersGained" => "subscribers_gained",
        "subscribersLost" => "subscribers_lost",
        "estimatedMinutesWatched" => "watch_minutes",
        "engagedViews" => "engaged_views",
        "views" => "views",
        "likes" => "likes",
        "comments" => "comments",
        "shares" => "shares",
        _ => "",
    };
    if metrics.iter().any(|metric| ours(metric).is_empty()) {
        return Err(failure::error(
            400,
            "invalidParameter",
            "Unknown identifier given in field parameters.metrics.",
        ));
    }
    let mut rows = Vec::new();
    for day in from.iter_days().take_while(|day| *day <= to) {
        let day = day.to_string();
        let mut row = vec![json!(day)];
        for metric in &metrics {
            let mut cell = json!({"value": null});
            metrics::fill_metrics(
                &account,
                MetricSubject::Day(&day),
                &mut cell,
                &[("/value", ours(metric))],
            )?;
            row.push(cell["value"].clone());
        }
        if row.iter().skip(1).any(|cell| !cell.is_null()) {
            rows.push(json!(row));
        }
    }
    let headers: Vec<_> =
        std::iter::once("day").chain(metrics).map(|name| json!({ "name": name })).collect();
    Ok(Reply::ok(
        &json!({"kind": "youtubeAnalytics#resultTable", "columnHeaders": headers, "rows": rows}),
    ))
}

/// `POST /upload/youtube/v3/thumbnails/set?videoId=…`
pub(super) fn thumbnail(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx, &["youtube.upload"], access::WRITE)?;
    let body = &cx.call.body;
    if body.is_empty() {
        let message = "The request does not include the image content.";
        return Err(failure::error(400, "mediaBodyRequired", message));
    }
    // What is not known to be another kind of file is looked at.
    let said = cx.call.media_type();
    if !said.is_empty() && !THUMBNAIL_TYPES.contains(&said.as_str()) {
        let message = format!("Media type '{said}' is not supported.");
        return Err(failure::error(400, "badContent", &message));
    }
    let mime = picture::picture(body).map(|picture| picture.mime);
    if body.len() > THUMBNAIL_MAX || !matches!(mime, Some("image/jpeg" | "image/png")) {
        let message = "The provided image content is invalid.";
        return Err(failure::error(400, "imageFormatUnsupported", message));
    }
    let id = cx.call.query_value("videoId").unwrap_or_default();
    let sha256 = ReceivedFile::of(body).sha256;
    cx.sim.change(&account, |state| {
        let video = state.video(&id).ok_or_else(no_video)?;
        Ok((Change::Thumbnail { number: video.number, sha256 }, ()))
    })?;
    let items = [json!({"default": {"width": 120, "height": 90}})];
    Ok(Reply::ok(&json!({"kind": "youtube#thumbnailSetResponse", "items": items})))
}

fn no_video() -> Reply {
    failure::error(404, "videoNotFound", "The video cannot be found.")
}

fn no_playlist() -> Reply {
    failure::error(404, "playlistNotFound", "The playlist cannot be found.")
}

/// `GET /youtube/v3/playlists?mine=true`: the one playlist of each channel.
pub(super) fn playlists(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx, &READ, access::READ)?;
    let id = account.identity.private("playlist");
    let count = account.read(|state| state.places.len());
    let playlist = json!({
        "kind": "youtube#playlist",
        "id": id,
        "snippet": {"title": "To be seen first"},
        "status": {"privacyStatus": "public"},
        "contentDetails": {"itemCount": count},
    });
    list("youtube#playlistListResponse", vec![playlist])
}

fn place(id: &str, playlist: &str, video: &str) -> Value {
    json!({"kind": "youtube#playlistItem", "id": id, "snippet": {
        "playlistId": playlist,
        "resourceId": {"kind": "youtube#video", "videoId": video},
    }})
}

/// Returns an upload as the list of uploads shows it: with the video's title and description, and the time at which it was
/// added to the list (<https://developers.google.com/youtube/v3/docs/playlistItems>).
fn upload(playlist: &str, video: &Video) -> Value {
    let mut item = place(&format!("UUI{}", video.number), playlist, &video.id);
    let told = &video.resource["snippet"];
    item["snippet"]["title"] = told["title"].clone();
    item["snippet"]["description"] = told["description"].clone();
    item["snippet"]["publishedAt"] = json!(rfc3339(video.at_ms));
    item
}

/// `POST /youtube/v3/playlistItems?part=snippet`
pub(super) fn put_into(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx, &[], access::WRITE)?;
    let body = cx.call.json().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let playlist = text(&body["snippet"]["playlistId"]);
    let video = text(&body["snippet"]["resourceId"]["videoId"]);
    if playlist != account.identity.private("playlist") {
        return Err(no_playlist());
    }
    let id = format!("PLI{}", cx.sim.env.unique_number());
    let shown = place(&id, &playlist, &video);
    cx.sim.change(&account, |state| {
        state.video(&video).ok_or_else(no_video)?;
        Ok((Change::Placed { id, playlist, video: video.clone() }, ()))
    })?;
    Ok(Reply::ok(&shown))
}

/// `GET /youtube/v3/playlistItems?playlistId=…`: uploads are sorted newest first.
pub(super) fn items(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx, &READ, access::READ)?;
    let wanted = cx.call.query_value("playlistId").unwrap_or_default();
    let identity = &account.identity;
    let found: Vec<Value> = if wanted == uploads_of(&identity.remote_id) {
        account.read(|state| {
            let newest = state.videos.values().rev().take(50);
            newest.map(|video| upload(&wanted, video)).collect()
        })
    } else if wanted == identity.private("playlist") {
        account.read(|state| {
            state.places.iter().map(|(id, playlist, video)| place(id, playlist, video)).collect()
        })
    } else {
        return Err(no_playlist());
    };
    list("youtube#playlistItemListResponse", found)
}

/// `GET /watch?v=…`: the video as people see it.
pub(super) fn watch(cx: &Cx) -> HandlerResult {
    let id = cx.call.query_value("v").unwrap_or_default();
    let videos = cx.sim.all().into_iter();
    let found = videos
        .filter(|one| one.is_for_others(&id))
        .filter_map(|one| one.read(|state| state.video(&id).cloned()))
        .next();
    let video = found.filter(|video| video.resource["status"]["privacyStatus"] != "private");
    let video = video.ok_or_else(no_video)?;
    let text = |name: &str| video.resource["snippet"][name].as_str().unwrap_or_default();
    let body = format!("<p>{}</p>", page::escape(text("description")));
    Ok(page::page(200, text("title"), "A video on simulated youtube.", &body))
}

/// Returns the additional fields that the control API shows.
pub(super) fn extra(video: &Video, playlists: Vec<&String>) -> Map<String, Value> {
    let mut extra = video.resource.as_object().cloned().unwrap_or_default();
    extra.insert("thumbnail".to_owned(), json!(video.thumbnail));
    extra.insert("playlists".to_owned(), json!(playlists));
    extra
}
