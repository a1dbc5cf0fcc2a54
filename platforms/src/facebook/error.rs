//! Facebook's own errors, in the envelope of [`graph`].

use std::time::Duration;

use fanfare_outbound::Reply;

use crate::{
    Error,
    graph::{self, Words},
};

use super::LABEL;

/// Codes for a duplicate of a recent post.
const SAME_AGAIN: [u64; 2] = [506, 1_366_051];

/// How long a temporarily blocked page waits before it tries again; Facebook says only that it takes hours.
const BLOCKED: Duration = Duration::from_secs(3_600);

/// Converts a response that is not a success into an error.
pub(super) fn parse_error(reply: &Reply) -> Error {
    graph::read(LABEL, reply, own)
}

/// Converts the errors that only Facebook has.
fn own(reply: &Reply, words: &Words) -> Option<Error> {
    if words.is(&SAME_AGAIN) {
        return Some(
            Error::rejected("Facebook refuses what the page has posted already.")
                .with_remedy("Look at the page; change the post if it is to appear once more."),
        );
    }
    if words.is(&[1_363_047, 1_609_010]) {
        return Some(Error::transient("Facebook could not do it for the moment."));
    }
    wait(reply, words).or_else(|| person(words)).or_else(|| content(words))
}

fn wait(reply: &Reply, words: &Words) -> Option<Error> {
    let slow = || graph::slow_down(LABEL, reply);
    if words.is(&[368]) {
        let error = slow();
        let after = error.retry_after.unwrap_or(BLOCKED);
        return Some(error.with_retry_after(Some(after)));
    }
    words.is(&[1_390_008]).then(slow)
}

/// Converts errors that the user has to resolve first.
fn person(words: &Words) -> Option<Error> {
    let (message, remedy) = if words.is(&[1_404_078]) {
        (
            "Facebook wants Page Publishing Authorization for this page.",
            "Complete it in the page's settings, then connect the account again.",
        )
    } else if words.is(&[4_854_002, 1_404_006]) {
        (
            "Facebook wants to know who runs this page.",
            "Open Facebook with an account that runs the page and follow what it asks for.",
        )
    } else if words.is(&[1_404_112]) {
        (
            "Facebook limits what this account may post.",
            "Look at the page's status on Facebook; retry once the limit is lifted.",
        )
    } else if words.code == Some(100) && words.says("permission to publish") {
        (
            "Facebook does not let the app publish videos on this page.",
            "Give the person who connected it full control of the page, then connect it again.",
        )
    } else {
        return None;
    };
    Some(Error::misconfigured(message).with_remedy(remedy))
}

fn content(words: &Words) -> Option<Error> {
    Some(if words.is(&[1_346_003]) {
        Error::rejected("Facebook takes the post for abusive.")
    } else if words.is(&[1_404_102]) {
        Error::rejected("Facebook says that the post goes against its standards.")
    } else if words.is(&[1_609_008]) {
        Error::rejected("Facebook takes no links to itself here.")
    } else if words.is(&[2_061_006]) {
        Error::rejected("Facebook does not take this link.")
            .with_remedy("Check that the link opens for anybody, or leave it out.")
    } else if words.is(&[1_349_125, 2_069_019]) {
        Error::media_rejected("Facebook does not take a file of this format.")
    } else if words.is(&[1_366_046]) {
        Error::media_rejected("The photo is too large for Facebook.")
            .with_remedy("Use a photo of up to 4 MB.")
    } else if words.says("name parameter too long") {
        Error::rejected("The title is too long for Facebook.").with_remedy("Shorten the title.")
    } else {
        return None;
    })
}

/// Returns true if Facebook reports a duplicate.
pub(super) fn is_same_again(error: &Error) -> bool {
    let code = error.reply.as_ref().and_then(|reply| reply.code.as_deref()).unwrap_or_default();
    code.split('/').any(|part| part.parse().is_ok_and(|part| SAME_AGAIN.contains(&part)))
}

/// Returns true if Facebook rejects the coloured background. A retired one has an error of its own.
pub(super) fn is_about_background(error: &Error) -> bool {
    let Some(reply) = &error.reply else { return false };
    let named = reply.message.as_deref().is_some_and(|it| it.contains("text_format_preset_id"));
    (reply.status == 400 && named) || (reply.status == 500 && reply.code.as_deref() == Some("1"))
}
