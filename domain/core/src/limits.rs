//! The rate limits of callers: their table, and the counting.

mod shown;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use fanfare_limits::{Count, TakeResult, Window};

use crate::{
    Act, Domain, RefusalDetails,
    access::Caller,
    error::{Code, Error, Result},
};

pub use shown::{RateLimits, show};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// A bucket of requests that are counted together. Each route names one; [`Bucket::Other`] also counts every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table says what each is")]
pub enum Bucket {
    Posts,
    Created,
    Checks,
    Media,
    Reads,
    Subscription,
    SupportChat,
    Captions,
    Connect,
    Feedback,
    AgentFeedback,
    WebhookTests,
    ComposerChecks,
    Other,
    Address,
    ForgotAddress,
    ForgotEmail,
    Invitations,
    InvitedEmail,
    SignupHour,
    SignupDay,
    SignupAll,
    OauthRegisterHour,
    OauthRegisterDay,
    OauthAuthorize,
    OauthConsent,
    OauthToken,
    OauthRevoke,
    OauthDocuments,
    OauthRegisterAll,
    OauthDocumentsAll,
    ForgotAll,
    Doors,
    PaymentPages,
}

/// The owner whose requests are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitOwner {
    /// Requests with one API key.
    Key,
    /// Requests of one user, with any key.
    Person,
    /// Requests from one address, before the caller is known.
    Address,
    /// Requests about one e-mail address, from any caller.
    Email,
    /// All requests.
    Everybody,
}

/// A limit of the table.
#[derive(Debug, Clone, Copy)]
pub struct LimitRule {
    /// The bucket.
    pub bucket: Bucket,
    /// Its name in the OpenAPI document and in the store.
    pub name: &'static str,
    /// The most requests in `span`, before the operator's factor.
    pub limit: u32,
    /// The time a window lasts, from the first request in it.
    pub span: Duration,
    /// The owner whose requests are counted together.
    pub per: LimitOwner,
    /// The counted thing, in words that follow a number.
    pub what: &'static str,
}

