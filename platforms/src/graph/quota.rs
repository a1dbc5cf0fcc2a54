//! The number of posts that Meta's networks let an account publish in 24 hours, which differs between accounts.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{LimitScope, RateLimit};

/// The public fact of an account that holds the number.
const POSTS_A_DAY: &str = "posts_a_day";

/// A day in seconds.
const DAY: u64 = 86_400;

/// The posts that an account has used, and those that it may use.
#[derive(Debug, Default, Deserialize)]
pub struct Quota {
    #[serde(default)]
    quota_usage: u32,
    config: Option<QuotaConfig>,
}

#[derive(Debug, Deserialize)]
struct QuotaConfig {
    quota_total: u32,
    quota_duration: Option<u64>,
}

impl Quota {
    /// Returns true if nothing is left. An account without a number has no limit.
    pub fn is_used_up(&self) -> bool {
        self.config.as_ref().is_some_and(|config| self.quota_usage >= config.quota_total)
    }

    /// Returns the number as a public fact of the account; null if the network names none for a day.
    pub fn facts(&self) -> Map<String, Value> {
        let daily = self.config.as_ref().filter(|config| {
            config.quota_total > 0 && config.quota_duration.is_none_or(|span| span == DAY)
        });
        let posts = daily.map(|config| config.quota_total);
        Map::from_iter([(POSTS_A_DAY.to_owned(), json!(posts))])
    }
}

/// Returns true if the number was read.
pub fn is_known(meta: &Map<String, Value>) -> bool {
    meta.contains_key(POSTS_A_DAY)
}

/// Returns these limits with the account's own number of posts in a day, once it is known.
pub fn rate_limits(usual: &'static [RateLimit], meta: &Value) -> Cow<'static, [RateLimit]> {
    let own = meta[POSTS_A_DAY].as_u64().and_then(|posts| u32::try_from(posts).ok());
    let Some(own) = own.filter(|posts| *posts > 0) else { return Cow::Borrowed(usual) };
    let is_of_day = |limit: &RateLimit| {
        limit.scope == LimitScope::Account
            && limit.period.as_secs() == DAY
            && limit.post_types.is_empty()
    };
    let with_own = |limit: &RateLimit| {
        if is_of_day(limit) { RateLimit { calls: own, ..*limit } } else { *limit }
    };
    usual.iter().map(with_own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &[RateLimit] = &[
        RateLimit::new(LimitScope::Account, 10, 60),
        RateLimit::new(LimitScope::Account, 50, DAY),
    ];

    fn read(answer: Value) -> Quota {
        serde_json::from_value(answer).unwrap()
    }

    #[test]
    fn an_accounts_own_number_takes_the_place_of_the_usual_one() {
        let answer =
            json!({"quota_usage": 3, "config": {"quota_total": 25, "quota_duration": 86_400}});
        let facts = read(answer).facts();
        assert!(is_known(&facts));
        let limits = rate_limits(USUAL, &Value::Object(facts));
        assert_eq!(limits.iter().map(|limit| limit.calls).collect::<Vec<_>>(), [10, 25]);
        assert_eq!(rate_limits(USUAL, &json!({}))[1].calls, 50, "until it is read");
    }

    #[test]
    fn a_number_of_another_span_and_none_at_all_change_nothing() {
        let hourly =
            json!({"quota_usage": 3, "config": {"quota_total": 5, "quota_duration": 3_600}});
        let none = read(json!({"quota_usage": 900}));
        assert!(!none.is_used_up());
        for facts in [read(hourly).facts(), none.facts()] {
            assert!(is_known(&facts), "it is not read again before the next day");
            assert_eq!(rate_limits(USUAL, &Value::Object(facts))[1].calls, 50);
        }
        assert!(read(json!({"quota_usage": 50, "config": {"quota_total": 50}})).is_used_up());
    }
}
