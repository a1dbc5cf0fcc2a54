//! Validates the content of a post.

use serde_json::{Map, Value};

use super::state::{Asset, Kind, State};
use super::{failure, little_text, media};
use crate::network::Medium;
use crate::reply::Reply;

const TEXT_MAX: usize = 3_000;
const ALT_MAX: usize = 4_086;
const LABELS: [&str; 13] = [
    "APPLY",
    "DOWNLOAD",
    "VIEW_QUOTE",
    "LEARN_MORE",
    "SIGN_UP",
    "SUBSCRIBE",
    "REGISTER",
    "JOIN",
    "ATTEND",
    "REQUEST_DEMO",
    "SEE_MORE",
    "BUY_NOW",
    "SHOP_NOW",
];
const DURATIONS: [&str; 4] = ["ONE_DAY", "THREE_DAYS", "SEVEN_DAYS", "FOURTEEN_DAYS"];
/// Fields that a post is created with.
const FIELDS: [&str; 12] = [
    "author",
    "commentary",
    "visibility",
    "distribution",
    "lifecycleState",
    "isReshareDisabledByAuthor",
    "content",
    "contentCallToActionLabel",
    "contentLandingPage",
    "reshareContext",
    "container",
    "adContext",
];
/// The longest title and description of an article.
const ARTICLE_TITLE_MAX: usize = 400;
const ARTICLE_DESCRIPTION_MAX: usize = 4_086;

/// The content of a post: its text, its files, and whether one of them is a video.
pub(super) struct PostContent {
    pub text: String,
    pub media: Vec<Medium>,
    pub is_video: bool,
    pub extra: Map<String, Value>,
}

/// Parses and validates a post.
pub(super) fn read(
    state: &State,
    post: &Value,
    author: &str,
    now_ms: i64,
) -> Result<PostContent, Reply> {
    let Value::Object(fields) = post else {
        return Err(failure::malformed("The body is no object"));
    };
    known(post, "", &FIELDS)?;
    known(
        &post["distribution"],
        "distribution/",
        &["feedDistribution", "targetEntities", "thirdPartyDistributionChannels"],
    )?;
    if post["lifecycleState"] != "PUBLISHED" {
        return Err(failure::invalid("lifecycleState", "must be PUBLISHED"));
    }
    if !["PUBLIC", "CONNECTIONS", "LOGGED_IN", "CONTAINER"]
        .iter()
        .any(|one| post["visibility"] == *one)
    {
        return Err(failure::invalid("visibility", "is not an enum symbol"));
    }
    if !post["distribution"]["feedDistribution"].is_string() {
        return Err(failure::invalid("distribution/feedDistribution", "is required"));
    }
    let sent =
        post["commentary"].as_str().ok_or_else(|| failure::invalid("commentary", "is required"))?;
    let text = little_text::visible_text(sent);
    let length = text.chars().count();
    if length > TEXT_MAX {
        let message = format!(
            "ERROR :: /commentary :: text length ({length} characters) exceeded the maximum allowed ({TEXT_MAX} characters)"
        );
        return Err(failure::error(422, "FIELD_LENGTH_TOO_LONG", &message));
    }
    button(post)?;
    let mut extra = fields.clone();
    extra.retain(|name, _| !["commentary", "distribution"].contains(&name.as_str()));
    let mut shown = PostContent { text, media: Vec::new(), is_video: false, extra };
    match &post["content"] {
        Value::Null if sent.trim().is_empty() => {
            return Err(failure::invalid("commentary", "is required without content"));
        }
        Value::Null => {}
        content => fill(state, content, author, now_ms, &mut shown)?,
    }
    Ok(shown)
}

/// Refuses an object with a field that is not among these.
fn known(object: &Value, path: &str, names: &[&str]) -> Result<(), Reply> {
    let mut fields = object.as_object().into_iter().flat_map(Map::keys);
    match fields.find(|name| !names.contains(&name.as_str())) {
        Some(name) => Err(failure::unpermitted(&format!("{path}{name}"))),
        None => Ok(()),
    }
}

fn button(post: &Value) -> Result<(), Reply> {
    match (&post["contentCallToActionLabel"], &post["contentLandingPage"]) {
        (Value::Null, Value::Null) => Ok(()),
        (Value::String(label), Value::String(page)) => {
            if !LABELS.contains(&label.as_str()) {
                return Err(failure::invalid("contentCallToActionLabel", "is not an enum symbol"));
            }
            if !page.starts_with("http") {
                return Err(failure::invalid("contentLandingPage", "is no URL"));
            }
            Ok(())
        }
        _ => {
            Err(failure::invalid("contentLandingPage", "and contentCallToActionLabel go together"))
        }
    }
}

