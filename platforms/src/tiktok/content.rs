//! The content of a post. Pure.

use serde_json::{Value, json};

use super::{
    client::Creator,
    settings::{PRIVACY, Settings},
    state::CHUNK,
};
use crate::{Draft, Error, Media, Result};

/// Returns true if the post is a video.
pub(super) fn is_video(draft: &Draft) -> bool {
    draft.media.first().is_some_and(Media::is_video)
}

/// Returns the audience of the post: as requested, else the widest that the creator's account offers.
pub(super) fn privacy<'a>(settings: &'a Settings, creator: &Creator) -> &'a str {
    let offered = |level: &&&str| creator.privacy_level_options.iter().any(|one| one == **level);
    let widest = || PRIVACY.iter().find(offered).copied().unwrap_or("SELF_ONLY");
    settings.privacy_level.as_deref().unwrap_or_else(widest)
}

/// Checks what TikTok would refuse only after an upload.
pub(super) fn fits(draft: &Draft, settings: &Settings, creator: &Creator) -> Result<()> {
    let level = privacy(settings, creator);
    if !creator.privacy_level_options.iter().any(|one| one == level) {
        let offered = creator.privacy_level_options.join(", ");
        let message = format!("The creator's account does not offer the privacy_level {level}.");
        return Err(Error::rejected(message).with_remedy(format!("Use one of: {offered}.")));
    }
    let most = creator.max_video_post_duration_sec.saturating_mul(1_000);
    let long = draft.media.first().and_then(|media| media.duration_ms);
    if is_video(draft) && most > 0 && long.is_some_and(|long| long > most) {
        let message =
            format!("TikTok lets this creator post videos of at most {} seconds.", most / 1_000);
        return Err(Error::media_rejected(message).with_remedy("Shorten the video."));
    }
    Ok(())
}

/// Returns the body that initializes a video.
pub(super) fn video(
    draft: &Draft,
    settings: &Settings,
    creator: &Creator,
    size: u64,
    chunks: u64,
) -> Value {
    let title = if draft.caption.is_empty() { settings.title.as_deref() } else { None };
    let mut info = shared(settings, creator);
    info["title"] = json!(title.unwrap_or(&draft.caption));
    info["disable_duet"] = json!(settings.disable_duet || creator.duet_disabled);
    info["disable_stitch"] = json!(settings.disable_stitch || creator.stitch_disabled);
    info["is_aigc"] = json!(settings.is_aigc());
    if let Some(at) = settings.video_cover_timestamp_ms {
        info["video_cover_timestamp_ms"] = json!(at);
    }
    let chunk_size = if chunks == 1 { size } else { CHUNK };
    json!({"post_info": info, "source_info": {
        "source": "FILE_UPLOAD",
        "video_size": size,
        "chunk_size": chunk_size,
        "total_chunk_count": chunks,
    }})
}

/// Returns the body that creates a slideshow.
pub(super) fn photos(draft: &Draft, settings: &Settings, creator: &Creator) -> Value {
    let mut info = shared(settings, creator);
    info["description"] = json!(draft.caption);
    info["auto_add_music"] = json!(settings.auto_add_music);
    if let Some(title) = &settings.title {
        info["title"] = json!(title);
    }
    let images: Vec<&str> = draft.media.iter().map(|media| media.url.as_str()).collect();
    json!({"media_type": "PHOTO", "post_mode": "DIRECT_POST", "post_info": info, "source_info": {
        "source": "PULL_FROM_URL",
        "photo_cover_index": settings.photo_cover_index.unwrap_or(0),
        "photo_images": images,
    }})
}

fn shared(settings: &Settings, creator: &Creator) -> Value {
    json!({
        "privacy_level": privacy(settings, creator),
        "disable_comment": settings.disable_comment || creator.comment_disabled,
        "brand_content_toggle": settings.brand_content_toggle,
        "brand_organic_toggle": settings.brand_organic_toggle,
    })
}