/// The table, in the order of [`Bucket`].
#[rustfmt::skip]
pub const TABLE: &[LimitRule] = &[
    LimitRule { bucket: Bucket::Posts, name: "posts", limit: 100, span: HOUR, per: LimitOwner::Key,
        what: "requests to create posts per hour and key" },
    LimitRule { bucket: Bucket::Created, name: "created", limit: 1_000, span: HOUR, per: LimitOwner::Person,
        what: "created posts per hour and person" },
    LimitRule { bucket: Bucket::Checks, name: "checks", limit: 1_000, span: HOUR, per: LimitOwner::Key,
        what: "dry runs and refused requests to create posts per hour and key" },
    LimitRule { bucket: Bucket::Media, name: "media", limit: 120, span: HOUR, per: LimitOwner::Key,
        what: "media requests per hour and key" },
    LimitRule { bucket: Bucket::Reads, name: "reads", limit: 300, span: HOUR, per: LimitOwner::Key,
        what: "reading requests per hour and key" },
    LimitRule { bucket: Bucket::Subscription, name: "subscription", limit: 30, span: HOUR, per: LimitOwner::Key,
        what: "changes of the subscription per hour and key" },
    LimitRule { bucket: Bucket::SupportChat, name: "support_chat", limit: 30, span: HOUR, per: LimitOwner::Person,
        what: "support questions per hour and person" },
    LimitRule { bucket: Bucket::Captions, name: "captions", limit: 20, span: MINUTE, per: LimitOwner::Person,
        what: "caption requests per minute and person" },
    LimitRule { bucket: Bucket::Connect, name: "connect", limit: 20, span: HOUR, per: LimitOwner::Person,
        what: "attempts to connect with credentials per hour and user" },
    LimitRule { bucket: Bucket::Feedback, name: "feedback", limit: 5, span: DAY, per: LimitOwner::Key,
        what: "messages of feedback per day and key" },
    LimitRule { bucket: Bucket::AgentFeedback, name: "agent_feedback", limit: 60, span: HOUR, per: LimitOwner::Key,
        what: "messages of agent feedback per hour and key" },
    LimitRule { bucket: Bucket::WebhookTests, name: "webhook_tests", limit: 60, span: HOUR, per: LimitOwner::Person,
        what: "test deliveries per hour and person" },
    LimitRule { bucket: Bucket::ComposerChecks, name: "composer_checks", limit: 120, span: MINUTE, per: LimitOwner::Person,
        what: "checks of a post in the composer per minute and person" },
    LimitRule { bucket: Bucket::Other, name: "other", limit: 2_000, span: HOUR, per: LimitOwner::Person,
        what: "requests per hour and person" },
    LimitRule { bucket: Bucket::Address, name: "address", limit: 600, span: MINUTE, per: LimitOwner::Address,
        what: "requests per minute and address" },
    LimitRule { bucket: Bucket::ForgotAddress, name: "forgot_address", limit: 10, span: HOUR, per: LimitOwner::Address,
        what: "requests for a new password per hour and address" },
    LimitRule { bucket: Bucket::ForgotEmail, name: "forgot_email", limit: 3, span: HOUR, per: LimitOwner::Email,
        what: "requests for a new password per hour and e-mail address" },
    LimitRule { bucket: Bucket::Invitations, name: "invitations", limit: 50, span: DAY, per: LimitOwner::Person,
        what: "invitations per day and person" },
    LimitRule { bucket: Bucket::InvitedEmail, name: "invited_email", limit: 3, span: HOUR, per: LimitOwner::Email,
        what: "invitations per hour and e-mail address" },
    LimitRule { bucket: Bucket::SignupHour, name: "signup_hour", limit: 5, span: HOUR, per: LimitOwner::Address,
        what: "signups per hour and address" },
    LimitRule { bucket: Bucket::SignupDay, name: "signup_day", limit: 20, span: DAY, per: LimitOwner::Address,
        what: "signups per day and address" },
    LimitRule { bucket: Bucket::SignupAll, name: "signup_all", limit: 1_000, span: HOUR, per: LimitOwner::Everybody,
        what: "signups per hour" },
    LimitRule { bucket: Bucket::OauthRegisterHour, name: "oauth_register_hour", limit: 20, span: HOUR, per: LimitOwner::Address,
        what: "registrations of OAuth clients per hour and address" },
    LimitRule { bucket: Bucket::OauthRegisterDay, name: "oauth_register_day", limit: 100, span: DAY, per: LimitOwner::Address,
        what: "registrations of OAuth clients per day and address" },
    LimitRule { bucket: Bucket::OauthAuthorize, name: "oauth_authorize", limit: 60, span: MINUTE, per: LimitOwner::Address,
        what: "requests to let a tool in per minute and address" },
    LimitRule { bucket: Bucket::OauthConsent, name: "oauth_consent", limit: 20, span: MINUTE, per: LimitOwner::Person,
        what: "decisions about tools per minute and person" },
    LimitRule { bucket: Bucket::OauthToken, name: "oauth_token", limit: 60, span: MINUTE, per: LimitOwner::Address,
        what: "requests for tokens per minute and address" },
    LimitRule { bucket: Bucket::OauthRevoke, name: "oauth_revoke", limit: 60, span: MINUTE, per: LimitOwner::Address,
        what: "revocations of tokens per minute and address" },
    LimitRule { bucket: Bucket::OauthDocuments, name: "oauth_documents", limit: 10, span: MINUTE, per: LimitOwner::Address,
        what: "client metadata documents fetched per minute and address" },
    LimitRule { bucket: Bucket::OauthRegisterAll, name: "oauth_register_all", limit: 1_000, span: HOUR, per: LimitOwner::Everybody,
        what: "registrations of OAuth clients per hour" },
    LimitRule { bucket: Bucket::OauthDocumentsAll, name: "oauth_documents_all", limit: 2_000, span: HOUR, per: LimitOwner::Everybody,
        what: "client metadata documents fetched per hour" },
    LimitRule { bucket: Bucket::ForgotAll, name: "forgot_all", limit: 10_000, span: HOUR, per: LimitOwner::Everybody,
        what: "requests for a new password per hour" },
    LimitRule { bucket: Bucket::Doors, name: "doors", limit: 1_200, span: MINUTE, per: LimitOwner::Address,
        what: "requests of any kind per minute and address" },
    LimitRule { bucket: Bucket::PaymentPages, name: "payment_pages", limit: 30, span: HOUR, per: LimitOwner::Person,
        what: "pages of the payment provider per hour and person" },
];

