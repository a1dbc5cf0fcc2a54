//! Rate limits of networks on public calls, shared by all workers.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use fanfare_core::{Domain, Result};
use fanfare_entities::{AccountId, Millis, account};
use fanfare_limits::{Decision, Request};
use fanfare_platforms::{LimitScope, Phase, Platform, RateLimit};
use fanfare_publishing::{
    network_limits::LimitNames,
    posts::quota::{PostCounts, count_posts},
};

use super::retry_policy::millis;

/// Limits of this length are also counted in the database, which keeps its data when the store of limits loses its own.
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// The time for which the counted posts of an account are cached, in ms. The count is only needed for posts that the
/// store of limits has lost.
const CACHE_TTL: Millis = 10_000;

/// A call that needs room in the rate limits.
#[derive(Debug, Clone)]
pub struct RateLimitRequest {
    request: Request,
    account: AccountId,
    post_type: String,
    /// The daily limits of the account, for all post types or for some.
    daily: Vec<RateLimit>,
}

/// The time at which the call may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateLimitDecision {
    /// Now.
    Now,
    /// At this time; it is reserved for the call.
    At(Millis),
    /// The day's posts are used up until then.
    Exhausted(Millis),
}

impl RateLimitRequest {
    /// Returns the request for the call of a post's next step; `call` is its unique name. A preparing call is not
    /// counted, but waits too while its account is blocked.
    pub fn of(
        (post, post_type, call): (i64, &str, String),
        phase: Phase,
        platform: &dyn Platform,
        account: &account::Model,
        lines: &LimitNames,
        sandbox_limits: bool,
    ) -> Self {
        let is_counted = phase == Phase::Commit && (sandbox_limits || !account.sandbox);
        let rate_limits =
            if is_counted { platform.rate_limits(&account.meta) } else { Cow::Borrowed(&[][..]) };
        let counted = rate_limits.iter().filter(|limit| limit.applies_to(post_type));
        let subjects = lines.subjects(platform, account, counted);
        let of_day = |limit: &&RateLimit| {
            limit.scope == LimitScope::Account && limit.period == DAY && limit.applies_to(post_type)
        };
        let daily = rate_limits.iter().filter(of_day).copied().collect();
        let request = Request { id: post.to_string(), call, is_again: false, subjects };
        Self { request, account: account.id, post_type: post_type.to_owned(), daily }
    }

    /// Returns the request for the same call, which was allowed before but not made.
    pub fn again(&self) -> Self {
        let mut again = self.clone();
        again.request.is_again = true;
        again
    }

    /// Gives back the room of a call that was allowed and is not made.
    pub async fn release(&self, cx: &Domain) {
        if self.request.subjects.iter().any(|subject| !subject.rates.is_empty()) {
            cx.limits.release(&self.request).await;
        }
    }
}

/// Checks the rate limits for the workers of one process.
#[derive(Default)]
pub struct Limiter {
    /// The recent posts of accounts with a daily limit, and when they were counted.
    cache: Mutex<HashMap<AccountId, (Millis, PostCounts)>>,
}

impl Limiter {
    /// Decides on a group of calls, with one call of the store and one statement for accounts with a daily limit that
    /// are not in the cache.
    ///
    /// # Errors
    /// The database's.
    pub async fn decide(
        &self,
        cx: &Domain,
        requests: &[Arc<RateLimitRequest>],
    ) -> Result<Vec<RateLimitDecision>> {
        let now = cx.clock.now();
        self.refresh_cache(cx, requests, now).await?;
        let exhausted: Vec<Option<Millis>> = {
            let mut known = self.cache();
            requests.iter().map(|one| exhausted(one, &mut known, now)).collect()
        };
        let open = requests.iter().zip(&exhausted).filter(|(_, until)| until.is_none());
        let open: Vec<&Request> = open.map(|(one, _)| &one.request).collect();
        let mut decisions = cx.limits.acquire(&open).await.into_iter();
        // Reads the clock again: a wait counts from the answer on, and a call that comes too early would wait once
        // more.
        let now = cx.clock.now();
        let decision = |until: Option<Millis>| match until {
            Some(until) => RateLimitDecision::Exhausted(until),
            None => match decisions.next() {
                Some(Decision::After(wait)) => RateLimitDecision::At(now + millis(wait)),
                Some(Decision::Now) | None => RateLimitDecision::Now,
            },
        };
        Ok(exhausted.into_iter().map(decision).collect())
    }

