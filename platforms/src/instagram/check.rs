//! Rules that the descriptor cannot express, and warnings.

use super::{Form, settings::Settings};
use crate::{Account, Draft, Media, Violation, Warning, WarningCode, text};

/// Most hashtags and mentions of a caption,
/// <https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media>.
const HASHTAGS_MAX: usize = 30;
const MENTIONS_MAX: usize = 20;

/// The number of hashtags from which on some say that Instagram refuses or hides posts.
const HASHTAGS_USUAL: usize = 5;

/// The public fact that shows that an account's Instagram id comes from a page.
pub(super) const BUSINESS_ID: &str = "instagram_business_account_id";

/// Returns the violations of rules that the descriptor cannot express.
pub(super) fn check(draft: &Draft) -> Vec<Violation> {
    let mut found = marks(draft);
    found.extend(containers(draft));
    let Ok(settings) = draft.settings::<Settings>() else { return found };
    found.extend(misplaced(draft, &settings));
    found.extend(tags(draft, &settings));
    found.extend(addons(draft, &settings));
    found
}

/// Checks a poll and a prompt: one of them, with a caption, and not in a story.
fn addons(draft: &Draft, settings: &Settings) -> Option<Violation> {
    let name = settings.addon()?.setting();
    let (message, remedy) = if settings.poll.is_some() && settings.comment_prompt {
        ("Instagram takes a poll or a comment prompt, not both.", "Leave out one of them.")
    } else if Form::of(draft) == Form::Story {
        ("A story takes neither a poll nor a comment prompt.", "Leave it out.")
    } else if text::is_blank(&draft.caption) {
        ("The caption is the question, and there is none.", "Write a caption.")
    } else {
        return None;
    };
    Some(Violation::new(format!("settings.{name}"), "setting_invalid", message, remedy))
}

/// Returns the violation of an account that cannot be posted to.
pub(super) fn lacks(account: &Account) -> Option<Violation> {
    account.meta_str(BUSINESS_ID).is_none().then(|| {
        let message = "The Instagram account is no longer known as a page's professional account.";
        let remedy = "Link it to a Facebook page and connect it again.";
        Violation::new("account_id", "missing_instagram_business_account_id", message, remedy)
    })
}

fn marks(draft: &Draft) -> Vec<Violation> {
    let counted = [
        ('#', HASHTAGS_MAX, "caption_too_many_hashtags", "hashtags"),
        ('@', MENTIONS_MAX, "caption_too_many_mentions", "mentions"),
    ];
    let over = |(sign, limit, code, what): (char, usize, &'static str, &'static str)| {
        let actual = count(&draft.caption, sign);
        (actual > limit).then(|| {
            let message = format!("The caption has {actual} {what}; instagram allows {limit}.");
            let remedy = format!("Keep at most {limit} {what}.");
            let broken = Violation::new("caption", code, message, remedy);
            broken.with_limit(limit, actual).in_unit(what)
        })
    };
    counted.into_iter().filter_map(over).collect()
}

/// Returns how many words begin with `sign`.
fn count(text: &str, sign: char) -> usize {
    let begins = |(at, _): &(usize, &str)| {
        let rest = text[at + sign.len_utf8()..].chars().next();
        rest.is_some_and(|next| next.is_alphanumeric() || next == '_')
    };
    text.match_indices(sign).filter(begins).count()
}

/// Checks for videos that cannot be converted to what Instagram accepts.
fn containers(draft: &Draft) -> Vec<Violation> {
    let is_foreign = |media: &Media| {
        let path = media.url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
        ["video/x-msvideo", "video/avi", "video/x-matroska"].contains(&media.mime.as_str())
            || path.ends_with(".avi")
            || path.ends_with(".mkv")
    };
    let all = draft.media.iter().enumerate();
    all.filter(|(_, media)| is_foreign(media))
        .map(|(index, _)| {
            Violation::new(
                format!("media_urls[{index}]"),
                "instagram_video_unsupported_container",
                "Instagram takes no .avi and .mkv video.",
                "Send it as .mp4, .mov, .webm or .m4v.",
            )
        })
        .collect()
}

