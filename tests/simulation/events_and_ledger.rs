//! Checks that events and ledger agree with the rows.

use std::collections::BTreeMap;

use fanfare_core::db::Db;

use crate::{
    judge::{Judge, Violation, hold},
    rows::{Row, events, ledger},
};

/// A summary of the events of one post.
#[derive(Default)]
struct PostEvents {
    publishing: usize,
    ends: usize,
    scheduled: usize,
    last_end: Option<String>,
    last: String,
}

/// Compares events and ledger with the rows at the end.
pub async fn compare(judge: &Judge, db: &Db) -> Result<(), Violation> {
    let mut heard: BTreeMap<i64, PostEvents> = BTreeMap::new();
    let mut sequences = BTreeMap::new();
    for event in events(db).await {
        let last = sequences.entry(event.workspace_id).or_insert(0);
        hold!(event.sequence == *last + 1, "event {} follows {last}", event.sequence);
        *last = event.sequence;
        let Some(post) = event.post_id else { continue };
        let of = heard.entry(post).or_default();
        match event.event_type.as_str() {
            "post.publishing" => of.publishing += 1,
            "post.published" | "post.failed" => {
                of.ends += 1;
                of.last_end = event.status.clone();
            }
            // Each of these may start it again.
            "post.created" | "post.updated" => of.scheduled += 1,
            _ => {}
        }
        of.last = event.event_type;
    }
    for (post, case) in &judge.cases {
        let of = heard.remove(post).unwrap_or_default();
        hold!(of.ends == case.ends, "post {post} ended {} times, told {}", case.ends, of.ends);
        hold!(
            of.publishing <= of.scheduled,
            "post {post} was told {} times to be publishing, scheduled {} times",
            of.publishing,
            of.scheduled
        );
        match judge.rows.get(post) {
            Some(row) if row.is_final() => hold!(
                of.last_end.as_ref() == Some(&row.status),
                "post {post} is {}, told as {:?}",
                row.status,
                of.last_end
            ),
            Some(_) => {}
            None => hold!(of.last == "post.deleted", "post {post} was deleted without a word"),
        }
    }
    compare_ledger(judge, db).await
}

async fn compare_ledger(judge: &Judge, db: &Db) -> Result<(), Violation> {
    let mut last: BTreeMap<i64, (i32, bool, Option<String>)> = BTreeMap::new();
    for tried in ledger(db).await {
        let before = last.get(&tried.post_id).map_or(0, |(number, ..)| *number);
        hold!(
            tried.number == before + 1,
            "attempt {} of post {} follows {before}",
            tried.number,
            tried.post_id
        );
        last.insert(tried.post_id, (tried.number, tried.ended_at.is_some(), tried.outcome));
    }
    for row in judge.rows.values().filter(|row| row.is_final()) {
        let Some((number, ended, outcome)) = last.get(&row.id) else {
            return Err(format!("post {} is {}, and nothing was tried", row.id, row.status));
        };
        hold!(*number == row.attempt, "post {}: attempt {} of {number}", row.id, row.attempt);
        let outcome = outcome.as_deref().unwrap_or("none");
        hold!(
            *ended && outcome == expected(row),
            "post {} is {}, its last attempt {outcome}",
            row.id,
            row.status
        );
    }
    Ok(())
}

/// Returns the expected outcome of a post's last attempt.
fn expected(row: &Row) -> &'static str {
    match (row.status.as_str(), row.duplicate_risk) {
        ("published", _) => "published",
        (_, true) => "outcome_unknown",
        (_, false) => "failed",
    }
}
