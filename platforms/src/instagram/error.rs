//! Instagram's own errors, in the envelope of [`graph`], and the reasons of failed containers.

use std::time::Duration;

use fanfare_outbound::Reply;

use super::{LABEL, client};
use crate::{
    Error,
    graph::{self, ErrorDetails},
};

/// The error code of a container that is not processed yet.
const NOT_READY: u64 = 2_207_027;

/// Converts a response that is not a success into an error.
pub(super) fn parse_error(reply: &Reply) -> Error {
    graph::classify_error(LABEL, reply, specific_error)
}

/// Converts the errors that only Instagram has. A code alone can mislead: 4 is a rate limit, and 4 with 2207051 a block
/// for spam.
fn specific_error(reply: &Reply, words: &ErrorDetails) -> Option<Error> {
    if let Some(error) = words.error_subcode.and_then(error_of_subcode) {
        return Some(error);
    }
    if words.error_subcode == Some(33) || words.mentions("not an instagram business") {
        return Some(
            Error::reconnect("Instagram no longer lets the app see this account.")
                .with_remedy("Link the account to its Facebook page again, then connect it again."),
        );
    }
    match words.code? {
        9 => Some(
            graph::quota_exhausted(LABEL, reply).with_retry_after(Some(Duration::from_secs(3_600))),
        ),
        25 => error_of_subcode(2_207_050),
        9_004 => error_of_subcode(2_207_052),
        9_007 => error_of_subcode(NOT_READY),
        36_000 => error_of_subcode(2_207_004),
        36_001 | 36_003 => error_of_subcode(2_207_009),
        _ => None,
    }
}

/// Converts the subcode of a reason, from an error or a status.
fn error_of_subcode(number: u64) -> Option<Error> {
    account_error(number).or_else(|| media_error(number)).or_else(|| content_error(number))
}

fn account_error(number: u64) -> Option<Error> {
    Some(match number {
        2_207_042 => client::quota_exhausted(),
        2_207_050 => Error::restricted("Instagram restricts this account.")
            .with_remedy("Open the Instagram app with this account and follow what it asks for."),
        2_207_081 => Error::rejected("Instagram does not let this account make trial reels.")
            .with_remedy("Leave out is_trial_reel."),
        2_207_001 | 2_207_051 => Error::rejected("Instagram takes the post for spam.")
            .with_remedy("Look at the account on Instagram before anything else is posted there.")
            .left_open(),
        2_207_003 | 2_207_032 | 2_207_053 | 2_207_082 => {
            Error::transient("Instagram could not take the file for the moment.")
        }
        NOT_READY => Error::transient("Instagram is still working on the post."),
        2_207_006 | 2_207_008 | 2_207_020 => {
            Error::transient("Instagram no longer has the prepared post.")
        }
        _ => return None,
    })
}

fn media_error(number: u64) -> Option<Error> {
    let said = match number {
        2_207_004 => "The image is too large for Instagram.",
        2_207_005 => "Instagram takes JPEG images only.",
        2_207_009 => "Instagram does not take an image of this shape or size.",
        2_207_023 => "Instagram does not know the type of the file.",
        2_207_026 => "Instagram does not take a video of this format.",
        2_207_052 | 2_207_077 => {
            let error = Error::media_rejected("Instagram could not fetch a media file.");
            let remedy = "The file must be reachable from the internet without a login.";
            return Some(error.with_remedy(remedy));
        }
        _ => return None,
    };
    Some(Error::media_rejected(said))
}

fn content_error(number: u64) -> Option<Error> {
    Some(Error::rejected(match number {
        2_207_010 => "The caption is too long for Instagram.",
        2_207_028 => "Instagram takes 2 to 10 files in a carousel.",
        2_207_035..=2_207_040 => "Instagram does not take one of the tags or mentions.",
        2_207_057 => "Instagram does not take this cover.",
        _ => return None,
    }))
}

/// Returns true if the container is just not ready yet.
pub(super) fn is_not_ready(error: &Error) -> bool {
    let code = error.reply.as_ref().and_then(|reply| reply.code.as_deref()).unwrap_or_default();
    code.split('/').any(|part| part == "9007" || part == "2207027")
}

/// Returns true if Instagram does not find the container that was to be published.
pub(super) fn is_lost(error: &Error) -> bool {
    let code = error.reply.as_ref().and_then(|reply| reply.code.as_deref()).unwrap_or_default();
    error.is_not_found()
        || code.split('/').any(|part| matches!(part, "2207006" | "2207008" | "2207020"))
}

/// Returns the error of a container that Instagram could not process; `said` contains the subcode of the reason.
pub(super) fn failed_container(said: &str) -> Error {
    let numbers = said.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
    let known = numbers.into_iter().find_map(error_of_subcode);
    let other = || match said {
        "EXPIRED" => Error::transient("The prepared post expired before it was published."),
        _ => Error::media_rejected("Instagram could not process the post."),
    };
    known.unwrap_or_else(other).with_reply(200, None, Some(said))
}
