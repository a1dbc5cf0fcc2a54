//! The retry policy: one table that says what each error of a network means for a post.

use std::time::Duration;

use fanfare_core::{Retry, UnreadableColumn};
use fanfare_entities::Millis;
use fanfare_platforms::{self as platforms, ErrorKind, Progress, Step};
use fanfare_publishing::posts::PostErrorCode;
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use serde_json::{Value, json};

/// The waits before the retries of a transient failure; after the last one the post fails.
const BACKOFF: [Duration; 5] = [
    Duration::from_secs(30),
    Duration::from_secs(2 * 60),
    Duration::from_secs(10 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(2 * 3_600),
];

/// The longest `Retry-After` that is obeyed; a longer one is probably a mistake, and could stop an account for years.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 3_600);

/// Returns the time of a post's next attempt after `failures` failures: the network's own time if it names one, else
/// the usual wait ± 20 %. Returns `None` if no attempts are left.
#[must_use]
pub fn next_attempt_at(
    post: i64,
    failures: i32,
    named: Option<Duration>,
    now: Millis,
) -> Option<Millis> {
    let place = usize::try_from(failures).ok()?.checked_sub(1)?;
    let usual = *BACKOFF.get(place)?;
    Some(now + millis(capped(named).unwrap_or_else(|| jittered(usual, post, place))))
}

/// Returns the wait that a network names, at most [`MAX_RETRY_AFTER`].
fn capped(named: Option<Duration>) -> Option<Duration> {
    named.map(|named| named.min(MAX_RETRY_AFTER))
}

/// Returns the time at which a post that must wait is tried again. If the network names no time, this is the wait after
/// a transient failure.
#[must_use]
pub fn wait_until(post: i64, waits: i32, named: Option<Duration>, now: Millis) -> Millis {
    let place = usize::try_from(waits).unwrap_or(0).min(BACKOFF.len() - 1);
    now + millis(capped(named).unwrap_or_else(|| jittered(BACKOFF[place], post, place)))
}

/// Returns the wait for a limit of the app that is met again after `waits` waits: twice as long each time, up to an hour,
/// since what is sent meanwhile may prolong it.
pub fn grown(named: Option<Duration>, waits: i32) -> Option<Duration> {
    const LONGEST: Duration = Duration::from_secs(3_600);
    let named = named?;
    let doubled = named.saturating_mul(1 << waits.clamp(0, 8));
    Some(doubled.min(LONGEST).max(named))
}

/// Changes a wait by up to 20 %, so that posts that failed together are not retried together. The same attempt of a
/// post always gets the same wait.
fn jittered(wait: Duration, post: i64, place: usize) -> Duration {
    let seed = post.unsigned_abs() * BACKOFF.len() as u64 + place as u64;
    wait.mul_f64(SmallRng::seed_from_u64(seed).random_range(0.8..1.2))
}

/// Returns a duration in ms, at least one.
#[must_use]
pub fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX / 4).max(1)
}

/// The words for credentials that cannot be opened.
const UNREADABLE: &str = "The stored credentials of the account cannot be opened.";
const UNREADABLE_REMEDY: &str =
    "Connect the account again, then retry the post. If that does not help, ask the operator.";

/// The reason a post failed or waits, as `post.error` shows it.
#[derive(Debug, Clone)]
pub struct Failure {
    code: PostErrorCode,
    message: String,
    retryable: bool,
    retry_safe: bool,
    remedy: String,
    reply: Option<platforms::PlatformReply>,
    violation: Option<platforms::Violation>,
}

