//! The content of a video when its upload begins. Pure.

use serde_json::{Value, json};

use super::{TITLE_MAX, settings::Settings};
use crate::{Draft, article, settings::is_ai_generated};

/// People and blogs, the category that YouTube gives by itself.
const CATEGORY: &str = "22";
const SHORTS: &str = "#Shorts";

/// The title: as given, else from the caption.
pub(super) fn title(draft: &Draft, settings: &Settings) -> String {
    article::title(settings.title.as_deref(), &draft.caption, TITLE_MAX)
}

/// The caption, and the hashtag below it if it is asked for and not there.
pub(super) fn description(draft: &Draft, settings: &Settings) -> String {
    let caption = draft.caption.as_str();
    let is_there = caption.to_lowercase().contains(&SHORTS.to_lowercase());
    match (settings.add_shorts_hashtag && !is_there, caption.is_empty()) {
        (true, true) => SHORTS.to_owned(),
        (true, false) => format!("{caption}\n\n{SHORTS}"),
        (false, _) => caption.to_owned(),
    }
}

/// Returns the length of tags as YouTube counts it: two more for the quotes of each that holds a space, and the commas
/// between.
pub(super) fn tags_length(tags: &[String]) -> usize {
    let length = |tag: &String| tag.chars().count() + if tag.contains(' ') { 2 } else { 0 };
    tags.iter().map(length).sum::<usize>() + tags.len().saturating_sub(1)
}

/// The resource that begins an upload.
pub(super) fn video(draft: &Draft, settings: &Settings) -> Value {
    let mut body = json!({
        "snippet": {
            "title": title(draft, settings),
            "description": description(draft, settings),
            "categoryId": settings.category_id.as_deref().unwrap_or(CATEGORY),
        },
        "status": {
            "privacyStatus": settings.privacy_status.as_deref().unwrap_or("public"),
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
