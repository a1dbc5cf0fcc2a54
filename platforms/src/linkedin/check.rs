//! Rules that the descriptor cannot express.

use serde_json::json;

use super::{PIXELS_MAX, settings::Settings};
use crate::{Draft, Media, Violation, Warning, WarningCode};

/// Returns the violations of rules that the descriptor cannot express.
pub(super) fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut found = Vec::new();
    found.extend(poll(draft, &settings));
    found.extend(call_to_action(&settings));
    found.extend(video(draft, &settings));
    found.extend(mentions(&settings));
    found.extend(pixels(draft));
    found
}

/// Returns warnings about values without effect.
pub(super) fn warnings(draft: &Draft) -> Vec<Warning> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let image = draft.media.iter().any(Media::is_image);
    let rules = [
        (
            settings.title.is_some() && settings.filename.is_some(),
            "settings.filename",
            "LinkedIn shows no file name: beside a title it has no effect.",
        ),
        (
            settings.title.is_some() && (draft.media.is_empty() || image),
            "settings.title",
            "LinkedIn shows a title on documents and videos only: it has no effect here.",
        ),
        (
            !settings.media_alt_texts.is_empty() && !draft.media.is_empty() && !image,
            "settings.media_alt_texts",
            "LinkedIn takes descriptions of images only: they have no effect here.",
        ),
    ];
    let told = rules.into_iter().filter(|(applies, ..)| *applies);
    let warning = |(_, field, message)| {
        let cause = if field == "settings.filename" { "settings.title" } else { "media_urls" };
        Warning::new(WarningCode::NoEffect, field, message).because(cause)
    };
    told.map(warning).collect()
}

fn poll(draft: &Draft, settings: &Settings) -> Option<Violation> {
    (settings.poll.is_some() && !draft.media.is_empty()).then(|| {
        invalid(
            "poll",
            "LinkedIn takes no media beside a poll.",
            "Leave out the poll or the media.",
        )
    })
}

fn call_to_action(settings: &Settings) -> Option<Violation> {
    let (given, missing) =
        match (&settings.content_call_to_action_label, &settings.content_landing_page) {
            (Some(_), None) => ("content_call_to_action_label", "content_landing_page"),
            (None, Some(_)) => ("content_landing_page", "content_call_to_action_label"),
            _ => return None,
        };
    Some(Violation::new(
        format!("settings.{missing}"),
        "setting_required",
        format!("{given} has no effect without {missing}."),
        format!("Give {missing} too, or leave out {given}."),
    ))
}

fn video(draft: &Draft, settings: &Settings) -> Option<Violation> {
    let video = draft.media.iter().any(|media| media.is_video() || media.mime.is_empty());
    (settings.thumbnail_url.is_some() && !video).then(|| {
        invalid("thumbnail_url", "Only a video has a thumbnail.", "Leave out thumbnail_url.")
    })
}

fn mentions(settings: &Settings) -> Vec<Violation> {
    let flawed = settings.mentions.iter().enumerate().filter(|(_, mention)| {
        let is_urn = |urn: &String| {
            let id = urn.strip_prefix("urn:li:organization:");
            id.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
        };
        match (&mention.urn, &mention.vanity_name) {
            (Some(urn), None) => !is_urn(urn),
            (None, Some(_)) => false,
            _ => true,
        }
    });
    flawed
        .map(|(index, _)| {
            invalid(
                &format!("mentions[{index}]"),
                "A mention names an organization either by urn or by vanity_name.",
                "Give one of them; a URN looks like urn:li:organization:2414183.",
            )
        })
        .collect()
}

fn pixels(draft: &Draft) -> Vec<Violation> {
    let sized = draft.media.iter().enumerate().filter(|(_, media)| media.is_image());
    let counted = sized.filter_map(|(index, media)| {
        let (width, height) = media.dimensions?;
        Some((index, u64::from(width) * u64::from(height)))
    });
    counted
        .filter(|(_, pixels)| *pixels > PIXELS_MAX)
        .map(|(index, pixels)| {
            Violation::new(
                format!("media_urls[{index}]"),
                "media_too_large",
                format!("The image has {pixels} pixels; linkedin allows {PIXELS_MAX}."),
                "Make the image smaller.",
            )
            .with_limit(json!(PIXELS_MAX), pixels)
            .in_unit("pixels")
        })
        .collect()
}

fn invalid(name: &str, message: &str, remedy: &str) -> Violation {
    Violation::new(format!("settings.{name}"), "setting_invalid", message, remedy)
}
