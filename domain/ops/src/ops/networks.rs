//! The state of publishing to each network.

use std::{collections::BTreeMap, time::Duration};

use fanfare_core::{Domain, db::statement, error::Result};
use fanfare_entities::Millis;
use fanfare_jobs::JobKind;
use fanfare_platforms::{LimitScope, RateLimit};
use sea_orm::FromQueryResult;
use serde::Serialize;

use super::samples::{self, MINUTE, SampleSum, measure};

/// A network as pages show it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Network {
    /// Identifier.
    pub platform: String,
    /// The last hour.
    pub hour: ResultCounts,
    /// The last day.
    pub day: ResultCounts,
    /// Accounts that can be used.
    pub connected: i64,
    /// Accounts whose credentials were refused.
    pub to_reconnect: i64,
    /// The network's limit that is used most; `None` if it has none.
    pub budget: Option<Budget>,
    /// The version of its API that we use, if it has versions.
    pub api_version: Option<&'static str>,
    /// The days until that version ends, below 0 once it has ended; `None` while no end is known.
    pub api_days_left: Option<i64>,
    /// The newest version that was known when somebody last looked.
    pub api_newest_known: Option<&'static str>,
    /// The day on which somebody last looked, if that is too long ago.
    pub api_unchecked_since: Option<&'static str>,
    /// Why others may not see what the network calls published, where its answers do not tell.
    pub unseen: Option<&'static str>,
    /// True if the operator has raised the version to one that this release was not tested with.
    pub api_untested: bool,
}

impl Network {
    /// Returns what to do about the end of its API's version, if it is near or over.
    #[must_use]
    pub fn api_remedy(&self) -> Option<&'static str> {
        api_remedy(self.api_days_left?)
    }

    /// Returns true if the version of its API ends soon, or has ended.
    #[must_use]
    pub fn api_ends_soon(&self) -> bool {
        self.api_days_left.is_some_and(|days| days <= API_WARNING_DAYS[1])
    }
}

/// The numbers of days before the end of an API version at which operators are warned, each time more urgently.
const API_WARNING_DAYS: [i64; 3] = [180, 60, 14];

/// Returns what to do about a version that ends in so many days, if that is near or over.
#[must_use]
pub const fn api_remedy(days_left: i64) -> Option<&'static str> {
    let [notice, warning, urgent] = API_WARNING_DAYS;
    Some(match days_left {
        days if days <= urgent => "update Fanfare now",
        days if days <= warning => "update Fanfare soon",
        days if days <= notice => "update Fanfare before",
        _ => return None,
    })
}

/// A network's limit for all accounts together, and the number of posts counted against it.
#[derive(Debug, Clone, Serialize)]
pub struct Budget {
    /// Posts published in `window`.
    pub used: i64,
    /// Posts that its limit allows in `window`.
    pub allowed: i64,
    /// The window in ms: the last hour or the last day, whichever is nearer to the span of the limit.
    pub window: Millis,
}

impl Budget {
    /// Returns the used share.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of a day are far below 2^52")]
    pub fn share(&self) -> f64 {
        self.used as f64 / self.allowed.max(1) as f64
    }

    /// Returns the limit that is used most. Limits of an app and of a workspace are counted as if there were one of
    /// each.
    fn of(
        rate_limits: &[RateLimit],
        connected: i64,
        hour: &ResultCounts,
        day: &ResultCounts,
    ) -> Option<Self> {
        let hour_long = Duration::from_secs(3_600);
        // The counters do not distinguish post types, so limits on some types are left out.
        let of_all = rate_limits.iter().filter(|limit| limit.post_types.is_empty());
        let budgets = of_all.map(|limit| {
            let (window, tally) =
                if limit.period <= hour_long { (60, hour) } else { (24 * 60, day) };
            let window: Millis = window * MINUTE;
            let span = i64::try_from(limit.period.as_millis()).unwrap_or(window).max(1);
            let holders = if limit.scope == LimitScope::Account { connected } else { 1 };
            let allowed = i64::from(limit.calls) * holders * (window / span).max(1);
            Self { used: tally.published, allowed, window }
        });
        budgets.filter(|one| one.allowed > 0).max_by(|a, b| a.share().total_cmp(&b.share()))
    }
}

/// Counts of posts by result.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ResultCounts {
    /// Published.
    pub published: i64,
    /// Failed for good.
    pub failed: i64,
    /// Attempts that are retried.
    pub retried: i64,
    /// Published posts that others see than they were meant for, as the network says.
    pub hidden: i64,
    /// Looks at a published post without a log-in that showed it.
    pub looks_open: i64,
    /// Such looks that did not show it.
    pub looks_closed: i64,
    /// The codes of failures and of retried attempts, with their number, the most frequent first.
    pub errors: Vec<(String, i64)>,
}

impl ResultCounts {
    /// Returns the share of ended posts that were published; `None` if no post ended.
    #[must_use]
    pub fn success_rate(&self) -> Option<f64> {
        let ended = self.published + self.failed;
        #[expect(clippy::cast_precision_loss, reason = "counts of a day are far below 2^52")]
        (ended > 0).then(|| self.published as f64 / ended as f64)
    }

