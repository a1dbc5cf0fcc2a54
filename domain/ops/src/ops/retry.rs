//! Sends failed posts again, many at once. A post that may be public already must be chosen explicitly.

use std::collections::{BTreeSet, HashMap};

use fanfare_core::{
    Domain, Tx,
    error::{Code, Error, Result},
};
use fanfare_entities::{
    AccountId, Millis, PostId, account, account::AccountStatus, post, post::PostStatus,
};
use fanfare_publishing::posts;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::{Value, json};

use super::{
    Actor, Preview, PreviewRow, pauses,
    search::{self, SearchQuery, WorkKind},
};

/// The most posts of one order.
pub const MAX_POSTS: usize = 200;

/// The failed posts that match a query.
#[derive(Debug, Default)]
pub struct RetryCandidates {
    /// The posts, newest first, at most [`MAX_POSTS`].
    pub posts: Vec<PostId>,
    /// The cursor of the older ones that match; `None` if there are none.
    pub next: Option<i64>,
}

/// Returns the failed posts that a query finds.
///
/// # Errors
/// An invalid filter, one that failed posts cannot match, or none at all.
pub async fn candidates(cx: &Domain, query: SearchQuery) -> Result<RetryCandidates> {
    check(&query)?;
    let mut query = SearchQuery { status: Some("failed".into()), ..query };
    let mut found = RetryCandidates::default();
    loop {
        let page = search::find(cx, &query).await?;
        found.posts.extend(page.rows.iter().map(|row| PostId(row.id)));
        if found.posts.len() > MAX_POSTS {
            found.posts.truncate(MAX_POSTS);
            found.next = found.posts.last().map(|id| id.0);
            return Ok(found);
        }
        let Some(next) = page.next else { return Ok(found) };
        query.cursor = Some(next);
    }
}

/// Fails if a query is not about failed posts, or about everything.
fn check(query: &SearchQuery) -> Result<()> {
    let refused = |field: &str, message: &str, remedy: &str| {
        Err(Error::field(Code::InvalidField, field, message, remedy))
    };
    if query.kind != WorkKind::Post {
        let remedy = "Failed deliveries are sent again by a replay of their webhook; leave the kind out for posts.";
        return refused("kind", "Only posts are sent again by a retry.", remedy);
    }
    if query.status.as_deref().is_some_and(|status| status != "failed") {
        let message = "Only posts that failed are sent again.";
        return refused("status", message, "Leave the status out, or name failed.");
    }
    if query.is_empty() {
        let message = "Without posts and without a filter this would send every failed post again.";
        let remedy = "Name the posts or a filter; the status failed alone selects all of them.";
        return refused("status", message, remedy);
    }
    Ok(())
}