    async fn refresh_cache(
        &self,
        cx: &Domain,
        requests: &[Arc<RateLimitRequest>],
        now: Millis,
    ) -> Result<()> {
        let daily = requests.iter().filter(|one| !one.daily.is_empty()).map(|one| one.account);
        let unknown: BTreeSet<AccountId> = {
            let mut known = self.cache();
            known.retain(|_, (read_at, _)| (*read_at..*read_at + CACHE_TTL).contains(&now));
            daily.filter(|account| !known.contains_key(account)).collect()
        };
        if unknown.is_empty() {
            return Ok(());
        }
        let spent = count_posts(cx, &unknown, now - millis(DAY)).await?;
        let read = |account| (account, (now, spent.get(&account).cloned().unwrap_or_default()));
        self.cache().extend(unknown.into_iter().map(read));
        Ok(())
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<AccountId, (Millis, PostCounts)>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the time at which the account may post again, if its daily limit is used up. Waiting posts are spread over
/// the day, so that they do not all go out at once.
fn exhausted(
    request: &RateLimitRequest,
    known: &mut HashMap<AccountId, (Millis, PostCounts)>,
    now: Millis,
) -> Option<Millis> {
    let (_, spent) = known.get_mut(&request.account)?;
    let full = |daily: &RateLimit| {
        let limit = i64::from(daily.calls);
        let (posts, oldest) = spent.count(|kind| daily.applies_to(kind));
        let place = posts.checked_sub(limit).filter(|place| *place >= 0)?;
        Some(oldest + millis(DAY) + place * (millis(DAY) / limit.max(1)))
    };
    let until = request.daily.iter().filter_map(full).max().filter(|until| *until > now)?;
    spent.add(&request.post_type);
    Some(until)
}

#[cfg(test)]
mod tests {
    use fanfare_entities::{UserId, WorkspaceId, account::AccountStatus};
    use fanfare_limits::{Rate, Subject};
    use fanfare_outbound::{Client, Policy};
    use fanfare_platforms::{Account, PlatformId, Secrets, Session};
    use fanfare_publishing::network_limits::account_name;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn account(sandbox: bool) -> account::Model {
        account::Model {
            id: AccountId(7),
            workspace_id: WorkspaceId(Uuid::nil()),
            brand_id: None,
            platform: "telegram".into(),
            remote_id: "-1001".into(),
            username: "news".into(),
            display_name: None,
            status: AccountStatus::Connected,
            sandbox,
            meta: json!({"bot_username": "news_bot"}),
            secret_id: None,
            token_expires_at: None,
            refreshing_until: None,
            refresh_at: None,
            warned: 0,
            revoking_id: None,
            due_at: None,
            fencing_token: 0,
            attempts: 0,
            lease_expirations: 0,
            connected_by: UserId(Uuid::nil()),
            created_at: 0,
            updated_at: 0,
        }
    }

    fn session(account: &account::Model) -> Session {
        Session {
            http: Client::new(Policy { allow_private: false }).unwrap(),
            base: None,
            simulated: false,
            account: Account {
                meta: account.meta.as_object().cloned().unwrap(),
                ..Account::default()
            },
            secrets: Secrets::default(),
            app: None,
            picture_shrinker: None,
            usage: fanfare_platforms::UsageTracker::default(),
            video_service: fanfare_platforms::VideoService::default(),
            now: fanfare_core::clock::date(0),
        }
    }

    fn subjects(phase: Phase, account: &account::Model, sandbox_limits: bool) -> Vec<Subject> {
        let telegram = fanfare_platforms::find(PlatformId::Telegram);
        let lines = LimitNames::of(telegram, account, &session(account));
        RateLimitRequest::of(
            (1, "feed", String::new()),
            phase,
            telegram,
            account,
            &lines,
            sandbox_limits,
        )
        .request
        .subjects
    }

    #[test]
    fn a_public_call_is_counted_against_its_account_and_its_app() {
        let [chat, bot] = &subjects(Phase::Commit, &account(false), false)[..] else {
            panic!("two subjects")
        };
        assert_eq!((chat.name.as_str(), chat.rates.len()), ("account:telegram:-1001", 2));
        assert_eq!((bot.name.as_str(), bot.rates.len()), ("app:telegram:news_bot", 1));
        assert_eq!(bot.rates[0], Rate { limit: 30, span: Duration::from_millis(1_200) });
    }

    #[test]
    fn what_is_not_counted_waits_only_while_its_account_is_closed() {
        let uncounted = |sandbox| {
            let name = account_name(&account(sandbox));
            vec![Subject { name, rates: Vec::new() }]
        };
        assert_eq!(subjects(Phase::Prepare, &account(false), true), uncounted(false));
        assert_eq!(subjects(Phase::Commit, &account(true), false), uncounted(true));
        let counted = subjects(Phase::Commit, &account(true), true);
        assert_eq!(counted[1].name, "app:telegram:sandbox:news_bot");
    }

    #[test]
    fn a_limit_of_one_kind_of_post_is_counted_beside_the_others() {
        let page = account::Model { platform: "facebook".into(), ..account(false) };
        let facebook = fanfare_platforms::find(PlatformId::Facebook);
        let lines = LimitNames::of(facebook, &page, &session(&page));
        let of = |kind| (1, kind, String::new());
        let wanted =
            |kind| RateLimitRequest::of(of(kind), Phase::Commit, facebook, &page, &lines, false);
        let names = |wanted: RateLimitRequest| {
            wanted
                .request
                .subjects
                .into_iter()
                .map(|one| (one.name, one.rates.len()))
                .collect::<Vec<_>>()
        };
        let reel = names(wanted("reel"));
        assert!(reel.contains(&("account:facebook:-1001:reel".to_owned(), 1)), "{reel:?}");
        assert_eq!(names(wanted("feed")).len(), reel.len() - 1);
        assert_eq!((wanted("reel").daily.len(), wanted("feed").daily.len()), (1, 0));
    }

    #[test]
    fn those_that_wait_for_the_day_to_pass_come_one_after_the_other() {
        let subjects = Vec::new();
        let request = Request { id: "1".into(), call: "1".into(), is_again: false, subjects };
        let daily = vec![RateLimit::new(LimitScope::Account, 10, 86_400).for_post_types(&["reel"])];
        let post_type = "reel".to_owned();
        let wanted = RateLimitRequest { request, account: AccountId(7), post_type, daily };
        let of = |posts| {
            let mut spent = PostCounts::default();
            (0..posts).for_each(|_| spent.add_at("reel", 1_000));
            (0..100).for_each(|_| spent.add_at("feed", 500));
            HashMap::from([(AccountId(7), (0, spent))])
        };
        assert_eq!(exhausted(&wanted, &mut of(9), 2_000), None);
        let mut known = of(10);
        assert_eq!(exhausted(&wanted, &mut known, 2_000), Some(86_401_000));
        assert_eq!(exhausted(&wanted, &mut known, 2_000), Some(86_401_000 + 8_640_000));
        assert_eq!(exhausted(&wanted, &mut of(10), 86_401_000), None, "the oldest has gone");
    }
}
