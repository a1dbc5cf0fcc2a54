//! Sends failed posts again, many at once. A post that may be public already must be chosen explicitly.

use std::collections::BTreeSet;

use fanfare_entities::{PostId, post, post::PostStatus};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::{Value, json};

use super::{
    Actor, Preview, PreviewRow,
    search::{self, SearchQuery, WorkKind},
};
use crate::{Domain, Tx, error::Result, posts};

/// The most posts of one order.
pub const MAX_POSTS: usize = 200;

/// The failed posts that match a query.
#[derive(Debug, Default)]
pub struct RetryCandidates {
    /// The posts, newest first, at most [`MAX_POSTS`].
    pub posts: Vec<PostId>,
    /// True if the query finds more.
    pub more: bool,
}

/// Returns the failed posts that a query finds.
///
/// # Errors
/// An invalid filter.
pub async fn candidates(cx: &Domain, query: SearchQuery) -> Result<RetryCandidates> {
    let mut query = SearchQuery { kind: WorkKind::Post, status: Some("failed".into()), ..query };
    let mut found = RetryCandidates { posts: Vec::new(), more: true };
    while found.more && found.posts.len() < MAX_POSTS {
        let page = search::find(cx, &query).await?;
        found.posts.extend(page.rows.iter().map(|row| PostId(row.id)));
        found.more = page.next.is_some();
        query.cursor = page.next;
    }
    found.more |= found.posts.len() > MAX_POSTS;
    found.posts.truncate(MAX_POSTS);
    Ok(found)
}

/// Returns the preview of retrying these posts, with a note if there are more than the limit.
///
/// # Errors
/// The database's.
pub async fn preview_found(cx: &Domain, found: &RetryCandidates) -> Result<Preview> {
    let mut preview = preview(cx, &found.posts).await?;
    if found.more {
        preview.consequences.push(format!(
            "These are the newest {MAX_POSTS}, the most of one order; more match. Repeat the order for the rest."
        ));
    }
    Ok(preview)
}

async fn rows<C: ConnectionTrait>(
    conn: &C,
    ids: &[PostId],
    lock: bool,
) -> Result<Vec<post::Model>> {
    let ids: BTreeSet<_> = ids.iter().copied().take(MAX_POSTS).collect();
    let query =
        post::Entity::find().filter(post::Column::Id.is_in(ids)).order_by_asc(post::Column::Id);
    let query = if lock { query.lock_exclusive() } else { query };
    Ok(query.all(conn).await?)
}

/// Returns the preview of retrying these posts.
pub(super) async fn preview(cx: &Domain, ids: &[PostId]) -> Result<Preview> {
    let rows = rows(&cx.db.read, ids, false).await?;
    let failed = || rows.iter().filter(|row| row.status == PostStatus::Failed);
    let risky = failed().filter(|row| row.duplicate_risk).count();
    let hopeless = failed().filter(|row| warning(row).is_some()).count();
    let mut consequences = vec!["Each is sent now, unchanged.".to_owned()];
    if risky > 0 {
        consequences.push(format!(
            "{risky} may be public already, because a call for it had no answer. Look at the account first; such a post \
             is left out unless you choose it below."
        ));
    }
    if hopeless > 0 {
        consequences.push(format!(
            "{hopeless} failed for a reason that sending them again does not fix: see the note beside each."
        ));
    }
    if rows.len() < ids.len() {
        consequences.push(format!("{} are no longer there or too many.", ids.len() - rows.len()));
    }
    Ok(Preview {
        question: match (failed().count() - risky, risky) {
            (0, 0) => "There is nothing to send again.".to_owned(),
            (0, _) => "Send posts again that may be public already?".to_owned(),
            (1, _) => "Send 1 failed post again?".to_owned(),
            (safe, _) => format!("Send {safe} failed posts again?"),
        },
        consequences,
        rows: rows.iter().map(preview_row).collect(),
    })
}

fn preview_row(row: &post::Model) -> PreviewRow {
    let error = |key: &str| row.error.as_ref().and_then(|error| error.get(key)?.as_str());
    let gone = row.status != PostStatus::Failed;
    PreviewRow {
        id: row.id,
        what: format!("{}, account {}", row.platform, row.account_id),
        error: error("code").unwrap_or("unknown").to_owned(),
        risky: row.duplicate_risk && !gone,
        warning: warning(row).filter(|_| !gone),
        left_out: gone.then(|| format!("It is {} by now.", posts::status_name(row.status))),
    }
}

/// Returns what is needed first, if the post failed for a reason that a retry does not fix.
fn warning(row: &post::Model) -> Option<String> {
    let error = row.error.as_ref().filter(|error| error["retryable"] == Value::Bool(false))?;
    Some(error["remedy"].as_str().unwrap_or("It is likely to fail again.").to_owned())
}

/// Sends these posts again; returns the outcome for each.
pub(super) async fn retry(
    cx: &Domain,
    tx: &mut Tx,
    actor: &Actor,
    ids: &[PostId],
    risky: &BTreeSet<PostId>,
) -> Result<(String, Value)> {
    let (mut sent, mut left) = (Vec::new(), Vec::new());
    for row in rows(tx.conn(), ids, true).await? {
        let id = row.id;
        match posts::retry_for_operator(cx, tx, row, risky.contains(&id), &actor.request_id).await {
            Ok(()) => sent.push(id),
            Err(error) if error.status() < 500 => {
                left.push(json!({"id": id, "why": error.message()}));
            }
            Err(error) => return Err(error),
        }
    }
    let outcome = match (sent.len(), left.len()) {
        (sent, 0) => format!("Sent again: {sent}."),
        (sent, left) => format!("Sent again: {sent}. Left out: {left}."),
    };
    Ok((outcome, json!({"sent": sent, "left_out": left, "risk_accepted": risky})))
}
