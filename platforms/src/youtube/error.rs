//! YouTube's errors, beside those shared by Google's networks.

use std::time::Duration;

use chrono::{DateTime, NaiveTime, TimeZone, Utc};
use chrono_tz::America::Los_Angeles;
use fanfare_outbound::Reply;

use crate::{
    Error, ErrorKind, Session,
    google::{self, ErrorDetails},
};

/// The period of a channel's upload limit: about a day.
const DAY: Duration = Duration::from_secs(86_400);

/// Converts a response that is not a success into an error.
pub(super) fn parse_error(session: &Session, reply: &Reply) -> Error {
    google::classify_error("YouTube", session, reply, specific_error)
}

fn specific_error(session: &Session, words: &ErrorDetails) -> Option<Error> {
    Some(match words.reason() {
        "quotaExceeded" | "dailyLimitExceeded" => Error::new(
            ErrorKind::QuotaExhausted,
            "This service has used up what YouTube lets it do in a day.",
        )
        .app_wide()
        .with_retry_after(Some(until_midnight(session.now))),
        "uploadLimitExceeded" => Error::new(
            ErrorKind::QuotaExhausted,
            "The channel has uploaded as much as it may in a day.",
        )
        .with_retry_after(Some(DAY)),
        "youtubeSignupRequired" => Error::target_gone("The Google account has no channel.")
            .with_remedy("Create a channel on YouTube, then connect the account again."),
        "invalidTitle" => refused("title", "Change settings.title."),
        "invalidDescription" => refused("description", "Change the caption."),
        "invalidTags" => refused("tags", "Change settings.tags."),
        "invalidCategoryId" => refused("category", "Use the number of an assignable category."),
        "invalidVideoMetadata"
        | "invalidPublishAt"
        | "invalidRecordingDetails"
        | "invalidVideoGameRating"
        | "defaultLanguageNotSet"
        | "forbiddenLicenseSetting"
        | "forbiddenPrivacySetting" => refused("particulars of the video", "Change the settings."),
        "mediaBodyRequired" | "invalidFilename" => {
            Error::media_rejected("YouTube did not take the file.")
                .with_remedy("Use an MP4, MOV or WebM.")
        }
        _ => return None,
    })
}

fn refused(what: &str, remedy: &str) -> Error {
    Error::rejected(format!("YouTube does not accept the {what}.")).with_remedy(remedy)
}

/// Returns the time until midnight in California, when quotas reset.
pub(super) fn until_midnight(now: DateTime<Utc>) -> Duration {
    let next = now.with_timezone(&Los_Angeles).date_naive().succ_opt();
    let next = next.map(|day| day.and_time(NaiveTime::MIN));
    let next = next.and_then(|next| Los_Angeles.from_local_datetime(&next).earliest());
    next.and_then(|next| (next.to_utc() - now).to_std().ok()).unwrap_or(DAY)
}

/// Returns true if the upload address no longer exists.
pub(super) fn is_gone(error: &Error) -> bool {
    error.reply.as_ref().is_some_and(|reply| matches!(reply.status, 404 | 410))
}

/// Returns true if the chunk does not continue the bytes that have arrived.
pub(super) fn is_misplaced(error: &Error) -> bool {
    error.reply.as_ref().is_some_and(|reply| matches!(reply.status, 400 | 416))
}

/// Returns the error of a video that YouTube rejected.
pub(super) fn failed(reason: &str) -> Error {
    let error = match reason {
        "duplicate" => Error::rejected("YouTube has this video already and rejects it.")
            .with_remedy("Look at the channel; post another video."),
        "length" => Error::media_rejected(
            "The video is longer than YouTube takes of this channel.",
        )
        .with_remedy(
            "Verify the channel by phone, which allows more than 15 minutes, or shorten the video.",
        ),
        "codec" | "conversion" | "emptyFile" | "invalidFile" | "tooSmall" => {
            Error::media_rejected(format!("YouTube cannot process the video: {reason}."))
                .with_remedy("Use an MP4 with H.264 and AAC.")
        }
        "uploadAborted" => Error::transient("YouTube lost the upload."),
        _ => Error::rejected(format!("YouTube rejects the video: {reason}."))
            .with_remedy("Open YouTube Studio, where the reason is explained."),
    };
    error.with_reply(200, Some(reason), None)
}
