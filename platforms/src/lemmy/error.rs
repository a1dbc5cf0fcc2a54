//! Lemmy's errors: `{"error": "code"}`, mostly with 400.

use std::time::Duration;

use fanfare_outbound::Reply;
use serde::Deserialize;

use crate::{Error, ErrorKind, Session, response};

/// The time to wait where Lemmy names no time; its windows are minutes long.
const DEFAULT_WAIT: Duration = Duration::from_secs(60);

#[derive(Default, Deserialize)]
struct Body {
    error: Option<String>,
    msg: Option<String>,
}

/// Converts an error response.
pub fn parse_error(session: &Session, reply: &Reply) -> Error {
    let body: Body = reply.json().unwrap_or_default();
    let code = body.error.as_deref().map(|code| session.secrets.redact(code)).unwrap_or_default();
    let said = body.msg.map(|text| session.secrets.redact(&text));
    let named = Some(code.as_str()).filter(|code| !code.is_empty());
    classify(reply, &code, said.as_deref()).with_reply(reply.status, named, said.as_deref())
}

fn classify(reply: &Reply, code: &str, said: Option<&str>) -> Error {
    match code {
        "incorrect_login" | "password_incorrect" => {
            Error::invalid_credentials("The instance does not accept the name and password.")
                .with_remedy("Check both, then connect the account again.")
        }
        "missing_totp_token" | "incorrect_totp_token" => Error::invalid_credentials(
            "The account has a second factor, which Lemmy asks for at every log-in.",
        )
        .with_remedy("Connect an account without two-factor authentication."),
        "email_not_verified" | "registration_application_is_pending" => Error::invalid_credentials(
            "The instance has not let the account in yet.",
        )
        .with_remedy(
            "Confirm the e-mail address, or wait until an administrator has accepted the account.",
        ),
        "not_logged_in" => {
            Error::new(ErrorKind::TokenExpired, "The session with the instance has ended.")
        }
        "site_ban" | "deleted" | "banned" => {
            Error::reconnect("The instance has banned or removed the account.")
                .with_remedy("Ask the administrators of the instance, or connect another account.")
        }
        "rate_limit_error" => Error::new(ErrorKind::RateLimited, "The instance asks to wait.")
            .with_retry_after(reply.retry_after().or(Some(DEFAULT_WAIT))),
        // The instance could not say whether it stored the post: the account's posts show it.
        "couldnt_create_post" => {
            Error::new(ErrorKind::Server, "The instance could not store the post.")
        }
        "slurs" => Error::rejected("The instance's filter blocks a word of the post.")
            .with_remedy("Reword the post."),
        "invalid_url" => {
            Error::rejected("The instance does not take the address that the post links to.")
                .with_remedy("Correct settings.url.")
        }
        "" => response::error_by_status("The instance", reply, said.unwrap_or_default()),
        _ if reply.status == 401 => {
            Error::new(ErrorKind::TokenExpired, "The session with the instance has ended.")
        }
        _ if reply.status == 429 => {
            Error::new(ErrorKind::RateLimited, "The instance asks to wait.")
                .with_retry_after(reply.retry_after().or(Some(DEFAULT_WAIT)))
        }
        _ => post_error(reply, code),
    }
}

/// Returns the error for a refusal of one post; the account is fine.
fn post_error(reply: &Reply, code: &str) -> Error {
    match code {
        "banned_from_community" | "person_is_banned_from_community" => {
            Error::rejected("The account is banned from this community.")
                .with_remedy("Choose another community.")
        }
        "only_mods_can_post_in_community" => {
            Error::rejected("Only moderators may post in this community.")
                .with_remedy("Choose another community.")
        }
        "couldnt_find_community" => Error::rejected("The community does not exist.")
            .with_remedy("Check settings.community."),
        _ if names_its_cause(code) => {
            response::error_by_status("The instance", reply, code).nothing_done()
        }
        _ => response::error_by_status("The instance", reply, code),
    }
}

/// Returns true for the names of what was checked before a post is stored (`LemmyErrorType` of
/// <https://github.com/LemmyNet/lemmy/blob/main/crates/utils/src/error.rs>).
fn names_its_cause(code: &str) -> bool {
    const NAMES: [&str; 7] = [
        "alt_text_length_overflow",
        "blocked_url",
        "honeypot_failed",
        "language_not_allowed",
        "locked",
        "nsfw_not_allowed",
        "url_without_domain",
    ];
    code.starts_with("invalid_") || NAMES.contains(&code)
}
