//! Facebook's own errors, in the envelope of [`graph`].

use std::time::Duration;

use fanfare_outbound::Reply;

use crate::{
    Error, ErrorKind,
    graph::{self, ErrorDetails},
};

use super::LABEL;

/// Codes for a duplicate of a recent post.
const DUPLICATE_CODES: [u64; 2] = [506, 1_366_051];

/// Subcodes about the file of a video, <https://developers.facebook.com/docs/video-api/reference/error-codes>.
const VIDEO_CODES: [u64; 8] =
    [1_363_020, 1_363_022, 1_363_023, 1_363_024, 1_363_025, 1_363_026, 1_363_031, 1_363_128];

/// Parts of messages of code 100 about a parameter.
const PARAMETER: [&str; 5] =
    ["param ", "parameter is required", "must be", "must have", "requires one of the params"];

/// The time for which a temporarily blocked page waits before it tries again; Facebook says only that it takes hours.
const BLOCKED: Duration = Duration::from_secs(3_600);

/// Converts a response that is not a success into an error.
pub(super) fn parse_error(reply: &Reply) -> Error {
    graph::classify_error(LABEL, reply, specific_error)
}

/// Converts the errors that only Facebook has.
fn specific_error(reply: &Reply, words: &ErrorDetails) -> Option<Error> {
    if words.has_code(&DUPLICATE_CODES) {
        return Some(Error::duplicate(LABEL));
    }
    if words.has_code(&[1_363_047, 1_609_010]) {
        return Some(Error::transient("Facebook could not do it for the moment."));
    }
    if words.has_code(&[21]) {
        return Some(moved(reply));
    }
    rate_limit_error(reply, words).or_else(|| account_error(words)).or_else(|| content_error(words))
}

/// Returns the error of a page that was merged into another one, whose id the message names
/// (<https://developers.facebook.com/docs/graph-api/guides/error-handling>, code 21).
fn moved(reply: &Reply) -> Error {
    let said = String::from_utf8_lossy(&reply.body);
    let named = said.split("migrated to page ID").nth(1).unwrap_or_default();
    let id: String = named.trim_start().chars().take_while(char::is_ascii_digit).collect();
    let now = if id.is_empty() { String::new() } else { format!("; it is now the page {id}") };
    Error::reconnect(format!("The page has moved on Facebook{now}."))
        .with_remedy("Connect the page that took its place, and schedule the post there.")
        .nothing_done()
}

fn rate_limit_error(reply: &Reply, words: &ErrorDetails) -> Option<Error> {
    let slow = || graph::rate_limited(LABEL, reply);
    if words.has_code(&[368]) {
        let error = slow();
        let after = error.retry_after.unwrap_or(BLOCKED);
        return Some(error.with_retry_after(Some(after)));
    }
    words.has_code(&[1_390_008]).then(slow)
}

/// Converts errors that the user has to resolve first.
fn account_error(words: &ErrorDetails) -> Option<Error> {
    let (kind, message, remedy) = if words.has_code(&[1_404_078]) {
        (
            ErrorKind::Restricted,
            "Facebook wants Page Publishing Authorization for this page.",
            "Complete it in the page's settings, then connect the account again.",
        )
    } else if words.has_code(&[4_854_002, 1_404_006]) {
        (
            ErrorKind::Restricted,
            "Facebook wants to know who runs this page.",
            "Open Facebook with an account that runs the page and follow what it asks for.",
        )
    } else if words.has_code(&[1_404_112]) {
        (
            ErrorKind::Restricted,
            "Facebook limits what this account may post.",
            "Look at the page's status on Facebook; retry once the limit is lifted.",
        )
    } else if words.code == Some(100) && words.mentions("permission to publish") {
        (
            ErrorKind::PermissionMissing,
            "Facebook does not let the app publish videos on this page.",
            "Give the person who connected it full control of the page, then connect it again.",
        )
    } else {
        return None;
    };
    Some(Error::new(kind, message).with_remedy(remedy))
}

fn content_error(words: &ErrorDetails) -> Option<Error> {
    Some(if words.has_code(&[1_346_003]) {
        Error::rejected("Facebook takes the post for abusive.")
    } else if words.has_code(&[1_404_102]) {
        Error::rejected("Facebook says that the post goes against its standards.")
    } else if words.has_code(&[1_609_008]) {
        Error::rejected("Facebook takes no links to itself here.")
    } else if words.has_code(&[2_061_006]) {
        Error::rejected("Facebook does not take this link.")
            .with_remedy("Check that the link opens for anybody, or leave it out.")
    } else if words.has_code(&[1_349_125, 2_069_019]) {
        Error::media_rejected("Facebook does not take a file of this format.")
    } else if words.has_code(&[324, 352]) || words.has_code(&VIDEO_CODES) {
        Error::media_rejected("Facebook cannot read a file, or does not take it.")
    } else if words.has_code(&[1_366_046]) {
        Error::media_rejected("The photo is too large for Facebook.")
            .with_remedy("Use a photo of up to 4 MB.")
    } else if words.mentions("name parameter too long") {
        Error::rejected("The title is too long for Facebook.").with_remedy("Shorten the title.")
    } else if words.has_code(&[1_500]) {
        Error::rejected("Facebook does not take an address of the post.")
            .with_remedy("Check that the link opens for anybody, or leave it out.")
    } else if words.code == Some(100) && PARAMETER.iter().any(|part| words.mentions(part)) {
        // The message names the parameter that was checked.
        Error::rejected("Facebook does not take a value of the post.").nothing_done()
    } else {
        return None;
    })
}

/// Returns true if Facebook rejects the coloured background. A retired one has an error of its own.
pub(super) fn is_about_background(error: &Error) -> bool {
    let Some(reply) = &error.reply else { return false };
    let named = reply.message.as_deref().is_some_and(|it| it.contains("text_format_preset_id"));
    (reply.status == 400 && named) || (reply.status == 500 && reply.code.as_deref() == Some("1"))
}
