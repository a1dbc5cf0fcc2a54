//! TikTok's errors: `{"error": {"code", "message", "log_id"}}`, and the reasons of posts that failed.

use std::time::Duration;

use fanfare_outbound::Reply;
use serde::Deserialize;

use super::DEFAULT_WAIT;
use crate::{Error, ErrorKind, Session, response};

/// The period of daily limits, which apply to any 24 hours.
const DAY: Duration = Duration::from_secs(86_400);

/// The error object, which every response contains.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ErrorDetails {
    code: String,
    message: String,
}

impl ErrorDetails {
    /// Returns true if there is no error.
    pub fn is_ok(&self) -> bool {
        matches!(self.code.as_str(), "" | "ok")
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Body {
    error: ErrorDetails,
}

/// Converts a response that is not a success into an error.
pub(super) fn parse_error(session: &Session, reply: &Reply) -> Error {
    let words = serde_json::from_slice::<Body>(&reply.body).unwrap_or_default().error;
    let said = session.secrets.redact(&words.message);
    let error = error_of_code(&words.code, reply.status).unwrap_or_else(|| match reply.status {
        401 => Error::new(ErrorKind::TokenExpired, "TikTok does not accept the access token."),
        429 => rate_limited(reply),
        _ => response::error_by_status("TikTok", reply, &said),
    });
    error.with_reply(
        reply.status,
        Some(words.code.as_str()).filter(|it| !it.is_empty()),
        Some(&said),
    )
}

/// Converts an error code or a `fail_reason`, whatever the status.
fn error_of_code(code: &str, status: u16) -> Option<Error> {
    Some(match code {
        "access_token_invalid" => {
            Error::new(ErrorKind::TokenExpired, "TikTok does not accept the access token.")
        }
        "scope_not_authorized" | "scope_permission_missed" | "auth_removed" => {
            Error::reconnect("The account's owner has not given, or has taken back, a permission.")
                .with_remedy("Connect the account again with all permissions.")
        }
        "rate_limit_exceeded" => Error::new(ErrorKind::RateLimited, "TikTok asks to slow down.")
            .with_retry_after(Some(DEFAULT_WAIT)),
        "spam_risk_too_many_posts" | "spam_risk_too_many_pending_share" => Error::new(
            ErrorKind::QuotaExhausted,
            "The account has used up what TikTok lets all apps together post in 24 hours.",
        )
        .with_retry_after(Some(DAY)),
        "reached_active_user_cap" | "unaudited_client_can_only_post_to_private_accounts" => {
            Error::misconfigured("TikTok has not audited this service's app, which limits it.")
                .with_remedy("Ask the operator to have the app audited; until then post with privacy_level SELF_ONLY from a private account.")
        }
        "url_ownership_unverified" => {
            Error::misconfigured("TikTok does not fetch images from this service's address.")
                .with_remedy("Ask the operator to verify the address of its media in TikTok's app settings.")
        }
        "privacy_level_option_mismatch" => {
            Error::rejected("The creator's account does not offer this privacy_level.")
                .with_remedy("Use one that tiktok.creator_info lists, or leave privacy_level out.")
        }
        "file_format_check_failed" | "duration_check_failed" | "frame_rate_check_failed"
        | "picture_size_check_failed" | "invalid_file_upload" => {
            Error::media_rejected(format!("TikTok did not take a file: {code}."))
                .with_remedy("Use an MP4, MOV or WebM of 23 to 60 frames a second and 360 to 4,096 pixels a side, or a JPEG or WebP of at most 20 MB.")
        }
        "spam_risk_user_banned_from_posting" => {
            Error::restricted("TikTok has banned the account from posting.")
                .with_remedy("Open TikTok with this account and follow what it asks for.")
        }
        "spam_risk" | "spam_risk_text" => Error::rejected("TikTok takes the post for spam."),
        "invalid_params" | "invalid_param" => Error::rejected("TikTok does not accept the post."),
        "internal" | "internal_error" if status >= 500 => {
            Error::new(ErrorKind::Server, "TikTok has a problem of its own.")
        }
        "internal" | "internal_error" => Error::transient("TikTok has a problem of its own."),
        "video_pull_failed" | "photo_pull_failed" => {
            Error::transient("TikTok could not fetch a file for the moment.")
        }
        _ => return None,
    })
}

fn rate_limited(reply: &Reply) -> Error {
    Error::new(ErrorKind::RateLimited, "TikTok asks to slow down.")
        .with_retry_after(reply.retry_after().or(Some(DEFAULT_WAIT)))
}

/// Converts an error of the upload server, which says nothing about the account.
pub(super) fn parse_upload(session: &Session, reply: &Reply) -> Error {
    let said = session.secrets.redact(&reply.text());
    let error = match reply.status {
        429 => rate_limited(reply),
        500.. => Error::new(ErrorKind::Server, "TikTok has a problem of its own."),
        _ => Error::media_rejected("TikTok did not take the bytes of the video."),
    };
    error.with_reply(reply.status, None, Some(&said))
}

/// Returns true if the upload address was refused, so that a new one may work.
pub(super) fn is_stale(error: &Error) -> bool {
    let status = error.reply.as_ref().map(|reply| reply.status);
    error.kind == ErrorKind::MediaRejected
        && status.is_some_and(|status| status != 413 && status != 415)
}

/// Returns the error of a post that failed.
pub(super) fn failed(reason: &str) -> Error {
    let error = error_of_code(reason, 200).unwrap_or_else(|| {
        Error::rejected(format!("TikTok could not publish the post: {reason}."))
    });
    error.with_reply(200, Some(reason), None)
}
