//! The reasons why a change was not made, as rows store them and as replies show them.

use fanfare_core::error::{Code, Error};
use fanfare_platforms::{self as platforms, ErrorKind, RefusalReason};
use serde_json::{Value, json};

/// Returns a failure as a row stores it.
#[must_use]
pub fn failure_json(code: Code, message: &str, error: Option<&platforms::Error>) -> Value {
    let entry = code.entry();
    let remedy = error.and_then(|error| error.remedy.as_deref()).unwrap_or(entry.remedy);
    let after = error.and_then(|error| error.retry_after).map(|after| after.as_secs().max(1));
    let reply = error.and_then(|error| error.reply.as_ref());
    json!({
        "code": entry.code, "message": message, "remedy": remedy, "retryable": entry.retryable, "retry": code.retry(),
        "retry_safe": true, "retry_after": after, "platform_error": reply, "answered": reply.is_some(),
    })
}

/// Returns the failure for a refusal, as a row stores it.
#[must_use]
pub fn from_refusal(refused: RefusalReason, error: &platforms::Error) -> Value {
    let (code, message) = match refused {
        RefusalReason::WindowClosed => {
            (Code::ReplyWindowClosed, "The network takes no more answers in this conversation.")
        }
        RefusalReason::PermissionMissing => {
            (Code::PlatformPermissionMissing, "The account did not grant the permission for this.")
        }
        RefusalReason::NotAllowed | RefusalReason::Done => {
            (Code::ActionNotAllowed, "The network does not allow this now.")
        }
    };
    failure_json(code, message, Some(error))
}

/// Returns the failure for any other error, as a row stores it.
#[must_use]
pub fn from_error(error: &platforms::Error) -> Value {
    let code = match error.kind {
        ErrorKind::Rejected | ErrorKind::Duplicate | ErrorKind::MediaRejected => {
            Code::ContentRefused
        }
        ErrorKind::RateLimited | ErrorKind::QuotaExhausted => Code::PlatformRateLimited,
        ErrorKind::TokenExpired | ErrorKind::Reconnect | ErrorKind::InvalidCredentials => {
            Code::AccountReconnectRequired
        }
        ErrorKind::PermissionMissing => Code::PlatformPermissionMissing,
        ErrorKind::Misconfigured => Code::Misconfigured,
        ErrorKind::Restricted => Code::AccountRestricted,
        ErrorKind::TargetGone => Code::TargetNotFound,
        ErrorKind::Defect => Code::InternalError,
        ErrorKind::Transient
        | ErrorKind::Server
        | ErrorKind::Ambiguous
        | ErrorKind::Unreachable => Code::ProviderUnreachable,
    };
    failure_json(code, &error.message, Some(error))
}

/// Returns the error of a request whose change failed.
pub(crate) fn error(failure: &Value) -> Error {
    let code = failure["code"].as_str().and_then(Code::named).unwrap_or(Code::ProviderUnreachable);
    let message = failure["message"].as_str().unwrap_or("The network did not do it.");
    let remedy = failure["remedy"].as_str().map(str::to_owned);
    let details = fanfare_core::error::refusal::RefusalDetails { remedy, ..Default::default() };
    let error = Error::new(code, message).with_details(details);
    match failure["retry_after"].as_u64() {
        Some(seconds) => error.with_retry_after(seconds),
        None => error,
    }
}