    fn of(platform: &str, sums: &[SampleSum]) -> Self {
        let kind = JobKind::PublishPost.as_str();
        let mine = sums.iter().filter(|sum| sum.kind == kind && sum.platform == platform);
        let mut tally = Self::default();
        let mut errors = BTreeMap::<&str, i64>::new();
        for sum in mine {
            match sum.measure.as_str() {
                measure::DONE => tally.published += sum.n,
                measure::FAILED => tally.failed += sum.n,
                measure::RETRIED => tally.retried += sum.n,
                measure::HIDDEN => tally.hidden += sum.n,
                measure::LOOK_OPEN => tally.looks_open += sum.n,
                measure::LOOK_CLOSED => tally.looks_closed += sum.n,
                other => {
                    if let Some(code) = other.strip_prefix(measure::ERROR) {
                        *errors.entry(code).or_default() += sum.n;
                    }
                }
            }
        }
        tally.errors = errors.into_iter().map(|(code, n)| (code.to_owned(), n)).collect();
        tally.errors.sort_by_key(|(_, n)| -n);
        tally
    }
}

/// Returns the identifiers of the networks that have a connector.
#[must_use]
pub fn platform_ids() -> Vec<&'static str> {
    fanfare_platforms::all().iter().map(|platform| platform.spec().id.as_str()).collect()
}

/// Returns every network.
///
/// # Errors
/// The database's.
pub async fn list(cx: &Domain) -> Result<Vec<Network>> {
    let now = cx.clock.now();
    let today = cx.clock.date().date_naive();
    // One step that covers the whole time, because only the sums are needed.
    let whole: Millis = 48 * 60 * MINUTE;
    let hour = samples::sums(cx, now - 60 * MINUTE, whole).await?;
    let day = samples::sums(cx, now - 24 * 60 * MINUTE, whole).await?;
    let accounts = accounts(cx).await?;
    let count = |platform: &str, status: &str| -> i64 {
        let mine = accounts.iter().filter(|one| one.platform == platform && one.status == status);
        mine.map(|one| one.n).sum()
    };
    let networks = fanfare_platforms::all().iter().map(|network| {
        let (spec, connected) = (network.spec(), count(network.spec().id.as_str(), "connected"));
        let (platform, api) = (spec.id.as_str(), spec.api_in_use());
        let (hour, day) = (ResultCounts::of(platform, &hour), ResultCounts::of(platform, &day));
        Network {
            platform: platform.to_owned(),
            connected,
            to_reconnect: count(platform, "reconnect_required"),
            budget: Budget::of(spec.rate_limits, connected, &hour, &day),
            api_version: api.map(|api| api.version),
            api_days_left: api.and_then(|api| api.days_left(today)),
            api_newest_known: api.map(|api| api.newest_known),
            api_unchecked_since: api
                .filter(|api| api.is_unchecked(today))
                .map(|api| api.checked_at),
            unseen: spec.unseen,
            api_untested: !spec.is_api_tested(),
            hour,
            day,
        }
    });
    Ok(networks.collect())
}

#[derive(FromQueryResult)]
struct Accounts {
    platform: String,
    status: String,
    n: i64,
}

async fn accounts(cx: &Domain) -> Result<Vec<Accounts>> {
    let conn = &cx.db.read;
    let sql = "SELECT platform, status, CAST(count(*) AS BIGINT) AS n FROM accounts \
               GROUP BY platform, status";
    Ok(Accounts::find_by_statement(statement(conn, sql, [])).all(conn).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(published: i64) -> ResultCounts {
        ResultCounts { published, ..ResultCounts::default() }
    }

    #[test]
    fn the_limit_of_which_most_was_used_is_shown() {
        let rate_limits = [
            RateLimit::new(LimitScope::Account, 20, 60),
            RateLimit::new(LimitScope::Account, 250, 86_400),
        ];
        let budget = Budget::of(&rate_limits, 2, &published(30), &published(400)).unwrap();
        assert_eq!((budget.used, budget.allowed, budget.window), (400, 500, 86_400_000));
        let busy_hour = Budget::of(&rate_limits, 2, &published(2_000), &published(400)).unwrap();
        assert_eq!((busy_hour.used, busy_hour.allowed), (2_000, 2_400));
    }

    #[test]
    fn the_end_of_a_version_is_told_in_time() {
        let ends_soon =
            |api_days_left| Network { api_days_left, ..Network::default() }.api_ends_soon();
        assert!(ends_soon(Some(60)) && ends_soon(Some(-1)));
        assert!(!ends_soon(Some(61)) && !ends_soon(None));
        let remedies = [181, 180, 60, 14, -1].map(api_remedy);
        assert_eq!(remedies[0], None);
        assert!(remedies[1..4].windows(2).all(|pair| pair[0] != pair[1] && pair[0].is_some()));
        assert_eq!(remedies[3], remedies[4]);
    }

    #[test]
    fn without_a_limit_or_an_account_there_is_no_budget() {
        assert!(Budget::of(&[], 2, &published(1), &published(1)).is_none());
        let rate_limits = [RateLimit::new(LimitScope::Account, 250, 86_400)];
        assert!(Budget::of(&rate_limits, 0, &published(1), &published(1)).is_none());
    }
}