impl Bucket {
    /// Returns its limit of the table.
    #[must_use]
    pub const fn rule(self) -> &'static LimitRule {
        &TABLE[self as usize]
    }

    /// Returns its name in the OpenAPI document.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.rule().name
    }
}

/// Counts a request from an address, before the caller is known: against all of the address, and, if it is for the
/// API, against those for the API.
///
/// # Errors
/// [`Code::RateLimited`].
pub async fn admit_address(cx: &Domain, address: &str, is_api: bool, meter: &Meter) -> Result<()> {
    let buckets = [Bucket::Address, Bucket::Doors];
    let counted = buckets.iter().filter(|bucket| is_api || **bucket == Bucket::Doors);
    let windows: Vec<_> =
        counted.map(|bucket| (*bucket, window(cx, *bucket, String::new(), 1))).collect();
    take(cx, &format!("address:{address}"), &windows, meter).await
}

/// Counts a request without a caller against each of these buckets, each with the address or e-mail address it is
/// counted for.
///
/// # Errors
/// [`Code::RateLimited`] if a bucket is full; the buckets before it have counted the request.
pub async fn admit_anonymous(cx: &Domain, asked: &[(Bucket, &str)]) -> Result<()> {
    for (bucket, of) in asked {
        let asked = [(*bucket, window(cx, *bucket, String::new(), 1))];
        take(cx, &format!("{}:{of}", bucket.as_str()), &asked, &Meter::default()).await?;
    }
    Ok(())
}

/// Counts a request of a caller against the bucket of its route and against all requests of the user.
///
/// # Errors
/// [`Code::RateLimited`]; then it was not counted.
pub async fn admit(cx: &Domain, caller: &Caller, bucket: Bucket, meter: &Meter) -> Result<()> {
    let mut asked = vec![(Bucket::Other, of_caller(cx, caller, Bucket::Other, 1))];
    if bucket != Bucket::Other {
        asked.push((bucket, of_caller(cx, caller, bucket, 1)));
    }
    take(cx, &owner(caller), &asked, meter).await
}

/// Counts a request of a caller, which was admitted before, against one bucket.
///
/// # Errors
/// [`Code::RateLimited`]; then it was not counted.
pub async fn count(cx: &Domain, caller: &Caller, bucket: Bucket, meter: &Meter) -> Result<()> {
    let mut asked = vec![(bucket, of_caller(cx, caller, bucket, 1))];
    if bucket == Bucket::Posts {
        // Only checked here: posts are counted when they are created.
        asked.push((Bucket::Created, of_caller(cx, caller, Bucket::Created, 0)));
    }
    take(cx, &owner(caller), &asked, meter).await
}

/// Moves the count of a request from one bucket to another, unless that is full.
pub async fn recount(cx: &Domain, caller: &Caller, (from, to): (Bucket, Bucket), meter: &Meter) {
    if count(cx, caller, to, meter).await.is_ok() {
        cx.limits.refund(&owner(caller), &[of_caller(cx, caller, from, 1)]).await;
        meter.forget(from);
    }
}

/// Returns the states of the limits that are counted per user, without counting anything.
pub async fn limit_states(cx: &Domain, caller: &Caller) -> Vec<(&'static LimitRule, LimitState)> {
    let shown = [Bucket::Other, Bucket::Created, Bucket::Captions, Bucket::SupportChat];
    let shown = shown.into_iter().chain([Bucket::Connect, Bucket::WebhookTests]);
    let asked: Vec<_> = shown.map(|bucket| (bucket, of_caller(cx, caller, bucket, 0))).collect();
    let windows: Vec<Window> = asked.iter().map(|(_, window)| window.clone()).collect();
    let TakeResult { counts, .. } = cx.limits.take(&owner(caller), &windows).await;
    let now = cx.clock.now();
    let rules = asked.iter().map(|(bucket, _)| bucket.rule());
    rules.zip(counts).map(|(rule, count)| (rule, LimitState::of(count, now))).collect()
}

