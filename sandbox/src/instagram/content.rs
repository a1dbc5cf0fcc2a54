//! Validates the content of a container.

use serde_json::{Map, Value, json};

use super::Instagram;
use super::state::{Content, Kind, State};
use crate::graph::failure;
use crate::network::Medium;
use crate::params::Params;
use crate::reply::Reply;
use crate::sim::Account;

const CAPTION: usize = 2_200;
const ALT: usize = 1_000;
const HASHTAGS: usize = 30;
const MENTIONS: usize = 20;
const CHILDREN: std::ops::RangeInclusive<usize> = 2..=10;
const COLLABORATORS: usize = 3;
const POLL_OPTION: usize = 25;

/// Returns the error of an invalid parameter.
pub(super) fn invalid_parameter(what: &str) -> Reply {
    failure::graph(400, 100, 0, &format!("(#100) {what}"))
}

/// Returns an error with a subcode.
pub(super) fn refused(subcode: u32, title: &str, explanation: &str) -> Reply {
    failure::explained(400, 100, subcode, "Invalid parameter", title, explanation)
}

/// Validates a request and returns the content of the container. Media are not fetched yet.
pub(super) fn content(account: &Account<Instagram>, params: &Params) -> Result<Content, Reply> {
    let kind = kind(params)?;
    let carousel_item = params.flag("is_carousel_item");
    let caption = caption(params)?;
    if carousel_item && !matches!(kind, Kind::Image | Kind::Video) {
        return Err(invalid_parameter("Only images and videos may be carousel items"));
    }
    if kind == Kind::Video && !carousel_item {
        let explanation = "The VIDEO value for media_type is no longer supported. Use the REELS media_type to publish a video.";
        return Err(refused(2_207_023, "Unknown media type", explanation));
    }
    let extra = extra(params, kind, carousel_item)?;
    let children = if kind == Kind::Carousel { children(account, params)? } else { Vec::new() };
    let medium = medium(params, kind)?;
    Ok(Content { kind, caption, medium, children, carousel_item, extra })
}

fn kind(params: &Params) -> Result<Kind, Reply> {
    match params.filled("media_type").as_deref() {
        None | Some("IMAGE") => Ok(Kind::Image),
        Some("VIDEO") => Ok(Kind::Video),
        Some("REELS") => Ok(Kind::Reels),
        Some("STORIES") => Ok(Kind::Stories),
        Some("CAROUSEL") => Ok(Kind::Carousel),
        Some(other) => {
            let explanation = format!("The media type {other} is not known.");
            Err(refused(2_207_023, "Unknown media type", &explanation))
        }
    }
}

