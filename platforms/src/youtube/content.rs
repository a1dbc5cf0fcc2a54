//! The metadata of a video. Pure.

use serde_json::{Value, json};

use super::{TITLE_MAX, settings::Settings};
use crate::{Draft, article, settings::is_ai_generated};

/// People and blogs, YouTube's default category.
const CATEGORY: &str = "22";
const SHORTS: &str = "#Shorts";

/// Returns the title: as given, else from the caption.
pub(super) fn title(draft: &Draft, settings: &Settings) -> String {
    article::title(settings.title.as_deref(), &draft.caption, TITLE_MAX)
}

/// Returns the caption, followed by the hashtag if it is requested and missing.
pub(super) fn description(draft: &Draft, settings: &Settings) -> String {
    let caption = draft.caption.as_str();
    let is_there = caption.to_lowercase().contains(&SHORTS.to_lowercase());
    match (settings.add_shorts_hashtag && !is_there, caption.is_empty()) {
        (true, true) => SHORTS.to_owned(),
        (true, false) => format!("{caption}\n\n{SHORTS}"),
        (false, _) => caption.to_owned(),
    }
}

/// Returns the length of tags as YouTube counts it: including commas, and quotes around each tag with a space.
pub(super) fn tags_length(tags: &[String]) -> usize {
    let length = |tag: &String| tag.chars().count() + if tag.contains(' ') { 2 } else { 0 };
    tags.iter().map(length).sum::<usize>() + tags.len().saturating_sub(1)
}

/// Returns the resource with which an upload starts.
pub(super) fn video(draft: &Draft, settings: &Settings) -> Value {
    let mut body = json!({
        "snippet": {
            "title": title(draft, settings),
            "description": description(draft, settings),
            "categoryId": settings.category_id.as_deref().unwrap_or(CATEGORY),
        },
        "status": {
            "privacyStatus": privacy(settings),
            "selfDeclaredMadeForKids": settings.self_declared_made_for_kids,
            "containsSyntheticMedia": is_ai_generated(draft),
        },
        "paidProductPlacementDetails": {
            "hasPaidProductPlacement": settings.brand_partner.is_some(),
        },
    });
    if !settings.tags.is_empty() {
        body["snippet"]["tags"] = json!(settings.tags);
    }
    body
}

/// Returns the audience that was asked for.
pub(super) fn privacy(settings: &Settings) -> &str {
    settings.privacy_status.as_deref().unwrap_or("public")
}