fn misplaced(draft: &Draft, settings: &Settings) -> Vec<Violation> {
    let form = Form::of(draft);
    // A file of unknown type may be a video, which becomes a reel.
    let unknown = form == Form::Image && draft.media.iter().any(|media| media.mime.is_empty());
    let (reel, lasting) = (form == Form::Reel || unknown, form != Form::Story);
    let placed = [
        ("first_comment", settings.first_comment.is_some(), lasting, "a post that is no story"),
        ("collaborators", !settings.collaborators.is_empty(), lasting, "a post that is no story"),
        ("companion_story", settings.companion_story, lasting, "a post that is no story"),
        ("reel_cover_url", settings.reel_cover_url.is_some(), reel, "a reel"),
        ("is_trial_reel", settings.is_trial_reel, reel, "a reel"),
        ("audio_id", settings.audio_id.is_some(), reel, "a reel"),
        (
            "graduation_strategy",
            settings.graduation_strategy.is_some(),
            settings.is_trial_reel,
            "a trial reel",
        ),
    ];
    let wrong = placed.iter().filter(|(_, given, fits, _)| *given && !fits);
    wrong
        .map(|(name, _, _, place)| {
            let message = format!("{name} needs {place}.");
            let remedy = format!("Leave out {name}, or make the post {place}.");
            Violation::new(format!("settings.{name}"), "setting_invalid", message, remedy)
        })
        .collect()
}

fn tags(draft: &Draft, settings: &Settings) -> Vec<Violation> {
    let in_image = draft.media.first().is_some_and(Media::is_image);
    let placeless = settings.user_tags.iter().enumerate();
    placeless
        .filter(|(_, tag)| in_image && (tag.x.is_none() || tag.y.is_none()))
        .map(|(index, _)| {
            let message = "A tag in an image needs a place.";
            let field = format!("settings.user_tags[{index}]");
            Violation::new(field, "setting_invalid", message, "Give x and y, each from 0 to 1.")
        })
        .collect()
}

/// Returns warnings about values without effect.
pub(super) fn warnings(draft: &Draft) -> Vec<Warning> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut found: Vec<_> = many_hashtags(draft).into_iter().collect();
    if settings.reel_cover_method.is_some() {
        let message = "The cover follows from reel_cover_url or reel_thumb_offset: reel_cover_method has no effect.";
        found.push(Warning::new(WarningCode::NoEffect, "settings.reel_cover_method", message));
    }
    let mut warn = |code, field: &str, message: &str, cause: &str| {
        found.push(Warning::new(code, field, message).because(cause));
    };
    if Form::of(draft) == Form::Story && !text::is_blank(&draft.caption) {
        let message = "Instagram shows no text with a story: the caption is not published.";
        warn(WarningCode::NoEffect, "caption", message, "post_type");
    }
    let unused = if settings.reel_cover_url.is_some() {
        Some("Instagram shows the image of reel_cover_url: reel_thumb_offset has no effect.")
    } else {
        let is_reel = Form::of(draft) == Form::Reel;
        (!is_reel).then_some("Only a reel has a cover: reel_thumb_offset has no effect.")
    };
    let unused = unused.filter(|_| settings.reel_thumb_offset.is_some());
    if let Some(message) = unused {
        let cause =
            if settings.reel_cover_url.is_some() { "settings.reel_cover_url" } else { "post_type" };
        warn(WarningCode::NoEffect, "settings.reel_thumb_offset", message, cause);
    }
    if settings.is_trial_reel && !settings.collaborators.is_empty() {
        let message = "Instagram takes no collaborators with a trial reel: they are not sent.";
        let cause = "settings.is_trial_reel";
        warn(WarningCode::NoEffect, "settings.collaborators", message, cause);
    }
    if !settings.media_alt_texts.is_empty() && draft.media.iter().any(Media::is_video) {
        let message = "Instagram takes alt texts of images only: that of a video is not published.";
        let field = "settings.media_alt_texts";
        warn(WarningCode::PartlyIgnored, field, message, "media_urls");
    }
    let tagless = !settings.user_tags.is_empty()
        && draft.media.len() > 1
        && draft.media.first().is_some_and(Media::is_video);
    if tagless {
        let message = "Instagram takes tags in the images of a carousel only: those of a video are not published.";
        warn(WarningCode::PartlyIgnored, "settings.user_tags", message, "media_urls");
    }
    found
}

/// Warns of more hashtags than some say that Instagram takes.
fn many_hashtags(draft: &Draft) -> Option<Warning> {
    let hashtags = count(&draft.caption, '#');
    (hashtags > HASHTAGS_USUAL && Form::of(draft) != Form::Story).then(|| {
        let message =
            "Resellers say that Instagram takes five hashtags at most; its own pages say 30.";
        Warning::new(WarningCode::ManyHashtags, "caption", message).with_limit(
            HASHTAGS_USUAL,
            hashtags,
            "hashtags",
        )
    })
}