/// Counts a post that is about to be created.
///
/// # Errors
/// [`Code::RateLimited`].
pub async fn count_created(act: &Act) -> Result<()> {
    let window = of_caller(&act.cx, &act.caller, Bucket::Created, 1);
    take(&act.cx, &owner(&act.caller), &[(Bucket::Created, window)], &act.meter).await
}

/// Counts posts that are about to be created together; returns how many of them may be. If `partly`, those that fit are
/// counted, else all or none.
///
/// # Errors
/// [`Code::RateLimited`] if none may be.
pub async fn count_created_many(act: &Act, count: u64, partly: bool) -> Result<u64> {
    let asked = |count| (Bucket::Created, of_caller(&act.cx, &act.caller, Bucket::Created, count));
    let owner = owner(&act.caller);
    let Err(refused) = take(&act.cx, &owner, &[asked(count)], &act.meter).await else {
        return Ok(count);
    };
    let fits = refused.details().remaining.unwrap_or(0).min(count);
    if !partly || fits == 0 {
        return Err(refused);
    }
    take(&act.cx, &owner, &[asked(fits)], &act.meter).await.map(|()| fits)
}

/// Takes the count back, because the post was not created.
pub async fn uncount_created(act: &Act) {
    uncount_created_many(act, 1).await;
}

/// Takes the count of several posts back.
pub async fn uncount_created_many(act: &Act, count: u64) {
    if count > 0 {
        let window = of_caller(&act.cx, &act.caller, Bucket::Created, count);
        act.cx.limits.refund(&owner(&act.caller), &[window]).await;
    }
}

/// The start of the owner of what all keys of one workspace share.
const OF_WORKSPACE: &str = "workspace:";

/// Returns the owner of a caller's counters. Keys are counted with their users, so that one call of the store reads
/// both. Keys that are bound to a workspace count on the workspace, all together, and an access token counts there
/// for its user alone: the limits that their replies show say nothing of what the user does elsewhere.
fn owner(caller: &Caller) -> String {
    match caller.key_workspace {
        None => format!("person:{}", caller.user_id),
        Some(workspace) if caller.token.is_none() => format!("{OF_WORKSPACE}{workspace}"),
        Some(workspace) => format!("person:{}:{workspace}", caller.user_id),
    }
}

fn of_caller(cx: &Domain, caller: &Caller, bucket: Bucket, cost: u64) -> Window {
    let of = match bucket.rule().per {
        LimitOwner::Key => format!(":{}", caller.key_id),
        LimitOwner::Person | LimitOwner::Address | LimitOwner::Email | LimitOwner::Everybody => {
            String::new()
        }
    };
    window(cx, bucket, of, cost)
}

fn window(cx: &Domain, bucket: Bucket, of: String, cost: u64) -> Window {
    let rule = bucket.rule();
    let limit = (f64::from(rule.limit) * cx.settings.limits_factor).round().max(1.0);
    Window { name: format!("{}{of}", rule.name), limit: limit as u64, span: rule.span, cost }
}

async fn take(cx: &Domain, owner: &str, asked: &[(Bucket, Window)], meter: &Meter) -> Result<()> {
    let windows: Vec<Window> = asked.iter().map(|(_, window)| window.clone()).collect();
    let TakeResult { counts, refused_by } = cx.limits.take(owner, &windows).await;
    let now = cx.clock.now();
    for ((bucket, _), count) in asked.iter().zip(&counts) {
        meter.note(*bucket, LimitState::of(*count, now));
    }
    match refused_by {
        None => Ok(()),
        Some(place) => {
            let is_shared = owner.starts_with(OF_WORKSPACE);
            Err(refusal((asked[place].0, is_shared), counts[place], now))
        }
    }
}

