//! Initializing a post: its metadata and the sources of its files.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::creator::PRIVACY;
use super::state::{Begun, Change, Post, State, Upload};
use super::{Cx, Tiktok, access, failure};
use crate::fetch::Fetched;
use crate::network::Medium;
use crate::picture;
use crate::random::{self, BASE62};
use crate::rate_limit::Limit;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

const MB: u64 = 1_000_000;
const VIDEO_MAX: u64 = 4_000 * MB;
const IMAGE_MAX: u64 = 20 * MB;
/// The most posts initialized per minute and created per day.
const MINUTE: Limit = Limit { name: "init", units: 6, span_ms: 60_000 };
const DAY: usize = 15;
const DAY_MS: i64 = 86_400_000;

/// Checks the conditions of every post.
fn allowed(cx: &Cx) -> Result<(Arc<Account<Tiktok>>, Value), Reply> {
    let account = access::account_with_scope(cx, "video.publish")?;
    super::count_call(cx, &account, MINUTE)?;
    let body = cx.call.json().map_err(|_| failure::invalid("The body is no JSON"))?;
    if cx.sim.env.rate_limits() && account.read(|state| recent(state, cx.now_ms())) >= DAY {
        let message = "The daily post cap from the API is reached for the current user.";
        return Err(failure::error(403, "spam_risk_too_many_posts", message));
    }
    Ok((account, body))
}

fn recent(state: &State, now_ms: i64) -> usize {
    state.posts.values().rev().take_while(|post| post.at_ms > now_ms - DAY_MS).count()
}

/// Validates the metadata of a post; `texts` are the text fields with their longest length in UTF-16 units, `known` the
/// other fields.
fn info(
    body: &Value,
    texts: &[(&str, usize)],
    known: &[&str],
) -> Result<Map<String, Value>, Reply> {
    let Value::Object(info) = &body["post_info"] else {
        return Err(failure::invalid("post_info is missing"));
    };
    let is_known = |name: &String| {
        known.contains(&name.as_str()) || texts.iter().any(|(text, _)| text == name)
    };
    if let Some(unknown) = info.keys().find(|name| !is_known(name)) {
        return Err(failure::invalid(&format!("post_info.{unknown} is not known")));
    }
    for (name, most) in texts {
        let length =
            info.get(*name).and_then(Value::as_str).map_or(0, |text| text.encode_utf16().count());
        if length > *most {
            return Err(failure::invalid(&format!("post_info.{name} is longer than {most}")));
        }
    }
    let level = info.get("privacy_level").and_then(Value::as_str).unwrap_or_default();
    if !PRIVACY.contains(&level) {
        let message = "privacy_level is not specified or not among the options in creator_info.";
        return Err(failure::error(403, "privacy_level_option_mismatch", message));
    }
    if info.get("brand_content_toggle") == Some(&json!(true)) && level == "SELF_ONLY" {
        return Err(failure::invalid("Branded content cannot be private"));
    }
    Ok(info.clone())
}

fn publish_id(cx: &Cx, account: &Account<Tiktok>, kind: &str) -> String {
    format!("{kind}~v2-1.{}!{}", account.identity.remote_id, cx.sim.env.unique_number())
}

/// `POST /v2/post/publish/video/init/`
pub(super) fn video(cx: &Cx) -> HandlerResult {
    let (account, body) = allowed(cx)?;
    let known = [
        "privacy_level",
        "disable_comment",
        "disable_duet",
        "disable_stitch",
        "video_cover_timestamp_ms",
        "brand_content_toggle",
        "brand_organic_toggle",
        "is_aigc",
    ];
    let info = info(&body, &[("title", 2_200)], &known)?;
    let source = &body["source_info"];
    if source["source"] != "FILE_UPLOAD" {
        return Err(failure::invalid("source_info.source is not known"));
    }
    let number = |name: &str| source[name].as_u64().unwrap_or(0);
    let (size, chunk, count) =
        (number("video_size"), number("chunk_size"), number("total_chunk_count"));
    let whole = count == 1 && chunk == size && size <= 64 << 20;
    let parted = (5 * MB..=64 << 20).contains(&chunk)
        && count == size / chunk
        && (1..=1_000).contains(&count);
    if size == 0 || size > VIDEO_MAX || !(whole || parted) {
        return Err(failure::invalid("The chunks do not fit the video"));
    }
    let publish_id = publish_id(cx, &account, "v_pub_file");
    let token = random::text(BASE62, 40);
    let upload_url =
        format!("{}/video/?upload_id={publish_id}&upload_token={token}", cx.sim.base());
    let upload = Upload { token, size, chunk, count, received: 0, mime: String::new() };
    let begun = Begun {
        publish_id: publish_id.clone(),
        at_ms: cx.now_ms(),
        info,
        upload: Some(upload),
        post: None,
        ready_ms: None,
        flaw: None,
    };
    cx.sim.apply(&account, Change::Begun(begun));
    failure::success(json!({"publish_id": publish_id, "upload_url": upload_url}))
}

