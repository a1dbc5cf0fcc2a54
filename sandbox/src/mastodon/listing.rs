//! Reads of statuses.

use std::sync::Arc;

use serde_json::json;

use super::state::Status;
use super::{Cx, Mastodon, access, representations};
use crate::metrics::{self, MetricSubject};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The fields of a status with its metrics.
const COUNTS: [(&str, &str); 4] = [
    ("/favourites_count", "likes"),
    ("/replies_count", "comments"),
    ("/reblogs_count", "reposts"),
    ("/quotes_count", "quotes"),
];

/// Returns a status and its account.
pub(super) fn find(cx: &Cx, id: u64) -> Option<(Arc<Account<Mastodon>>, Status)> {
    cx.sim.all().into_iter().find_map(|account| {
        let status = account.read(|state| state.statuses.get(&id).cloned())?;
        Some((account, status))
    })
}

fn asked(cx: &Cx) -> Result<(Arc<Account<Mastodon>>, Status), Reply> {
    let id = cx.call.segment(3).parse().ok();
    id.and_then(|id| find(cx, id)).ok_or_else(|| access::failure(404, "Record not found"))
}

/// `GET /statuses/{id}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let (owner, status) = asked(cx)?;
    let base = cx.sim.base();
    let mut shown =
        owner.read(|state| representations::status(state, &status, &owner.identity, &base));
    let id = status.id.to_string();
    metrics::fill_metrics(&owner, MetricSubject::Post(&id), &mut shown, &COUNTS)?;
    Ok(Reply::ok(&shown))
}

/// `GET /statuses/{id}/source`: the text as it was written, for its author.
pub(super) fn source(cx: &Cx) -> HandlerResult {
    access::limited(cx, access::CALLS, |account| {
        let (owner, status) = asked(cx)?;
        if owner.identity.remote_id != account.identity.remote_id {
            return Err(access::failure(404, "Record not found"));
        }
        let id = status.id.to_string();
        Ok(Reply::ok(&json!({"id": id, "text": status.text, "spoiler_text": status.spoiler_text})))
    })
}

/// `GET /accounts/{id}/statuses`: newest first, those older than `max_id`.
pub(super) fn of_account(cx: &Cx) -> HandlerResult {
    access::limited(cx, access::CALLS, |_| {
        let owner = cx.sim.account(cx.call.segment(3));
        let owner = owner.ok_or_else(|| access::failure(404, "Record not found"))?;
        let query = |name: &str| cx.call.query_value(name);
        let limit: usize = query("limit").and_then(|limit| limit.parse().ok()).unwrap_or(20);
        let before: u64 = query("max_id").and_then(|id| id.parse().ok()).unwrap_or(u64::MAX);
        let base = cx.sim.base();
        let shown: Vec<_> = owner.read(|state| {
            let newest = state.statuses.range(..before).rev().map(|(_, status)| status);
            let newest = newest.take(limit.clamp(1, 40));
            newest
                .map(|status| representations::status(state, status, &owner.identity, &base))
                .collect()
        });
        Ok(Reply::ok(&shown))
    })
}