fn fill(
    state: &State,
    content: &Value,
    author: &str,
    now_ms: i64,
    shown: &mut PostContent,
) -> Result<(), Reply> {
    let kinds: Vec<&String> =
        content.as_object().map(|map| map.keys().collect()).unwrap_or_default();
    let [kind] = kinds.as_slice() else {
        return Err(failure::invalid("content", "must be of one kind"));
    };
    match kind.as_str() {
        "media" => {
            known(&content["media"], "content/media/", &["id", "title", "altText"])?;
            let asset = add(state, &content["media"], author, now_ms, shown)?;
            shown.is_video = asset.kind == Kind::Video;
            let title = content["media"]["title"].as_str().unwrap_or_default();
            if asset.kind == Kind::Document && title.is_empty() {
                return Err(failure::invalid("content/media/title", "is required for documents"));
            }
            Ok(())
        }
        "multiImage" => {
            known(&content["multiImage"], "content/multiImage/", &["images", "altText"])?;
            let images = content["multiImage"]["images"].as_array().cloned().unwrap_or_default();
            if !(2..=20).contains(&images.len()) {
                return Err(failure::invalid("content/multiImage/images", "must be 2 to 20"));
            }
            for image in &images {
                known(image, "content/multiImage/images/", &["id", "altText"])?;
                if add(state, image, author, now_ms, shown)?.kind != Kind::Image {
                    return Err(failure::invalid("content/multiImage/images", "must be images"));
                }
            }
            Ok(())
        }
        "article" => article(state, &content["article"], author, now_ms),
        "poll" => poll(&content["poll"]),
        other => Err(failure::unpermitted(&format!("content/{other}"))),
    }
}

/// Adds a file to the content of the post.
fn add<'a>(
    state: &'a State,
    named: &Value,
    author: &str,
    now_ms: i64,
    shown: &mut PostContent,
) -> Result<&'a Asset, Reply> {
    let urn = named["id"].as_str().unwrap_or_default();
    let asset = state.assets.get(urn).filter(|asset| asset.owner == author);
    let asset = asset.ok_or_else(|| {
        failure::invalid("content/media/id", &format!("{urn} is not the author's"))
    })?;
    let status = media::status(asset, now_ms);
    let may_be_used = match asset.kind {
        Kind::Video => status == "AVAILABLE",
        Kind::Image | Kind::Document => matches!(status, "AVAILABLE" | "PROCESSING"),
    };
    if !may_be_used {
        return Err(failure::invalid("content/media/id", &format!("{urn} is {status}")));
    }
    let alt = named["altText"].as_str();
    if alt.is_some_and(|alt| alt.chars().count() > ALT_MAX) {
        return Err(failure::error(
            422,
            "FIELD_LENGTH_TOO_LONG",
            "ERROR :: /content/media/altText :: is too long",
        ));
    }
    let whole = asset.received.values().map(|part| part.medium.size.unwrap_or(0)).sum();
    if let Some(first) = asset.received.values().next() {
        let sha256 = first.medium.sha256.clone().filter(|_| asset.received.len() == 1);
        shown.media.push(Medium {
            size: Some(whole),
            alt: alt.map(str::to_owned),
            sha256,
            ..first.medium.clone()
        });
    }
    Ok(asset)
}

fn article(state: &State, article: &Value, author: &str, now_ms: i64) -> Result<(), Reply> {
    const NAMES: [&str; 5] = ["source", "thumbnail", "thumbnailAltText", "title", "description"];
    known(article, "content/article/", &NAMES)?;
    for (name, max) in [("title", ARTICLE_TITLE_MAX), ("description", ARTICLE_DESCRIPTION_MAX)] {
        let length = article[name].as_str().map_or(0, |text| text.chars().count());
        if length > max {
            let message = format!(
                "ERROR :: /content/article/{name} :: text length ({length} characters) exceeded the maximum allowed ({max} characters)"
            );
            return Err(failure::error(422, "FIELD_LENGTH_TOO_LONG", &message));
        }
    }
    for name in ["source", "title"] {
        if article[name].as_str().is_none_or(str::is_empty) {
            return Err(failure::invalid(&format!("content/article/{name}"), "is required"));
        }
    }
    let Some(urn) = article["thumbnail"].as_str() else { return Ok(()) };
    let asset =
        state.assets.get(urn).filter(|asset| asset.owner == author && asset.kind == Kind::Image);
    let is_there = asset
        .is_some_and(|asset| matches!(media::status(asset, now_ms), "AVAILABLE" | "PROCESSING"));
    if is_there {
        Ok(())
    } else {
        Err(failure::invalid("content/article/thumbnail", "is no image of the author's"))
    }
}

fn poll(poll: &Value) -> Result<(), Reply> {
    known(poll, "content/poll/", &["question", "options", "settings"])?;
    let fits = |text: &Value, max: usize| {
        text.as_str().is_some_and(|text| (1..=max).contains(&text.chars().count()))
    };
    let options = poll["options"].as_array().cloned().unwrap_or_default();
    if !fits(&poll["question"], 140) {
        return Err(failure::invalid("content/poll/question", "must have 1 to 140 characters"));
    }
    if !(2..=4).contains(&options.len()) || !options.iter().all(|option| fits(&option["text"], 30))
    {
        return Err(failure::invalid(
            "content/poll/options",
            "must be 2 to 4 of 1 to 30 characters",
        ));
    }
    if !DURATIONS.iter().any(|one| poll["settings"]["duration"] == *one) {
        return Err(failure::invalid("content/poll/settings/duration", "is not an enum symbol"));
    }
    Ok(())
}