impl Failure {
    /// Returns the failure that an error of a network leads to.
    #[must_use]
    pub fn of(error: &platforms::Error) -> Self {
        let code = match error.kind {
            ErrorKind::Transient
            | ErrorKind::Server
            | ErrorKind::Ambiguous
            | ErrorKind::Unreachable => PostErrorCode::PlatformUnavailable,
            ErrorKind::RateLimited => PostErrorCode::PlatformRateLimited,
            ErrorKind::QuotaExhausted => PostErrorCode::QuotaExhausted,
            ErrorKind::TokenExpired => PostErrorCode::TokenExpired,
            ErrorKind::Reconnect | ErrorKind::InvalidCredentials => {
                PostErrorCode::AccountDisconnected
            }
            ErrorKind::Rejected => PostErrorCode::ContentRejected,
            ErrorKind::Duplicate => PostErrorCode::DuplicateContent,
            ErrorKind::MediaRejected => PostErrorCode::MediaRejected,
            ErrorKind::Misconfigured => PostErrorCode::Misconfigured,
            ErrorKind::PermissionMissing => PostErrorCode::PlatformPermissionMissing,
            ErrorKind::Restricted => PostErrorCode::AccountRestricted,
            ErrorKind::TargetGone => PostErrorCode::TargetNotFound,
            ErrorKind::Defect => PostErrorCode::InternalError,
        };
        let usual = Self::plain(code, error.message.clone());
        let remedy = error.remedy.clone().unwrap_or(usual.remedy);
        Self { remedy, reply: error.reply.clone(), ..usual }
    }

    /// Returns the failure with the words of the table.
    fn plain(code: PostErrorCode, message: String) -> Self {
        let entry = code.entry();
        let retryable = matches!(entry.retry, Retry::After | Retry::Unsafe);
        let remedy = entry.remedy.to_owned();
        Self { code, message, retryable, retry_safe: true, remedy, reply: None, violation: None }
    }

    /// The post could not go out in time.
    #[must_use]
    pub fn missed(max_lateness: Millis) -> Self {
        let within = match max_lateness / 60_000 {
            minutes if minutes % 60 == 0 => format!("{} hours", minutes / 60),
            minutes => format!("{minutes} minutes"),
        };
        let message = format!("The post could not go out within {within} of its time.");
        Self::plain(PostErrorCode::Missed, message)
    }

    /// Adds the reason why the post was waiting.
    #[must_use]
    pub fn because(mut self, reason: &str) -> Self {
        self.message = format!("{} It was waiting: {reason}", self.message);
        self
    }

    /// The account was disconnected.
    #[must_use]
    pub fn disconnected() -> Self {
        let message = "The account was disconnected.".to_owned();
        Self::plain(PostErrorCode::AccountDisconnected, message)
    }

    /// The network no longer accepts the account's credentials.
    #[must_use]
    pub fn reconnect_required(platform: &str) -> Self {
        let message = format!("{platform} no longer accepts the account's credentials.");
        Self::plain(PostErrorCode::AccountDisconnected, message)
    }

    /// The stored credentials of the account cannot be opened.
    #[must_use]
    pub fn unreadable_credentials() -> Self {
        let failure = Self::plain(PostErrorCode::AccountDisconnected, UNREADABLE.to_owned());
        Self { remedy: UNREADABLE_REMEDY.to_owned(), ..failure }
    }

    /// The account's token cannot be refreshed.
    #[must_use]
    pub fn token_expired(error: &platforms::Error) -> Self {
        let usual = Self::plain(PostErrorCode::TokenExpired, error.message.clone());
        let remedy = error.remedy.clone().unwrap_or(usual.remedy);
        Self { remedy, reply: error.reply.clone(), ..usual }
    }

    /// A file of the post breaks the network's rules; nothing was sent.
    #[must_use]
    pub fn media(broken: &platforms::Violation) -> Self {
        let usual = Self::plain(PostErrorCode::MediaRejected, broken.message.clone());
        Self { remedy: broken.remedy.clone(), violation: Some(broken.clone()), ..usual }
    }

    /// The stored post cannot be read, so nothing is sent.
    #[must_use]
    pub fn unreadable(unreadable: UnreadableColumn, may_be_public: bool) -> Self {
        let message = if may_be_public {
            format!(
                "The stored post can no longer be read, and an earlier attempt had no answer: {unreadable}."
            )
        } else {
            format!("The post was not published: {unreadable}.")
        };
        let remedy = "Create the post again, and report the damaged post to the operator.";
        let failure = Self::plain(PostErrorCode::InternalError, message);
        Self { remedy: remedy.to_owned(), retry_safe: !may_be_public, ..failure }
    }

