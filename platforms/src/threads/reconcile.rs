//! Finds the result of a publish call whose response was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    client::{self, ContainerStatus, Post},
    container, publish,
    state::{Stage, State},
};
use crate::{Draft, ReconcileOutcome, Result, Session, outcome::read_state, recent_posts};

/// Reads the status of the container. A failed one was certainly not published; the next publish call detects that too
/// and creates a new one.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let state: State = read_state(state.as_ref())?;
    let Stage::Publish { container, .. } = &state.stage else {
        return Ok(ReconcileOutcome::Unknown);
    };
    Ok(match client::status(session, container).await? {
        ContainerStatus::Finished | ContainerStatus::Dead(_) => ReconcileOutcome::NotCommitted,
        ContainerStatus::InProgress => ReconcileOutcome::Unknown,
        ContainerStatus::Published => match find(session, draft, &state, sent_at).await? {
            Some(id) => ReconcileOutcome::Committed(publish::published(draft, state, id)),
            None => ReconcileOutcome::Unknown,
        },
    })
}

/// Finds the current segment among the account's posts: the same text, created after `sent_at`, and not an earlier
/// segment. A later segment may be listed only as a reply to the one before it.
pub(super) async fn find(
    session: &Session,
    draft: &Draft,
    state: &State,
    sent_at: DateTime<Utc>,
) -> Result<Option<String>> {
    let segments = container::segments(draft);
    let text = segments.get(state.segment()).map(String::as_str).unwrap_or_default();
    let is_it =
        |post: &Post| post.text.trim() == text.trim() && !state.published.contains(&post.id);
    let posts = recent_posts::search(sent_at, is_it, |next| client::posts(session, next)).await?;
    let Some(parent) = state.published.last() else {
        return Ok(posts.nearest()?.map(|post| post.id));
    };
    if let Some(post) = posts.found.into_iter().next() {
        return Ok(Some(post.id));
    }
    let replies =
        recent_posts::search(sent_at, is_it, |next| client::replies(session, parent, next)).await?;
    Ok(replies.nearest()?.map(|post| post.id))
}