/// Returns the error at a limit; `is_shared` if all keys of the workspace count together.
fn refusal(
    (bucket, is_shared): (Bucket, bool),
    count: Count,
    now: fanfare_entities::Millis,
) -> Error {
    let (standing, seconds) = (LimitState::of(count, now), seconds(count.reset_in).max(1));
    let mut what = bucket.rule().what.to_owned();
    if is_shared && bucket.rule().per == LimitOwner::Person {
        what = what.replace("and person", "and workspace").replace("and user", "and workspace");
    }
    let message = format!(
        "The limit of {} {what} is reached; try again in {seconds} seconds.",
        standing.limit
    );
    Error::new(Code::RateLimited, message).with_retry_after(seconds).with_details(RefusalDetails {
        limit: Some(standing.limit),
        remaining: Some(standing.remaining),
        reset: Some(standing.reset),
        ..RefusalDetails::default()
    })
}

/// Returns whole seconds, rounded up, so that the wait is never too short.
fn seconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis().div_ceil(1_000)).unwrap_or(u64::MAX)
}

/// The state of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitState {
    /// The most requests of a window.
    pub limit: u64,
    /// The requests that are left in this window.
    pub remaining: u64,
    /// The time at which the window ends, in Unix seconds.
    pub reset: u64,
}

impl LimitState {
    fn of(count: Count, now: fanfare_entities::Millis) -> Self {
        let reset = Duration::from_millis(now.max(0).unsigned_abs()) + count.reset_in;
        Self { limit: count.limit, remaining: count.remaining, reset: seconds(reset) }
    }
}

/// Collects the states of the limits that one request was counted against. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Meter(Arc<Mutex<Vec<(Bucket, LimitState)>>>);

impl Meter {
    fn note(&self, bucket: Bucket, standing: LimitState) {
        self.forget(bucket);
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.push((bucket, standing));
    }

    fn forget(&self, bucket: Bucket) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.retain(|(other, _)| *other != bucket);
    }

    /// Returns the limit with the fewest requests left, and how it stands. The limits of the address are returned only if there is no other.
    #[must_use]
    pub fn nearest(&self) -> Option<(Bucket, LimitState)> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = noted.iter().filter(|(bucket, _)| bucket.rule().per != LimitOwner::Address);
        let nearest =
            own.min_by_key(|(_, standing)| (standing.remaining, u64::MAX - standing.reset));
        let of_address = noted.iter().min_by_key(|(_, standing)| standing.remaining);
        nearest.or(of_address).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_its_buckets() {
        for (place, rule) in TABLE.iter().enumerate() {
            assert_eq!(rule.bucket as usize, place, "{}", rule.name);
            assert_eq!(rule.bucket.rule().name, rule.name);
        }
        assert_eq!(TABLE.len(), Bucket::PaymentPages as usize + 1);
    }

    #[test]
    fn the_limit_nearest_to_its_end_is_shown() {
        let at = |remaining| LimitState { limit: 100, remaining, reset: 7 };
        let meter = Meter::default();
        assert_eq!(meter.nearest(), None);
        meter.note(Bucket::Address, at(1));
        assert_eq!(meter.nearest(), Some((Bucket::Address, at(1))));
        meter.note(Bucket::Other, at(90));
        meter.note(Bucket::Reads, at(80));
        assert_eq!(meter.nearest(), Some((Bucket::Reads, at(80))));
        meter.note(Bucket::Reads, at(95));
        assert_eq!(meter.nearest(), Some((Bucket::Other, at(90))));
    }

    #[test]
    fn a_refusal_says_when_to_come_back() {
        let count = Count { limit: 100, remaining: 0, reset_in: Duration::from_millis(1_500) };
        let error = refusal((Bucket::Posts, false), count, 10_000);
        assert_eq!((error.status(), error.retry_after_seconds()), (429, Some(2)));
        let said = error.details();
        assert_eq!((said.limit, said.reset), (Some(100), Some(12)));
        assert!(error.message().contains("100 requests to create posts per hour and key"));
    }
}
