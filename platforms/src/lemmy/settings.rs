//! The `settings` of a Lemmy post.

use crate::{
    Draft, Shape, Violation, article,
    settings::{alt_texts, settings},
    text,
};

/// Longest alt text in characters.
pub const ALT_TEXT_MAX: usize = 1_500;
/// Shortest and longest title in characters.
pub const TITLE_MIN: usize = 3;
pub const TITLE_MAX: usize = 200;
/// Longest address.
const URL_MAX: usize = 2_000;

settings! {
    /// The settings of a post.
    Settings {
        /// The community to post in, as name@instance.
        required community: String = Shape::Id { min: 3, max: 255 },
        /// Title in one line; without it, the first line of the caption, which is left out of the text then.
        optional title: Option<String> = Shape::Text { min: TITLE_MIN, max: TITLE_MAX },
        /// Address that the post links to; the first image becomes its thumbnail.
        optional url: Option<String> = Shape::Url,
        /// Marks the post as not safe for work.
        optional nsfw: bool = Shape::Bool,
        /// Number of the language on the instance.
        optional language_id: Option<i64> = Shape::Integer { min: 0, max: 10_000 },
        /// Descriptions of the images for people who cannot see them, in the order of the images.
        optional media_alt_texts: Vec<String> = alt_texts!(ALT_TEXT_MAX, super::IMAGES_MAX),
    }
}

impl Settings {
    /// Returns the title, and the text without it.
    pub fn title_and_body<'a>(&self, caption: &'a str) -> (String, &'a str) {
        let title = article::title(self.title.as_deref(), caption, TITLE_MAX);
        if self.title.is_some() {
            return (title, caption);
        }
        // A first line that was too long for the title is repeated in the text.
        let (_, rest) = caption.trim_start().split_once('\n').unwrap_or((caption, ""));
        let body =
            if title.ends_with('…') { caption } else { rest.trim_start_matches(['\r', '\n']) };
        (title, body)
    }
}

/// Checks rules that the descriptor cannot express. The descriptor reports values of the wrong type.
pub fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut found = Vec::new();
    if !settings.community.is_empty() && !is_community(&settings.community) {
        let message = "community must be written as name@instance.";
        let remedy = "Write it like technology@lemmy.world, without ! before it.";
        found.push(Violation::new("settings.community", "setting_invalid", message, remedy));
    }
    let (title, _) = settings.title_and_body(&draft.caption);
    let is_empty = text::is_blank(&draft.caption) && draft.media.is_empty();
    if title.trim().chars().count() < TITLE_MIN && !is_empty {
        let message = format!("A post on Lemmy needs a title of at least {TITLE_MIN} characters.");
        let remedy = "Set settings.title, or write a longer first line; it becomes the title.";
        found.push(Violation::new("settings.title", "setting_required", message, remedy));
    }
    if title.contains(['\n', '\r']) {
        let message = "The title must be one line.";
        found.push(Violation::new(
            "settings.title",
            "setting_invalid",
            message,
            "Remove the line break.",
        ));
    }
    let length = settings.url.map_or(0, |url| url.chars().count());
    if length > URL_MAX {
        let message = format!("url has more than {URL_MAX} characters.");
        let remedy = "Use a shorter address.";
        let long = Violation::new("settings.url", "setting_invalid", message, remedy);
        found.push(long.with_limit(URL_MAX, length).in_unit("characters"));
    }
    found
}

fn is_community(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else { return false };
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_host = |c: char| c.is_alphanumeric() || "-.:".contains(c);
    is_name && !host.is_empty() && host.chars().all(is_host) && !host.starts_with(['.', '-', ':'])
}