/// Returns the preview of retrying these posts, with a note if there are more than the limit.
///
/// # Errors
/// The database's.
pub async fn preview_found(cx: &Domain, found: &RetryCandidates) -> Result<Preview> {
    let mut preview = preview(cx, &found.posts).await?;
    if let Some(next) = found.next {
        preview.consequences.push(format!(
            "These are the newest {MAX_POSTS}, the most of one order; more match. For the older ones repeat the order \
             with the cursor {next}."
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
    let accounts = accounts(&cx.db.read, &rows).await?;
    let shown: Vec<_> =
        rows.iter().map(|row| preview_row(row, accounts.get(&row.account_id))).collect();
    let sent = || shown.iter().filter(|row| row.left_out.is_none());
    let risky = sent().filter(|row| row.risky).count();
    let hopeless = sent().filter(|row| row.warning.is_some()).count();
    let closed = rows.iter().filter(|row| closed(accounts.get(&row.account_id)).is_some()).count();
    let mut consequences = vec![
        "Each is sent now, unchanged, in the order of its former time, which its story keeps."
            .to_owned(),
    ];
    if risky > 0 {
        consequences.push(format!(
            "{risky} may be public already, because a call for it had no answer. Look at the account first; such a post \
             is left out unless you choose it below."
        ));
    }
    if closed > 0 {
        consequences
            .push(format!("{closed} are left out, because their account is not connected."));
    }
    if hopeless > 0 {
        consequences.push(format!(
            "{hopeless} failed for a reason that sending them again does not fix: see the note beside each."
        ));
    }
    for pause in pauses::list(cx).await? {
        let held = rows.iter().filter(|row| pause.covers(&row.platform, row.account_id)).count();
        if held > 0 {
            consequences.push(format!("{held} wait until the pause of {} ends.", pause.name()));
        }
    }
    if rows.len() < ids.len() {
        consequences.push(format!("{} are no longer there or too many.", ids.len() - rows.len()));
    }
    Ok(Preview {
        question: match (sent().count() - risky, risky) {
            (0, 0) => "There is nothing to send again.".to_owned(),
            (0, _) => "Send posts again that may be public already?".to_owned(),
            (1, _) => "Send 1 failed post again?".to_owned(),
            (safe, _) => format!("Send {safe} failed posts again?"),
        },
        consequences,
        rows: shown,
    })
}

/// Returns the accounts of posts.
async fn accounts<C: ConnectionTrait>(
    conn: &C,
    rows: &[post::Model],
) -> Result<HashMap<AccountId, account::Model>> {
    let ids: BTreeSet<_> = rows.iter().map(|row| row.account_id).collect();
    let found = account::Entity::find().filter(account::Column::Id.is_in(ids)).all(conn).await?;
    Ok(found.into_iter().map(|account| (account.id, account)).collect())
}

/// Returns why nothing can be sent to an account, if nothing can.
fn closed(account: Option<&account::Model>) -> Option<&'static str> {
    match account.map(|account| account.status) {
        Some(AccountStatus::Connected) => None,
        Some(AccountStatus::ReconnectRequired) => {
            Some("Its network refuses the account's credentials until a person connects it again.")
        }
        Some(AccountStatus::Disconnected) | None => Some("Its account is disconnected."),
    }
}

fn preview_row(row: &post::Model, account: Option<&account::Model>) -> PreviewRow {
    let error = |key: &str| row.error.as_ref().and_then(|error| error.get(key)?.as_str());
    let gone = (row.status != PostStatus::Failed)
        .then(|| format!("It is {} by now.", posts::status_name(row.status)));
    let left_out = gone.or_else(|| closed(account).map(str::to_owned));
    PreviewRow {
        id: row.id,
        what: format!("{}, account {}", row.platform, row.account_id),
        error: error("code").unwrap_or("unknown").to_owned(),
        risky: row.duplicate_risk && left_out.is_none(),
        warning: warning(row).filter(|_| left_out.is_none()),
        left_out,
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
    if let Some(stray) = risky.iter().find(|id| !ids.contains(id)) {
        let message =
            format!("Post {stray}, whose risk is accepted, is none of the posts of this order.");
        let remedy = "Accept the risk of posts that the order names or finds.";
        return Err(Error::field(Code::InvalidField, "risk", message, remedy));
    }
    let (mut sent, mut left) = (Vec::new(), Vec::new());
    let sets = posts::sets::lock_of_posts(tx.conn(), ids).await?;
    let mut rows = rows(tx.conn(), ids, true).await?;
    rows.sort_by_key(|row| (row.scheduled_at, row.id));
    let accounts = accounts(tx.conn(), &rows).await?;
    for row in rows {
        let id = row.id;
        if let Some(why) =
            closed(accounts.get(&row.account_id)).filter(|_| row.status == PostStatus::Failed)
        {
            left.push(json!({"id": id, "why": why}));
            continue;
        }
        // A millisecond apart, posts of one account go out in the order of their former times.
        let after = Millis::try_from(sent.len()).unwrap_or_default();
        let is_accepted = risky.contains(&id);
        match posts::retry_for_operator(cx, tx, row, (is_accepted, after), &actor.request_id).await
        {
            Ok(()) => sent.push(id),
            Err(error) if error.status() < 500 => {
                left.push(json!({"id": id, "why": error.message()}));
            }
            Err(error) => return Err(error),
        }
    }
    for set in sets {
        posts::sets::changed_by_service(tx, set).await?;
    }
    let outcome = match (sent.len(), left.len()) {
        (sent, 0) => format!("Sent again: {sent}."),
        (sent, left) => format!("Sent again: {sent}. Left out: {left}."),
    };
    Ok((outcome, json!({"sent": sent, "left_out": left, "risk_accepted": risky})))
}
