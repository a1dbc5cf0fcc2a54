//! The owner of a request, the scopes of its token, and the daily quota.

use std::sync::Arc;

use super::{Cx, Youtube, failure};
use crate::call::Call;
use crate::google::access::{self, AccessError};
use crate::rate_limit::Limit;
use crate::reply::Reply;
use crate::sim::{Account, Sim};

const DAY_MS: i64 = 86_400_000;
/// Scopes that allow everything.
const ALL: [&str; 3] = ["youtube", "youtube.force-ssl", "youtubepartner"];
/// The scopes of a report: not all of those that allow everything else.
const REPORTS: [&str; 5] = [
    "youtube",
    "youtube.readonly",
    "youtubepartner",
    "yt-analytics.readonly",
    "yt-analytics-monetary.readonly",
];

/// The cost of calls: uploads have their own quota.
pub(super) const UPLOADS: (Limit, u32) =
    (Limit { name: "videos.insert", units: 100, span_ms: DAY_MS }, 1);
const UNITS: Limit = Limit { name: "units", units: 10_000, span_ms: DAY_MS };
pub(super) const READ: (Limit, u32) = (UNITS, 1);
pub(super) const WRITE: (Limit, u32) = (UNITS, 50);
/// Statistics of many videos have a quota of their own.
pub(super) const BATCHES: (Limit, u32) =
    (Limit { name: "videos.batchGetStats", units: 10_000, span_ms: DAY_MS }, 1);

/// Returns the account of a request: by its token, by its upload, or by the code it exchanges.
pub(super) fn caller(sim: &Sim<Youtube>, call: &Call) -> Option<Arc<Account<Youtube>>> {
    let of_upload = || match call.segments().as_slice() {
        ["upload", "youtube", "v3", "videos"]
        | ["resumable", "upload", "youtube", "v3", "videos"] => {
            access::owner(sim, &call.query_value("upload_id")?)
        }
        _ => None,
    };
    access::caller(sim, call).or_else(of_upload)
}

/// Returns the account of a valid token with one of these scopes, and counts the cost of the call.
pub(super) fn account_with_scope(
    cx: &Cx,
    scopes: &[&str],
    cost: (Limit, u32),
) -> Result<Arc<Account<Youtube>>, Reply> {
    account_with_any(cx, &[&ALL, scopes].concat(), cost)
}

/// Returns the account of a valid token that may read reports.
pub(super) fn account_with_reports(cx: &Cx) -> Result<Arc<Account<Youtube>>, Reply> {
    account_with_any(cx, &REPORTS, READ)
}

fn account_with_any(
    cx: &Cx,
    scopes: &[&str],
    (limit, cost): (Limit, u32),
) -> Result<Arc<Account<Youtube>>, Reply> {
    let account = access::account_with_scope(cx, scopes).map_err(|refused| match refused {
        AccessError::Token => failure::unauthorized(),
        AccessError::Scope => {
            let message = "Request had insufficient authentication scopes.";
            failure::error(403, "insufficientPermissions", message)
        }
    })?;
    if cx.sim.env.rate_limits() && !account.take_units(limit, cost, cx.now_ms()).allowed {
        let message = "The request cannot be completed because you have exceeded your quota.";
        return Err(failure::error(403, "quotaExceeded", message));
    }
    Ok(account)
}
