//! Validates the content of a container.

use serde_json::{Map, Value, json};
use url::Url;

use super::state::{Content, MediaType, State};
use super::{Cx, Threads, failure, inbox, media, text};
use crate::network::Medium;
use crate::params::Params;
use crate::reply::Reply;
use crate::sim::Account;

const TEXT: usize = 500;
const ALT: usize = 1_000;
const LINKS: usize = 5;
const TAG: usize = 50;
const CHILDREN: std::ops::RangeInclusive<usize> = 2..=20;
const OPTION: usize = 25;
const ATTACHED_TEXT: usize = 10_000;
const SPOILERS: usize = 10;
const ATTACHMENTS: [&str; 4] =
    ["link_attachment", "poll_attachment", "gif_attachment", "text_attachment"];
const WHO_MAY_REPLY: [&str; 5] = [
    "everyone",
    "accounts_you_follow",
    "mentioned_only",
    "parent_post_author_only",
    "followers_only",
];

type Check = Result<(), Reply>;

/// Validates a request and returns the content of the container. Media are not fetched yet.
pub(super) fn content(
    cx: &Cx,
    account: &Account<Threads>,
    params: &Params,
) -> Result<Content, Reply> {
    let media_type = media_type(params)?;
    let text = params.text("text").unwrap_or_default();
    if text::length(&text) > TEXT {
        return Err(failure::invalid("Param text must be at most 500 characters long."));
    }
    let extra = extra(params, media_type)?;
    links(&text, &extra)?;
    let quote = post(cx, params, "quote_post_id")?;
    let alone = text.trim().is_empty()
        && quote.is_none()
        && extra.keys().all(|name| !ATTACHMENTS.contains(&name.as_str()));
    if media_type == MediaType::Text && alone {
        return Err(failure::invalid("The text is required for a text post."));
    }
    let carousel_item = params.flag("is_carousel_item");
    if carousel_item && !matches!(media_type, MediaType::Image | MediaType::Video) {
        return Err(failure::invalid("Only images and videos may be carousel items."));
    }
    let reply_to = post(cx, params, "reply_to_id")?;
    if extra.get("is_ghost_post") == Some(&json!(true))
        && (media_type != MediaType::Text || reply_to.is_some())
    {
        return Err(failure::invalid("Ghost posts must be text posts and cannot be replies."));
    }
    let children =
        if media_type == MediaType::Carousel { children(account, params)? } else { Vec::new() };
    let medium = medium(params, media_type)?;
    Ok(Content { media_type, text, medium, children, reply_to, quote, carousel_item, extra })
}

fn media_type(params: &Params) -> Result<MediaType, Reply> {
    match params.filled("media_type").as_deref() {
        Some("TEXT") => Ok(MediaType::Text),
        Some("IMAGE") => Ok(MediaType::Image),
        Some("VIDEO") => Ok(MediaType::Video),
        Some("CAROUSEL") => Ok(MediaType::Carousel),
        Some(_) => Err(failure::graph(
            400,
            100,
            0,
            "(#100) Param media_type must be one of {TEXT, IMAGE, VIDEO, CAROUSEL}",
        )),
        None => Err(failure::graph(400, 100, 0, "(#100) The parameter media_type is required")),
    }
}

fn medium(params: &Params, media_type: MediaType) -> Result<Option<Medium>, Reply> {
    let name = match media_type {
        MediaType::Image => "image_url",
        MediaType::Video => "video_url",
        MediaType::Text | MediaType::Carousel => return Ok(None),
    };
    let url = params.filled(name);
    let url = url.ok_or_else(|| {
        failure::graph(400, 100, 0, &format!("(#100) The parameter {name} is required"))
    })?;
    let alt = params.filled("alt_text");
    if alt.as_ref().is_some_and(|alt| alt.chars().count() > ALT) {
        return Err(failure::invalid("Param alt_text must be at most 1000 characters long."));
    }
    let mime = if media_type == MediaType::Image { "image/*" } else { "video/*" };
    Ok(Some(Medium { url: Some(url), mime: mime.into(), alt, ..Medium::default() }))
}

/// Returns the post that a parameter names; it may belong to anybody.
fn post(cx: &Cx, params: &Params, name: &str) -> Result<Option<u64>, Reply> {
    let Some(id) = params.filled(name) else { return Ok(None) };
    let is_there = |id: &u64| media::find(cx, *id).is_some() || inbox::is_there(cx, *id);
    let found = id.parse().ok().filter(is_there);
    found.map(Some).ok_or_else(|| {
        failure::invalid(&format!("Param {name} is not the id of a post that you may see."))
    })
}

fn children(account: &Account<Threads>, params: &Params) -> Result<Vec<u64>, Reply> {
    let list = params.filled("children").unwrap_or_default();
    let ids: Option<Vec<u64>> = list
        .trim_matches(['[', ']'])
        .split(',')
        .map(|id| id.trim().trim_matches('"').parse().ok())
        .collect();
    let ids = ids.filter(|ids| CHILDREN.contains(&ids.len()));
    let ids = ids.ok_or_else(|| failure::invalid("A carousel must have from 2 to 20 children."))?;
    let is_item = |state: &State, id: &u64| {
        state.made.containers.get(id).is_some_and(|c| c.content.carousel_item && !c.published)
    };
    if !account.read(|state| ids.iter().all(|id| is_item(state, id))) {
        return Err(failure::invalid(
            "Each child must be a carousel item container that was not published.",
        ));
    }
    Ok(ids)
}

