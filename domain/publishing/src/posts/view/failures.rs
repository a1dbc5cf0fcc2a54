//! The failures of posts as a table: one cause, one remedy and one way on for each code.

use fanfare_core::error::{Code, Retry};

use super::PostErrorCode;

/// What a failure of a post means.
#[derive(Debug, Clone, Copy)]
pub struct PostFailure {
    /// The code.
    pub code: PostErrorCode,
    /// Its name.
    pub name: &'static str,
    /// What sending the post again leads to.
    pub retry: Retry,
    /// The cause.
    pub cause: &'static str,
    /// The remedy, unless the network's answer tells a better one.
    pub remedy: &'static str,
}

macro_rules! failures {
    ($($code:ident = $name:literal, $retry:ident, $cause:literal, $remedy:literal;)+) => {
        /// All failures of posts.
        pub const POST_FAILURES: &[PostFailure] = &[$(PostFailure {
            code: PostErrorCode::$code,
            name: $name,
            retry: Retry::$retry,
            cause: $cause,
            remedy: $remedy,
        },)+];
    };
}

failures! {
    AccountDisconnected = "account_disconnected", AfterChange,
        "The platform no longer accepts the account's credentials.",
        "Connect the account again, then retry the post.";
    TokenExpired = "token_expired", AfterChange,
        "The account's token has ended and could not be renewed.",
        "Connect the account again, then retry the post.";
    PlatformPermissionMissing = "platform_permission_missing", AfterChange,
        "The account lacks a right, a permission or a plan that the platform asks for.",
        "Connect the account again with all permissions, then retry the post.";
    AccountRestricted = "account_restricted", AfterChange,
        "The platform restricts the account until its owner does there what it asks for.",
        "Log in to the platform with the account and follow what it asks for, then retry the post.";
    TargetNotFound = "target_not_found", AfterChange,
        "What the post goes to, or what its settings name, is not there on the platform.",
        "Check the account's address and what the settings name, then retry the post.";
    ContentRejected = "content_rejected", AfterChange,
        "The platform refused what the post says.",
        "Change the post, then schedule it again.";
    DuplicateContent = "duplicate_content", AfterChange,
        "The platform refuses the same text again within some time.",
        "Change the text, or post it later.";
    MediaRejected = "media_rejected", AfterChange,
        "The platform refused a file of the post.",
        "Change the media, then schedule the post again.";
    PlatformRateLimited = "platform_rate_limited", After,
        "The platform asked to wait for longer than the post could.",
        "No action needed: the post is retried at the platform's time.";
    QuotaExhausted = "quota_exhausted", After,
        "The account's posts of the day were used up for longer than the post could wait.",
        "No action needed: the post is retried when the quota is renewed.";
    PlatformUnavailable = "platform_unavailable", After,
        "The platform did not answer, or answered with an error of its own.",
        "Retry the post later.";
    Misconfigured = "misconfigured", AfterChange,
        "A setting of the service, or of its app on the platform, is wrong.",
        "Ask the operator to set right what the message names, then retry the post.";
    OutcomeUnknown = "outcome_unknown", Unsafe,
        "The platform's answer was lost, and whether the post is public could not be found out.",
        "Look on the platform. If the post is not there, retry with acknowledge_duplicate_risk: true.";
    Missed = "missed", After,
        "The post could not go out within the allowed time after its own.",
        "Retry the post to send it now, or give it a new time.";
    InternalError = "internal_error", AfterChange,
        "A defect of the service, or a stored post that can no longer be read.",
        "Report the post to the operator of this service.";
}

/// Returns the failure with this name.
#[must_use]
pub fn post_failure(name: &str) -> Option<&'static PostFailure> {
    POST_FAILURES.iter().find(|failure| failure.name == name)
}

/// The codes of failed posts that no error of a request has, each with its cause.
pub const POST_ERRORS: [(&str, &str); 8] = {
    let mut all = [("", ""); 8];
    let (mut from, mut to) = (0, 0);
    while from < POST_FAILURES.len() {
        let failure = &POST_FAILURES[from];
        if is_of_posts_alone(failure.code) {
            all[to] = (failure.name, failure.cause);
            to += 1;
        }
        from += 1;
    }
    all
};

const fn is_of_posts_alone(code: PostErrorCode) -> bool {
    !matches!(
        code,
        PostErrorCode::PlatformPermissionMissing
            | PostErrorCode::AccountRestricted
            | PostErrorCode::TargetNotFound
            | PostErrorCode::DuplicateContent
            | PostErrorCode::PlatformRateLimited
            | PostErrorCode::Misconfigured
            | PostErrorCode::InternalError
    )
}

impl PostErrorCode {
    /// Returns its entry in the table.
    #[must_use]
    pub fn entry(self) -> &'static PostFailure {
        let found = POST_FAILURES.iter().find(|failure| failure.code == self);
        found.unwrap_or(&POST_FAILURES[POST_FAILURES.len() - 1])
    }
}

/// Returns true if errors of requests have this code too: then its entry in the catalogue is theirs.
#[must_use]
pub fn is_of_requests_too(name: &str) -> bool {
    Code::named(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_stands_in_both_catalogues_means_the_same_in_both() {
        for failure in POST_FAILURES {
            let alone = POST_ERRORS.iter().any(|(name, _)| *name == failure.name);
            assert_ne!(alone, is_of_requests_too(failure.name), "{}", failure.name);
            assert_eq!(serde_json::json!(failure.code), failure.name);
            if let Some(code) = Code::named(failure.name)
                && failure.name != "internal_error"
            {
                assert_eq!(code.retry(), failure.retry, "{}", failure.name);
            }
        }
    }
}
