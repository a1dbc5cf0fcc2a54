//! Errors of the Business Profile APIs, beside those shared by Google's networks.

use fanfare_outbound::Reply;

use super::LABEL;
use crate::{
    Error, Session,
    google::{self, ErrorDetails},
};

/// Converts a response that is not a success into an error.
pub(super) fn parse_error(session: &Session, reply: &Reply) -> Error {
    google::classify_error(LABEL, session, reply, specific_error)
}

fn specific_error(session: &Session, words: &ErrorDetails) -> Option<Error> {
    Some(match words.status.as_str() {
        // The quota of a project is 0 until Google has approved it.
        "RESOURCE_EXHAUSTED" if words.metadata("quota_limit_value") == Some("0") => {
            Error::misconfigured(
                "Google has not approved this service's app for its Business Profile API.",
            )
            .with_remedy("Ask the operator to request access to the API for the app's project.")
        }
        "PERMISSION_DENIED" if is_about_the_api(words) => return None,
        "PERMISSION_DENIED" => {
            Error::reconnect("The Google account may no longer manage this location.")
                .with_remedy("Make it a manager of the location again, then connect it again.")
        }
        "NOT_FOUND" => Error::target_gone("Google no longer has this location.")
            .with_remedy("Connect the location again, or post on another one."),
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" if is_about_media(words) => {
            Error::media_rejected(sentence(session, words, "Google did not take the file"))
                .with_remedy(
                    "Use a JPEG or PNG of 400 by 300 pixels to 5 MB, or leave the video out.",
                )
        }
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" => {
            let error =
                Error::rejected(sentence(session, words, "Google does not accept the post"));
            // A state that does not fit may be that of the post that was just made.
            let names_cause =
                words.status == "INVALID_ARGUMENT" || !words.field_messages().is_empty();
            if names_cause { error } else { error.left_open() }
        }
        _ => return None,
    })
}

/// Returns true if the API or a scope was denied: the message names it.
fn is_about_the_api(words: &ErrorDetails) -> bool {
    matches!(words.reason(), "SERVICE_DISABLED" | "ACCESS_TOKEN_SCOPE_INSUFFICIENT")
        || words.mentions("has not been used in project")
        || words.mentions("it is disabled")
}

fn is_about_media(words: &ErrorDetails) -> bool {
    ["media", "photo", "image", "video", "source_url", "sourceurl"]
        .iter()
        .any(|it| words.mentions(it))
}

/// Returns `start` followed by Google's messages about single fields, else by its general message.
fn sentence(session: &Session, words: &ErrorDetails, start: &str) -> String {
    let details = words.field_messages().join(" ");
    let said = if details.is_empty() { words.message.clone() } else { details };
    let said = session.secrets.redact(said.trim().trim_end_matches('.'));
    let said: String = said.chars().take(300).collect();
    if said.is_empty() { format!("{start}.") } else { format!("{start}: {said}.") }
}

/// Returns the error of a post that Google accepted and then rejected.
pub(super) fn rejected() -> Error {
    Error::rejected(
        "Google rejects the post: it breaks the rules for content of Business Profiles.",
    )
    .with_remedy("Leave out phone numbers, prices and what the rules forbid, then post again.")
    .with_reply(200, Some("REJECTED"), None)
}