    /// The account has published as much as the network allows in a day.
    #[must_use]
    pub fn quota_exhausted(platform: &str) -> Self {
        let message = format!("The account has used up the posts {platform} allows in 24 hours.");
        Self::plain(PostErrorCode::QuotaExhausted, message)
    }

    /// The lease of the post expired too many times in a row.
    #[must_use]
    pub fn too_many_expirations() -> Self {
        let message = "Several workers in a row stopped while they worked on this post.".to_owned();
        let remedy = "Report this to the operator; the post may be the cause.".to_owned();
        Self { remedy, ..Self::plain(PostErrorCode::InternalError, message) }
    }

    /// The answer to the commit call was lost several times, and the call was never carried out.
    #[must_use]
    pub fn unanswered(platform: &str) -> Self {
        let message =
            format!("{platform} did not answer the publishing call, several times in a row.");
        Self::plain(PostErrorCode::PlatformUnavailable, message)
    }

    /// The network refuses the same content again; `earlier` is the address of our earlier post, if it is known.
    #[must_use]
    pub fn duplicate(error: &platforms::Error, earlier: Option<String>) -> Self {
        let failure = Self::of(error);
        let Some(earlier) = earlier else { return failure };
        let said = error.message.trim_end_matches('.');
        Self { message: format!("{said}; the earlier post is {earlier}."), ..failure }
    }

    /// The network was asked about a call without an answer, and its answer does not tell whether it was carried out.
    #[must_use]
    pub fn in_doubt(platform: &str) -> Self {
        let message = format!(
            "{platform} did not answer the publishing call, and what it shows does not tell whether it was carried out."
        );
        Self { message, ..Self::outcome_unknown(platform) }
    }

    /// It is unknown whether the post is public.
    #[must_use]
    pub fn outcome_unknown(platform: &str) -> Self {
        let message = format!(
            "{platform} did not answer the publishing call, and it cannot be asked whether it was carried out."
        );
        Self { retry_safe: false, ..Self::plain(PostErrorCode::OutcomeUnknown, message) }
    }

    /// The network took the post, and does not tell what became of it.
    #[must_use]
    pub fn not_told(platform: &str, error: &platforms::Error) -> Self {
        let message = format!(
            "{platform} took the post, but does not tell whether it is public: {}",
            error.message
        );
        let usual = Self::plain(PostErrorCode::OutcomeUnknown, message);
        Self { retry_safe: false, reply: error.reply.clone(), ..usual }
    }

    /// Adds what the network said as it refused the call.
    #[must_use]
    pub fn after_refusal(mut self, platform: &str, refusal: &Value) -> Self {
        let said = refusal["message"].as_str().unwrap_or_default();
        self.message = format!(
            "{platform} refused the publishing call, but that does not tell whether it was carried out: {said}"
        );
        self.reply = serde_json::from_value(refusal["platform_error"].clone()).ok().flatten();
        self
    }

    /// Reads the failure that [`Self::to_json`] returned for a refusal of a network.
    #[must_use]
    pub fn read(stored: &Value) -> Option<Self> {
        let code = serde_json::from_value(stored["code"].clone()).ok()?;
        let usual = Self::plain(code, stored["message"].as_str()?.to_owned());
        let reply = serde_json::from_value(stored["platform_error"].clone()).ok().flatten();
        let retry_safe = stored["retry_safe"].as_bool().unwrap_or(usual.retry_safe);
        let remedy = stored["remedy"].as_str()?.to_owned();
        Some(Self { retry_safe, remedy, reply, ..usual })
    }

    /// A restored database does not know whether the post was sent, and the network cannot tell.
    #[must_use]
    pub fn unknown_after_restore(platform: &str) -> Self {
        let message = format!(
            "The service was restored from a backup that does not know whether this post was sent, and {platform} cannot tell."
        );
        Self { message, ..Self::outcome_unknown(platform) }
    }

    /// The network shows that the post was not sent after the backup from which the service was restored.
    #[must_use]
    pub fn not_sent_before_restore(platform: &str) -> Self {
        let message = format!(
            "The service was restored from a backup, and {platform} does not show this post: it was not sent."
        );
        Self::plain(PostErrorCode::Missed, message)
    }