fn links(text: &str, extra: &Map<String, Value>) -> Check {
    let mut links = text::links(text);
    links.extend(extra.get("link_attachment").and_then(Value::as_str));
    if links.len() > LINKS {
        let explanation = "A post may have at most 5 different links.";
        return Err(failure::explained(
            400,
            100,
            0,
            "THREADS_API__LINK_LIMIT_EXCEEDED",
            "Too many links",
            explanation,
        ));
    }
    Ok(())
}

/// Validates all parameters besides text, media and references.
fn extra(params: &Params, media_type: MediaType) -> Result<Map<String, Value>, Reply> {
    let mut extra = Map::new();
    let attached: Vec<_> =
        ATTACHMENTS.into_iter().filter(|name| params.filled(name).is_some()).collect();
    if attached.len() > 1 {
        return Err(failure::invalid(&format!(
            "Params {} exclude each other.",
            attached.join(" and ")
        )));
    }
    if let Some(name) = attached.first() {
        if media_type != MediaType::Text {
            return Err(failure::invalid(&format!("Param {name} is for text posts only.")));
        }
        extra.insert((*name).to_owned(), attachment(params, name)?);
    }
    if let Some(who) = params.filled("reply_control") {
        if !WHO_MAY_REPLY.contains(&who.as_str()) {
            return Err(failure::invalid(&format!(
                "Param reply_control must be one of {{{}}}",
                WHO_MAY_REPLY.join(", ")
            )));
        }
        extra.insert("reply_control".into(), json!(who));
    }
    if let Some(tag) = params.text("topic_tag") {
        if !(1..=TAG).contains(&tag.chars().count()) || tag.contains(['.', '&']) {
            return Err(failure::invalid(
                "Param topic_tag must have 1 to 50 characters and neither '.' nor '&'.",
            ));
        }
        extra.insert("topic_tag".into(), json!(tag));
    }
    if let Some(entities) = params.json("text_entities") {
        extra.insert("text_entities".into(), spoilers(entities.ok())?);
    }
    for name in [
        "is_ghost_post",
        "enable_reply_approvals",
        "is_spoiler_media",
        "crossreshare_to_ig",
        "crossreshare_to_ig_dark_mode",
    ] {
        if params.flag(name) {
            extra.insert(name.into(), json!(true));
        }
    }
    if let Some(codes) = params.filled("allowlisted_country_codes") {
        extra.insert("allowlisted_country_codes".into(), json!(codes));
    }
    Ok(extra)
}

fn spoilers(entities: Option<Value>) -> Result<Value, Reply> {
    let fits = |entity: &Value| {
        entity["entity_type"] == "SPOILER" && entity["offset"].is_u64() && entity["length"].is_u64()
    };
    let good = entities.filter(|list| {
        list.as_array().is_some_and(|list| list.len() <= SPOILERS && list.iter().all(fits))
    });
    good.ok_or_else(|| {
        failure::invalid("Param text_entities must be at most 10 spoilers with offset and length.")
    })
}

fn attachment(params: &Params, name: &str) -> Result<Value, Reply> {
    if name == "link_attachment" {
        let link = params.filled(name).unwrap_or_default();
        let valid = Url::parse(&link).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        return if valid {
            Ok(json!(link))
        } else {
            Err(failure::invalid("Param link_attachment is no valid URL."))
        };
    }
    let value = params.json(name).and_then(Result::ok).filter(Value::is_object);
    let value = value.ok_or_else(|| {
        failure::graph(400, 100, 0, &format!("(#100) Param {name} must be a JSON object"))
    })?;
    match name {
        "poll_attachment" => poll(&value)?,
        "gif_attachment" => gif(&value)?,
        _ => attached_text(&value)?,
    }
    Ok(value)
}

fn poll(poll: &Value) -> Check {
    let names = ["option_a", "option_b", "option_c", "option_d"];
    let given: Vec<_> =
        names.iter().map(|name| poll[*name].as_str().filter(|text| !text.is_empty())).collect();
    let count = given.iter().flatten().count();
    // No gaps: option_d requires option_c.
    if count < 2 || given.iter().take(count).any(Option::is_none) {
        return Err(failure::invalid(
            "A poll must have from 2 to 4 options, option_a and option_b among them.",
        ));
    }
    if given.iter().flatten().any(|text| text.chars().count() > OPTION) {
        return Err(failure::invalid("A poll option must be at most 25 characters long."));
    }
    Ok(())
}

fn gif(gif: &Value) -> Check {
    let id = gif["gif_id"].as_str().is_some_and(|id| !id.is_empty());
    match gif["provider"].as_str() {
        Some("GIPHY") if id => Ok(()),
        Some("GIPHY") => Err(failure::invalid("Param gif_attachment needs a gif_id.")),
        _ => Err(failure::invalid("Param gif_attachment must name GIPHY as its provider.")),
    }
}

fn attached_text(attached: &Value) -> Check {
    let length = attached["plaintext"].as_str().map_or(0, |text| text.chars().count());
    if !(1..=ATTACHED_TEXT).contains(&length) {
        return Err(failure::invalid(
            "The plaintext of a text attachment must have 1 to 10000 characters.",
        ));
    }
    Ok(())
}
