//! The refresh schedule of an account: when its tokens are refreshed, and when its owner is warned.
//!
//! Tokens that live for hours are refreshed just before the call that needs them; to refresh them all day for accounts
//! that post once a week would only burden the network. The schedule covers tokens that would expire unused: tokens
//! that live for weeks, and refresh tokens.

use std::time::Duration;

use fanfare_entities::Millis;
use fanfare_platforms::{
    ConnectSpec, Platform, Secrets,
    oauth::{self, Oauth, TokenRenewal},
};
use rand::RngExt;

const HOUR: Millis = 3_600_000;

/// A token with a shorter lifetime is refreshed when it is needed.
const SHORT_LIVED: Millis = 12 * HOUR;

/// The assumed lifetime of a refresh token without an expiry date.
const DEFAULT_REFRESH_LIFETIME: Duration = Duration::from_secs(60 * 24 * 3_600);

/// The times before the expiry of a token at which the owner is warned, in ms, each once.
pub(super) const WARNINGS: [(Millis, &str); 3] =
    [(7 * 24 * HOUR, "7 days"), (24 * HOUR, "24 hours"), (HOUR, "1 hour")];

/// The interval, in the last week, of checks for posts that are scheduled after the expiry.
const CHECK_INTERVAL: Millis = HOUR;

/// The times of the next refresh and the next upkeep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RefreshSchedule {
    /// The time of the next refresh.
    pub refresh_at: Option<Millis>,
    /// The time of the next upkeep, for a refresh or a warning.
    pub due_at: Option<Millis>,
}

impl RefreshSchedule {
    /// Returns the schedule for tokens that were obtained at `now`.
    pub(super) fn new(
        platform: &dyn Platform,
        secrets: &Secrets,
        ends_at: Option<Millis>,
        now: Millis,
    ) -> Self {
        let refresh_at = refresh_at(platform, secrets, ends_at, now);
        // An account whose tokens are refreshed gets no warning unless a refresh fails.
        let warning = if refresh_at.is_none() { next_check(ends_at, now) } else { None };
        Self { refresh_at, due_at: refresh_at.or(warning) }
    }
}

/// Returns the time at which tokens are refreshed: when a sixth of their lifetime is left, or when the refresh token
/// has lived two thirds of its own. Accounts that were connected together are spread, so that they are not refreshed at
/// the same time.
fn refresh_at(
    platform: &dyn Platform,
    secrets: &Secrets,
    ends_at: Option<Millis>,
    now: Millis,
) -> Option<Millis> {
    if !platform.can_refresh(secrets) {
        return None;
    }
    let late = |end: Millis| end - (end - now) / 6;
    let latest = match platform.spec().connect {
        // Only a token that is still valid can be exchanged, however short its lifetime.
        ConnectSpec::Oauth(Oauth {
            renewal: TokenRenewal::Exchange(_) | TokenRenewal::Never,
            ..
        }) => late(ends_at?),
        ConnectSpec::Oauth(Oauth { renewal: TokenRenewal::RefreshToken { idle }, .. }) => {
            let token = ends_at.filter(|end| end - now >= SHORT_LIVED).map(late);
            let unused = refresh_before_idle(secrets, idle, now);
            token.map_or(unused, |token| token.min(unused))
        }
        ConnectSpec::Credentials(_) => refresh_before_idle(secrets, DEFAULT_REFRESH_LIFETIME, now),
    };
    let spread = (latest - now) / 12;
    let early = if spread > 0 { rand::rng().random_range(0..spread) } else { 0 };
    Some(latest - early)
}

/// Returns the time at which an unused refresh token has lived two thirds of its lifetime.
fn refresh_before_idle(secrets: &Secrets, idle: Duration, now: Millis) -> Millis {
    let idle = Millis::try_from(idle.as_millis()).unwrap_or(Millis::MAX / 4);
    let life =
        oauth::refresh_token_expiry(secrets).map_or(idle, |end| end.timestamp_millis() - now);
    now + life / 3 * 2
}

/// Returns the time of the next check whether a warning is due; `None` after the expiry.
pub(super) fn next_check(ends_at: Option<Millis>, now: Millis) -> Option<Millis> {
    let end = ends_at.filter(|end| *end > now)?;
    let next = WARNINGS.iter().map(|(before, _)| end - before).find(|at| *at > now);
    let begun = now >= end - WARNINGS[0].0;
    match (next, begun) {
        (Some(next), false) => Some(next),
        (Some(next), true) => Some(next.min(now + CHECK_INTERVAL)),
        (None, _) => Some((now + CHECK_INTERVAL).min(end)),
    }
}

/// Returns how many warnings are due at this time.
pub(super) fn warnings_due(ends_at: Option<Millis>, now: Millis) -> usize {
    let Some(end) = ends_at else { return 0 };
    WARNINGS.iter().filter(|(before, _)| now >= end - before).count()
}

#[cfg(test)]
mod tests {
    use fanfare_platforms::{PlatformId, find};

    use super::*;

    const DAY: Millis = 24 * HOUR;

    fn schedule(
        platform: PlatformId,
        secrets: &Secrets,
        ends_at: Option<Millis>,
    ) -> RefreshSchedule {
        RefreshSchedule::new(find(platform), secrets, ends_at, 0)
    }

    #[test]
    fn a_token_of_weeks_is_refreshed_ahead_and_never_at_once_with_others() {
        let plans: Vec<_> = (0..50)
            .map(|_| {
                schedule(PlatformId::Threads, &Secrets::new(), Some(60 * DAY)).refresh_at.unwrap()
            })
            .collect();
        assert!(plans.iter().all(|at| (45 * DAY..=50 * DAY).contains(at)), "{plans:?}");
        assert!(plans.iter().min() < plans.iter().max());
    }

    #[test]
    fn a_token_of_hours_is_left_to_whoever_needs_it() {
        let schedule = schedule(PlatformId::Bluesky, &Secrets::new(), Some(2 * HOUR));
        assert!(schedule.refresh_at > Some(30 * DAY) && schedule.due_at == schedule.refresh_at);
    }

    #[test]
    fn credentials_without_an_end_are_left_alone() {
        let none = RefreshSchedule { refresh_at: None, due_at: None };
        assert_eq!(schedule(PlatformId::Discord, &Secrets::new(), None), none);
    }

    #[test]
    fn warnings_come_a_week_a_day_and_an_hour_before() {
        let end = Some(30 * DAY);
        assert_eq!(next_check(end, 0), Some(23 * DAY));
        assert_eq!(next_check(end, 23 * DAY), Some(23 * DAY + HOUR));
        assert_eq!(next_check(end, 29 * DAY - 1), Some(29 * DAY));
        assert_eq!(next_check(end, 30 * DAY - HOUR), Some(30 * DAY));
        assert_eq!(next_check(end, 30 * DAY), None);
        assert_eq!(next_check(None, 0), None);
        let stages = [0, 23 * DAY, 29 * DAY, 30 * DAY - HOUR].map(|now| warnings_due(end, now));
        assert_eq!(stages, [0, 1, 2, 3]);
    }
}