fn caption(params: &Params) -> Result<String, Reply> {
    let caption = params.text("caption").unwrap_or_default();
    let too_long = |explanation: &str| refused(2_207_010, "Caption too long", explanation);
    if caption.chars().count() > CAPTION {
        return Err(too_long("The caption was too long. It should have at most 2,200 characters."));
    }
    let count = |sign: char| {
        let words = caption.split(sign).skip(1);
        words.filter(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')).count()
    };
    if count('#') > HASHTAGS || count('@') > MENTIONS {
        return Err(too_long("The caption should have at most 30 hashtags and 20 mentions."));
    }
    Ok(caption)
}

fn medium(params: &Params, kind: Kind) -> Result<Option<Medium>, Reply> {
    if kind == Kind::Carousel {
        return Ok(None);
    }
    let image = params.filled("image_url").filter(|_| matches!(kind, Kind::Image | Kind::Stories));
    let video = params.filled("video_url").filter(|_| kind != Kind::Image);
    let mime = if image.is_some() { "image/*" } else { "video/*" };
    if kind != Kind::Image && params.filled("upload_type").as_deref() == Some("resumable") {
        return Ok(Some(Medium { mime: "video/*".into(), ..Medium::default() }));
    }
    let url = image.or(video).ok_or_else(|| {
        let name = if kind == Kind::Image { "image_url" } else { "video_url" };
        failure::graph(400, 100, 0, &format!("(#100) The parameter {name} is required"))
    })?;
    let alt = params.filled("alt_text");
    match &alt {
        Some(_) if kind != Kind::Image => {
            return Err(invalid_parameter("Param alt_text is for images only"));
        }
        Some(alt) if alt.chars().count() > ALT => {
            return Err(invalid_parameter("Param alt_text must be at most 1000 characters long"));
        }
        _ => {}
    }
    Ok(Some(Medium { url: Some(url), mime: mime.into(), alt, ..Medium::default() }))
}

fn children(account: &Account<Instagram>, params: &Params) -> Result<Vec<u64>, Reply> {
    let list = params.filled("children").unwrap_or_default();
    let clean = |id: &str| id.trim().trim_matches('"').parse().ok();
    let ids: Option<Vec<u64>> = list.trim_matches(['[', ']']).split(',').map(clean).collect();
    let ids = ids.filter(|ids| CHILDREN.contains(&ids.len())).ok_or_else(|| {
        refused(2_207_028, "Carousel children", "A carousel must have from 2 to 10 items.")
    })?;
    let is_item = |state: &State, id: &u64| {
        state.made.containers.get(id).is_some_and(|one| one.content.carousel_item)
    };
    if !account.read(|state| ids.iter().all(|id| is_item(state, id))) {
        let explanation =
            "The media builder with the creation id does not exist or is no carousel item.";
        return Err(refused(2_207_008, "Media builder not found", explanation));
    }
    Ok(ids)
}

/// Validates all parameters besides text and media.
fn extra(params: &Params, kind: Kind, item: bool) -> Result<Map<String, Value>, Reply> {
    let mut extra = Map::new();
    let whole = !item && kind != Kind::Stories;
    if let Some(names) = list(params, "collaborators")? {
        if !whole || params.filled("trial_params").is_some() {
            return Err(invalid_parameter("Param collaborators is not supported for this media"));
        }
        if names.len() > COLLABORATORS {
            return Err(invalid_parameter("Param collaborators must have at most 3 users"));
        }
        extra.insert("collaborators".into(), json!(names));
    }
    if let Some(tags) = list(params, "user_tags")? {
        tags.iter()
            .try_for_each(|tag| user_tag(tag, kind, params.filled("image_url").is_some()))?;
        extra.insert("user_tags".into(), json!(tags));
    }
    if params.flag("is_ai_generated") {
        if item {
            return Err(invalid_parameter(
                "Param is_ai_generated is not allowed for carousel items",
            ));
        }
        extra.insert("is_ai_generated".into(), json!(true));
    }
    extra.extend(addon(params, kind, item)?);
    for (name, keys) in
        [("trial_params", "graduation_strategy"), ("audio_configuration", "audio_id")]
    {
        if let Some(value) = params.json(name) {
            let value = value.ok().filter(|value| value[keys].is_string());
            let value =
                value.ok_or_else(|| invalid_parameter(&format!("Param {name} needs {keys}")))?;
            if kind != Kind::Reels {
                return Err(invalid_parameter(&format!("Param {name} is for reels only")));
            }
            extra.insert(name.into(), value);
        }
    }
    if let Some(strategy) = extra.get("trial_params").map(|it| it["graduation_strategy"].clone())
        && ![json!("MANUAL"), json!("SS_PERFORMANCE")].contains(&strategy)
    {
        return Err(invalid_parameter(
            "Param graduation_strategy must be one of {MANUAL, SS_PERFORMANCE}",
        ));
    }
    if let Some(url) = params.filled("cover_url").filter(|_| kind == Kind::Reels) {
        extra.insert("cover_url".into(), json!(url));
    }
    if let Some(at) = params.filled("thumb_offset").filter(|_| kind == Kind::Reels) {
        let at: u64 =
            at.parse().map_err(|_| invalid_parameter("Param thumb_offset must be an integer"))?;
        extra.insert("thumb_offset".into(), json!(at));
    }
    if kind == Kind::Reels {
        extra.insert("share_to_feed".into(), json!(params.flag("share_to_feed")));
    }
    Ok(extra)
}

fn list(params: &Params, name: &str) -> Result<Option<Vec<Value>>, Reply> {
    let Some(value) = params.json(name) else { return Ok(None) };
    let value = value.ok().and_then(|value| value.as_array().cloned());
    value.map(Some).ok_or_else(|| invalid_parameter(&format!("Param {name} must be an array")))
}

fn user_tag(tag: &Value, kind: Kind, image: bool) -> Result<(), Reply> {
    if tag["username"].as_str().is_none_or(str::is_empty) {
        return Err(refused(2_207_035, "User tags", "Each user tag must have a username."));
    }
    let is_place = |name: &str| tag[name].as_f64().is_some_and(|at| (0.0..=1.0).contains(&at));
    if image && !(is_place("x") && is_place("y")) {
        let explanation = "User tags of images must have x and y from 0.0 to 1.0.";
        return Err(refused(2_207_036, "User tags", explanation));
    }
    if kind == Kind::Video || (!image && (!tag["x"].is_null() || !tag["y"].is_null())) {
        let explanation = "User tags of videos must not have positions.";
        return Err(refused(2_207_037, "User tags", explanation));
    }
    Ok(())
}

/// Reads the poll or the prompt that is to be attached to the caption.
fn addon(params: &Params, kind: Kind, item: bool) -> Result<Map<String, Value>, Reply> {
    const OPTIONS: [&str; 4] = ["option_a", "option_b", "option_c", "option_d"];
    let (poll, prompt) = (params.json("poll_attachment"), params.flag("is_comment_prompt_used"));
    let name = if poll.is_some() { "poll_attachment" } else { "is_comment_prompt_used" };
    if poll.is_none() && !prompt {
        return Ok(Map::new());
    }
    if poll.is_some() && prompt {
        return Err(invalid_parameter("A media can carry at most one caption add-on"));
    }
    if item || kind == Kind::Stories {
        return Err(invalid_parameter(&format!("Param {name} is not supported for this media")));
    }
    if params.text("caption").is_none_or(|caption| caption.trim().is_empty()) {
        return Err(invalid_parameter(&format!("Param {name} needs a caption")));
    }
    let Some(poll) = poll else {
        return Ok(Map::from_iter([("attached_addon".to_owned(), json!("comment_prompt"))]));
    };
    let poll = poll.ok().filter(Value::is_object);
    let poll = poll.ok_or_else(|| invalid_parameter("Param poll_attachment must be an object"))?;
    let given = OPTIONS.map(|name| poll[name].as_str().unwrap_or_default());
    let count = given.iter().take_while(|text| !text.is_empty()).count();
    let has_gap = given.iter().skip(count).any(|text| !text.is_empty());
    let is_long = given.iter().any(|text| text.chars().count() > POLL_OPTION);
    if count < 2 || has_gap || is_long {
        return Err(invalid_parameter(
            "Param poll_attachment needs from 2 to 4 options of up to 25 characters",
        ));
    }
    let extended = params.flag("is_poll_duration_extended");
    Ok(Map::from_iter([
        ("attached_addon".to_owned(), json!("poll")),
        ("poll_attachment".to_owned(), poll),
        ("is_poll_duration_extended".to_owned(), json!(extended)),
    ]))
}
