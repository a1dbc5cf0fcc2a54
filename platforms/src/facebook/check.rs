//! Rules that the descriptor cannot express, and warnings.

use serde_json::Value;

use super::{COVER_PHOTO, Form, REEL, STORY, settings::Settings, shape};
use crate::{
    Draft, Violation, Warning, WarningCode,
    settings::{AI_DISCLOSURE, AI_GENERATED},
    text,
};

/// Longest text on a coloured background.
const COLOURED_MAX: usize = 130;

/// Returns the violations of rules that the descriptor cannot express.
pub(super) fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let form = Form::of(draft);
    let is_text = form == Form::Feed && draft.media.is_empty();
    // A file whose type is not known yet may be a video.
    let has_video = matches!(form, Form::Video | Form::Reel)
        || (form == Form::Feed && draft.media.iter().any(|media| media.mime.is_empty()));
    let placed = [
        ("link", settings.link.is_some(), is_text, "a feed post without media"),
        (
            "text_format_preset_id",
            settings.text_format_preset_id.is_some(),
            is_text,
            "a feed post without media",
        ),
        ("title", settings.title.is_some(), has_video, "a video or reel"),
        ("reel_cover_url", settings.reel_cover_url.is_some(), draft.post_type == REEL, "a reel"),
        ("offset_y", settings.offset_y.is_some(), form == Form::CoverPhoto, "a cover photo"),
        ("no_feed_story", settings.no_feed_story, form == Form::CoverPhoto, "a cover photo"),
    ];
    let misplaced = placed.iter().filter(|(_, given, fits, _)| *given && !fits);
    let mut found: Vec<_> = misplaced
        .map(|(name, _, _, place)| {
            let message = format!("{name} needs {place}.");
            invalid(name, message, &format!("Leave out {name}, or make the post {place}."))
        })
        .collect();
    if is_text {
        found.extend(coloured(draft, &settings));
    }
    found.extend(shape::violation(draft));
    found
}

fn coloured(draft: &Draft, settings: &Settings) -> Vec<Violation> {
    const NAME: &str = "text_format_preset_id";
    if settings.text_format_preset_id.is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    if settings.link.is_some() {
        let message = "A text on a coloured background takes no link.".to_owned();
        found.push(invalid(NAME, message, "Keep either the background or the link."));
    }
    let length = draft.caption.chars().count();
    if text::is_blank(&draft.caption) || length > COLOURED_MAX {
        let message = format!(
            "A text on a coloured background has 1 to {COLOURED_MAX} characters, not {length}."
        );
        let remedy = format!(
            "Write a text of up to {COLOURED_MAX} characters, or leave out the background."
        );
        let broken = invalid(NAME, message, &remedy).with_limit(COLOURED_MAX, length);
        found.push(broken.in_unit("characters"));
    }
    found
}

fn invalid(name: &str, message: String, remedy: &str) -> Violation {
    Violation::new(format!("settings.{name}"), "setting_invalid", message, remedy)
}

/// Returns warnings about values without effect.
pub(super) fn warnings(draft: &Draft) -> Vec<Warning> {
    let mut found = Vec::new();
    let is_silent = [STORY, COVER_PHOTO].contains(&draft.post_type.as_str());
    if is_silent && !text::is_blank(&draft.caption) {
        let message =
            "Facebook shows no text with a story or a cover photo: the caption is not published.";
        let warning = Warning::new(WarningCode::NoEffect, "caption", message);
        found.push(warning.because("post_type"));
    }
    if let Ok(settings) = draft.settings::<Settings>() {
        let unused = [
            ("settings.reel_thumb_offset", settings.reel_thumb_offset.is_some()),
            ("settings.reel_cover_method", settings.reel_cover_method.is_some()),
        ];
        for (field, _) in unused.into_iter().filter(|(_, given)| *given) {
            let message = "Facebook takes an image as the cover of a reel, in reel_cover_url: this has no effect.";
            found.push(Warning::new(WarningCode::NoEffect, field, message));
        }
    }
    if !form_has_label(draft) {
        let asked = [AI_GENERATED, AI_DISCLOSURE].into_iter();
        let asked = asked.filter(|one| draft.settings.get(one.name) == Some(&Value::Bool(true)));
        let message = "Facebook takes the label for AI with videos only: this has no effect here.";
        found.extend(asked.map(|one| {
            let field = format!("settings.{}", one.name);
            Warning::new(WarningCode::SettingNotApplied, field, message).because("media_urls")
        }));
    }
    let described = draft.settings::<Settings>().is_ok_and(|it| !it.media_alt_texts.is_empty());
    if described && draft.media.iter().any(crate::Media::is_video) {
        let message = "Facebook takes alt texts of photos only: that of a video is not published.";
        let field = "settings.media_alt_texts";
        let warning = Warning::new(WarningCode::PartlyIgnored, field, message);
        found.push(warning.because("media_urls"));
    }
    found
}

/// Returns true if Facebook takes the label for AI with such a post. A file of unknown type may be a video.
fn form_has_label(draft: &Draft) -> bool {
    Form::of(draft).has_video() || draft.media.iter().any(|media| media.mime.is_empty())
}