    /// Returns the JSON that `post.error` and the ledger show.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut shown = json!({
            "code": self.code, "message": self.message, "retryable": self.retryable,
            "retry": self.code.entry().retry, "retry_safe": self.retry_safe, "remedy": self.remedy, "platform_error": self.reply,
        });
        if let Some(violation) = &self.violation {
            shown["violation"] = json!(violation);
        }
        shown
    }

    /// Returns true if the post may be public.
    #[must_use]
    pub const fn may_be_public(&self) -> bool {
        !self.retry_safe
    }

    /// Returns the outcome of the attempt.
    #[must_use]
    pub fn outcome(&self) -> &'static str {
        if self.may_be_public() { "outcome_unknown" } else { "failed" }
    }
}

/// Logs the kind of a network's reply. Its text is not logged, since it may repeat the text of the post.
pub fn log_reply(step: &Step, outcome: &platforms::Result<Progress>) {
    let step = step.name.as_str();
    match outcome {
        Ok(Progress::Done(_)) => tracing::debug!(step, answer = "done", "the platform answered"),
        Ok(Progress::Continue { .. }) => {
            tracing::debug!(step, answer = "continue", "the platform answered");
        }
        Err(error) => {
            let status = error.reply.as_ref().map(|reply| reply.status);
            tracing::info!(step, kind = ?error.kind, status, "the platform refused or did not answer");
        }
    }
}

#[cfg(test)]
mod tests {
    use fanfare_platforms::Phase;
    use fanfare_publishing::retry_action::{RetryAction, decide};

    use super::*;

    #[test]
    fn only_a_commit_can_be_lost() {
        for kind in [ErrorKind::Ambiguous, ErrorKind::Server] {
            assert_eq!(decide(kind, Phase::Commit), RetryAction::Lost);
            assert_eq!(decide(kind, Phase::Prepare), RetryAction::Retry);
            assert_eq!(decide(kind, Phase::Confirm), RetryAction::Retry);
        }
        assert_eq!(decide(ErrorKind::Transient, Phase::Commit), RetryAction::Retry);
    }

    #[test]
    fn a_limit_of_the_app_that_is_met_again_lasts_longer_each_time() {
        let minutes = |waits, named: u64| {
            grown(Some(Duration::from_secs(named * 60)), waits).unwrap().as_secs() / 60
        };
        assert_eq!([0, 1, 2, 3, 30].map(|waits| minutes(waits, 15)), [15, 30, 60, 60, 60]);
        assert_eq!(minutes(5, 120), 120, "as the network says, if that is longer");
        assert_eq!(grown(None, 3), None);
    }

    #[test]
    fn posts_that_failed_together_come_back_apart() {
        let at = |post| next_attempt_at(post, 1, None, 0).unwrap();
        let distinct: std::collections::BTreeSet<_> = (1..=100).map(at).collect();
        assert!(distinct.len() > 90, "{distinct:?}");
        assert_eq!(at(1), at(1));
    }

    #[test]
    fn five_retries_and_no_more() {
        for (failures, seconds) in [(1, 30), (2, 120), (3, 600), (4, 1_800), (5, 7_200)] {
            let at = next_attempt_at(7, failures, None, 0).unwrap();
            let usual = seconds * 1_000;
            assert!((usual * 8 / 10..=usual * 12 / 10).contains(&at), "{failures}: {at}");
        }
        assert_eq!(next_attempt_at(7, 6, None, 0), None);
        assert_eq!(next_attempt_at(7, 1, Some(Duration::from_secs(7)), 0), Some(7_000));
    }

    #[test]
    fn a_wait_that_a_network_names_is_believed_up_to_a_day() {
        let absurd = Some(Duration::from_secs(99_999_999_999));
        assert_eq!(next_attempt_at(7, 1, absurd, 5), Some(86_400_005));
        assert_eq!(wait_until(7, 3, absurd, 5), 86_400_005);
        assert_eq!(wait_until(7, 0, Some(Duration::MAX), 5), 86_400_005);
    }
}
