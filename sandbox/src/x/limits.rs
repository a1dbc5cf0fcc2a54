//! X's rate limits, which its headers report.

use super::failure::{self, reset_seconds};
use super::{Cx, X};
use crate::rate_limit::{Limit, LimitDecision};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

const QUARTER_MS: i64 = 15 * 60_000;
const DAY_MS: i64 = 86_400_000;

/// The limit on created posts of an account.
pub(super) const CREATE: Limit = Limit { name: "create", units: 100, span_ms: QUARTER_MS };
/// The limit on listing posts.
pub(super) const TIMELINE: Limit = Limit { name: "timeline", units: 900, span_ms: QUARTER_MS };
/// The limit on reading the own account.
pub(super) const ME: Limit = Limit { name: "me", units: 75, span_ms: QUARTER_MS };
/// The limit on posts of an app per day.
const DAY: Limit = Limit { name: "day", units: 10_000, span_ms: DAY_MS };

/// Runs `work` if the limit allows it. Every response reports the state of the limit, which applies only if limits are
/// enforced.
pub(super) fn limited(
    cx: &Cx,
    account: &Account<X>,
    limit: Limit,
    work: impl FnOnce() -> HandlerResult,
) -> HandlerResult {
    let now_ms = cx.now_ms();
    if !cx.sim.env.rate_limits() {
        let idle = LimitDecision {
            allowed: true,
            remaining: limit.units,
            reset_ms: now_ms + limit.span_ms,
        };
        return with_limit_headers(work(), limit, idle);
    }
    let paced = account.take_units(limit, 1, now_ms);
    if !paced.allowed {
        return Err(failure::too_many(paced.reset_ms).with("x-rate-limit-limit", limit.units));
    }
    with_limit_headers(work(), limit, paced)
}

fn with_limit_headers(answer: HandlerResult, limit: Limit, paced: LimitDecision) -> HandlerResult {
    let with = |reply: Reply| {
        reply
            .with("x-rate-limit-limit", limit.units)
            .with("x-rate-limit-remaining", paced.remaining)
            .with("x-rate-limit-reset", reset_seconds(paced.reset_ms))
    };
    answer.map(with).map_err(with)
}

/// Counts a post against the daily limit.
pub(super) fn day(cx: &Cx, account: &Account<X>) -> Result<(), Reply> {
    if !cx.sim.env.rate_limits() {
        return Ok(());
    }
    let paced = account.take_units(DAY, 1, cx.now_ms());
    if paced.allowed {
        return Ok(());
    }
    Err(failure::too_many(paced.reset_ms)
        .with("x-app-limit-24hour-limit", DAY.units)
        .with("x-app-limit-24hour-remaining", 0)
        .with("x-app-limit-24hour-reset", reset_seconds(paced.reset_ms)))
}
