//! Threads' own errors, in the envelope of [`graph`].

use fanfare_outbound::Reply;

use crate::{
    Error,
    graph::{self, ErrorDetails},
};

/// The code for "container not found yet": it was created a moment ago and published too early.
const TOO_EARLY: u64 = 4_279_009;

/// Returns true if a container was published before Threads could find it.
pub(super) fn is_too_early(error: &Error) -> bool {
    let code = error.reply.as_ref().and_then(|reply| reply.code.as_deref()).unwrap_or_default();
    let wanted = TOO_EARLY.to_string();
    code.split('/').any(|part| part == wanted)
}

/// Converts a response that is not a success into an error.
pub(super) fn parse_error(reply: &Reply) -> Error {
    graph::classify_error("Threads", reply, specific_error)
}

/// Converts the errors that only Threads has. A code alone can mislead: 4 is a rate limit, and 4 with this subcode a
/// block for spam.
fn specific_error(reply: &Reply, words: &ErrorDetails) -> Option<Error> {
    Some(match words.error_subcode.or(words.code).unwrap_or(0) {
        2_207_051 => Error::rejected("Threads takes the post for spam.").left_open(),
        4_279_013 => Error::restricted("Threads restricts this account.")
            .with_remedy("Open the Threads app with this account and follow what it asks for."),
        2_207_042 => graph::quota_exhausted("Threads", reply),
        TOO_EARLY => Error::transient("Threads does not find the prepared post yet."),
        _ if words.code == Some(9) => graph::quota_exhausted("Threads", reply),
        _ if words.mentions("link_limit_exceeded") => {
            Error::rejected("The post has too many links for Threads.")
        }
        _ => return None,
    })
}

/// Returns the error of a container that Threads could not process; `reason` is a code or a sentence.
pub(super) fn failed_container(reason: &str) -> Error {
    let about_media = ["FAILED_DOWNLOADING", "FAILED_PROCESSING", "INVALID_"];
    let error = if about_media.iter().any(|start| reason.starts_with(start)) || fetch_failed(reason)
    {
        Error::media_rejected("Threads could not process a media file.")
    } else if reason == "EXPIRED" {
        Error::transient("The prepared post expired before it was published.")
    } else {
        // A reason that says nothing, `UNKNOWN` most of all.
        Error::rejected("Threads could not process the post, and does not say why.").with_remedy(
            "Check that each file plays and fits what Threads takes, and that the account can post in the app; then retry.",
        )
    };
    error.with_reply(200, None, Some(reason))
}

fn fetch_failed(reason: &str) -> bool {
    reason.to_ascii_lowercase().contains("could not be fetched")
}
