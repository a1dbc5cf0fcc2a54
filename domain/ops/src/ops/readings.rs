//! The lag of reading analytics, inboxes and business profiles, for each network. Nothing here contains texts of users.

use std::{collections::BTreeMap, time::Duration};

use fanfare_core::{Domain, db::statement, error::Result};
use fanfare_entities::Millis;
use fanfare_insight::analytics;
use fanfare_jobs::JobKind;
use sea_orm::FromQueryResult;
use serde_json::Value;

use super::samples::{self, MINUTE, measure};

/// The kinds of work that read from networks, each with its table, its column of the account, and its column of the
/// last reading.
const READ_KINDS: [(JobKind, &str, &str, &str); 3] = [
    (JobKind::SyncAnalytics, "analytics_syncs", "id", "synced_at"),
    (JobKind::SyncInbox, "inbox_syncs", "account_id", "last_synced_at"),
    (JobKind::SyncBusiness, "business_profiles", "account_id", "synced_at"),
];

/// The most accounts whose refused metrics are counted.
const MAX_ACCOUNTS: i64 = 10_000;

/// The lag of reading one kind of thing on one network.
#[derive(Debug, Clone)]
pub struct ReadingLag {
    /// Identifier of the network.
    pub platform: String,
    /// The kind of work that reads.
    pub kind: &'static str,
    /// Connected accounts.
    pub accounts: i64,
    /// Accounts whose reading is due and has not begun.
    pub due: i64,
    /// The time for which the oldest of them has been due, in ms; `None` if none is due.
    pub lag: Option<Millis>,
    /// The oldest last reading; `None` if nothing was read yet.
    pub oldest: Option<Millis>,
    /// Accounts that were never read.
    pub never: i64,
    /// Readings that ended in the last hour.
    pub hour: i64,
}

/// The share of a network's quota that reading may take.
#[derive(Debug, Clone)]
pub struct QuotaShare {
    /// Identifier of the network.
    pub platform: String,
    /// Calls that the network allows an app within `span`.
    pub calls: u32,
    /// The time over which they are counted.
    pub span: Duration,
    /// The most calls of these for reading; the rest is left to publishing.
    pub reading: u32,
}

/// A metric that a network refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedMetric {
    /// Identifier of the network.
    pub platform: String,
    /// Name of the metric.
    pub number: String,
    /// Accounts for which it is refused.
    pub accounts: i64,
    /// The earliest time at which it is requested again.
    pub until: Millis,
}

/// Returns the lag of reading, by network and kind.
///
/// # Errors
/// The database's.
pub async fn lags(cx: &Domain) -> Result<Vec<ReadingLag>> {
    let (conn, now) = (&cx.db.read, cx.clock.now());
    let sums = samples::sums(cx, now - 60 * MINUTE, 48 * 60 * MINUTE).await?;
    let mut all = Vec::new();
    for (kind, table, account, read) in READ_KINDS {
        let sql = format!(
            "SELECT a.platform, CAST(count(*) AS BIGINT) AS accounts, \
             CAST(sum(CASE WHEN s.due_at <= $1 THEN 1 ELSE 0 END) AS BIGINT) AS due, \
             min(CASE WHEN s.due_at <= $1 THEN s.due_at END) AS first_due, min(s.{read}) AS oldest, \
             CAST(sum(CASE WHEN s.{read} IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS never \
             FROM {table} s JOIN accounts a ON a.id = s.{account} WHERE a.status = 'connected' \
             GROUP BY a.platform ORDER BY a.platform"
        );
        let rows = Row::find_by_statement(statement(conn, sql, [now.into()])).all(conn).await?;
        let ended = |platform: &str| -> i64 {
            let mine = sums.iter().filter(|sum| {
                let is_done = sum.measure == measure::DONE;
                is_done && sum.kind == kind.as_str() && sum.platform == platform
            });
            mine.map(|sum| sum.n).sum()
        };
        all.extend(rows.into_iter().map(|row| ReadingLag {
            kind: kind.as_str(),
            accounts: row.accounts,
            due: row.due,
            lag: row.first_due.map(|at| now - at),
            oldest: row.oldest,
            never: row.never,
            hour: ended(&row.platform),
            platform: row.platform,
        }));
    }
    all.sort_by(|a, b| (&a.platform, a.kind).cmp(&(&b.platform, b.kind)));
    Ok(all)
}

/// Returns the shares of the networks' quotas that reading analytics may take.
#[must_use]
pub fn quota_shares() -> Vec<QuotaShare> {
    let share = |platform: &&dyn fanfare_platforms::Platform| {
        let quota = platform.analytics()?.quota()?;
        Some(QuotaShare {
            platform: platform.spec().id.to_string(),
            calls: quota.calls,
            span: quota.period,
            reading: analytics::sync::background_share(quota.calls),
        })
    };
    fanfare_platforms::all().iter().filter_map(share).collect()
}

/// Returns the metrics that networks refuse now, those of the most accounts first.
///
/// # Errors
/// The database's.
pub async fn refused_metrics(cx: &Domain) -> Result<Vec<RefusedMetric>> {
    let (conn, now) = (&cx.db.read, cx.clock.now());
    let sql = "SELECT a.platform, s.refused FROM (SELECT id, refused FROM analytics_syncs \
               WHERE CAST(refused AS TEXT) <> '{}' ORDER BY id DESC LIMIT $1) AS s JOIN accounts a ON a.id = s.id";
    let query = statement(conn, sql, [MAX_ACCOUNTS.into()]);
    let rows = RefusedRow::find_by_statement(query).all(conn).await?;
    let mut found = BTreeMap::<(String, String), (i64, Millis)>::new();
    for row in rows {
        for (number, until) in row.refused.as_object().into_iter().flatten() {
            let Some(until) = until.as_i64().filter(|until| *until > now) else { continue };
            let entry = found.entry((row.platform.clone(), number.clone())).or_insert((0, until));
            *entry = (entry.0 + 1, entry.1.min(until));
        }
    }
    let mut all: Vec<RefusedMetric> = found
        .into_iter()
        .map(|((platform, number), (accounts, until))| RefusedMetric {
            platform,
            number,
            accounts,
            until,
        })
        .collect();
    all.sort_by_key(|one| -one.accounts);
    Ok(all)
}

#[derive(FromQueryResult)]
struct Row {
    platform: String,
    accounts: i64,
    due: i64,
    first_due: Option<Millis>,
    oldest: Option<Millis>,
    never: i64,
}

#[derive(FromQueryResult)]
struct RefusedRow {
    platform: String,
    refused: Value,
}