/// `POST /v2/post/publish/content/init/`: TikTok fetches the images in the background.
pub(super) async fn photos(cx: Arc<Cx>) -> HandlerResult {
    let (account, body) = allowed(&cx)?;
    if body["media_type"] != "PHOTO" || body["post_mode"] != "DIRECT_POST" {
        return Err(failure::invalid("media_type and post_mode are not known"));
    }
    let known = [
        "privacy_level",
        "disable_comment",
        "auto_add_music",
        "brand_content_toggle",
        "brand_organic_toggle",
    ];
    let info = info(&body, &[("title", 90), ("description", 4_000)], &known)?;
    let source = &body["source_info"];
    let images: Vec<String> = source["photo_images"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|url| url.as_str().map(str::to_owned))
        .collect();
    let cover = source["photo_cover_index"].as_u64().unwrap_or(0);
    if source["source"] != "PULL_FROM_URL"
        || !(1..=35).contains(&images.len())
        || cover >= images.len() as u64
    {
        return Err(failure::invalid("source_info is not valid"));
    }
    // The app has verified all addresses except those below this one.
    if images.iter().any(|url| url.contains("//unverified.")) {
        let message = "Please review our URL ownership verification rules.";
        return Err(failure::error(403, "url_ownership_unverified", message));
    }
    let publish_id = publish_id(&cx, &account, "p_pub_url");
    let begun = Begun {
        publish_id: publish_id.clone(),
        at_ms: cx.now_ms(),
        info: info.clone(),
        upload: None,
        post: None,
        ready_ms: None,
        flaw: None,
    };
    cx.sim.apply(&account, Change::Begun(begun));
    tokio::spawn(pull(Arc::clone(&cx), Arc::clone(&account), publish_id.clone(), info, images));
    failure::success(json!({"publish_id": publish_id}))
}

async fn pull(
    cx: Arc<Cx>,
    account: Arc<Account<Tiktok>>,
    publish_id: String,
    info: Map<String, Value>,
    images: Vec<String>,
) {
    let (mut media, mut flaw) = (Vec::new(), None);
    for url in images {
        match cx.sim.env.crawler.fetch(&url, IMAGE_MAX).await {
            Err(_) => flaw = Some("photo_pull_failed"),
            Ok(Fetched { file, .. }) => match picture::picture(&file.head) {
                Some(found) if matches!(found.mime, "image/jpeg" | "image/webp") => {
                    media.push(Medium {
                        url: Some(url),
                        size: Some(file.size),
                        mime: found.mime.to_owned(),
                        alt: None,
                        sha256: Some(file.sha256),
                    })
                }
                _ => flaw = Some("file_format_check_failed"),
            },
        }
    }
    let change = finished(&cx, &publish_id, info, media, flaw, true);
    cx.sim.apply(&account, change);
}

/// Returns the change that completes a post: it becomes public, or fails.
pub(super) fn finished(
    cx: &Cx,
    publish_id: &str,
    info: Map<String, Value>,
    media: Vec<Medium>,
    flaw: Option<&str>,
    is_photo: bool,
) -> Change {
    let at_ms = cx.now_ms();
    let ready_ms = at_ms + cx.sim.env.processing_ms();
    let id = 7_400_000_000_000_000_000 + cx.sim.env.unique_number();
    let post = flaw.is_none().then_some(Post { id, at_ms, ready_ms, media, is_photo, info });
    Change::Finished {
        publish_id: publish_id.to_owned(),
        ready_ms,
        post,
        flaw: flaw.map(str::to_owned),
    }
}
