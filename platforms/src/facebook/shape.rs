//! The shape of videos: upright ones are reels. As other videos Facebook keeps them as drafts
//! (<https://github.com/gitroomhq/postiz-app/pull/1740>).

use super::{REEL, SPEC};
use crate::{Draft, Media, MediaRules, Violation, validate::Fix};

/// Returns true if a video of the feed is published as a reel: it is upright, and a reel without a change.
pub(super) fn is_taken_as_reel(media: &Media) -> bool {
    let Some(rules) = reel_rules() else { return false };
    let is_of_type = rules.video_types.contains(&media.mime.as_str());
    let rate = media.video.as_ref().and_then(|video| video.frame_rate);
    let is_timely = rate.is_none_or(|rate| {
        rules.video_forms.iter().any(|form| {
            let (fewest, most) = form.frame_rate;
            (fewest..=most).contains(&rate)
        })
    });
    is_upright(media) && is_of_type && is_timely && has_length(media, rules)
}

/// Returns the violation of an upright video that is no reel as it is.
pub(super) fn violation(draft: &Draft) -> Option<Violation> {
    let media = draft.media.first().filter(|media| media.is_video() && is_upright(media))?;
    if draft.post_type != "feed" || is_taken_as_reel(media) {
        return None;
    }
    let message =
        "Facebook keeps an upright video in the feed as a draft; upright videos are reels.";
    let refused = |remedy: &str| Violation::new("media_urls[0]", "media_invalid", message, remedy);
    if has_length(media, reel_rules()?) {
        let refused = refused("Make the post a reel: set post_type to \"reel\".");
        return Some(refused.with_fix([Fix::add("post_type", REEL)]));
    }
    Some(refused(
        "Cut the video to 3 to 90 s and set post_type to \"reel\", or use a video that is not upright.",
    ))
}

fn is_upright(media: &Media) -> bool {
    media.dimensions.is_some_and(|(width, height)| height > width)
}

/// Returns true if a video may be as long as a reel; an unknown length passes.
fn has_length(media: &Media, rules: MediaRules) -> bool {
    let least = rules.frame.video_ms_min.unwrap_or(0);
    let most = rules.video_ms_max.unwrap_or(u64::MAX);
    media.duration_ms.is_none_or(|length| (least..=most).contains(&length))
}

fn reel_rules() -> Option<MediaRules> {
    SPEC.post_types.iter().find(|kind| kind.name == REEL)?.media
}
