//! Finds the result of a publish call whose response was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    client::{self, ContainerStatus, Post},
    container, publish,
    state::{Stage, State},
};
use crate::{
    Candidate, Draft, Likeness, Listing, ReconcileOutcome, Result, Session, outcome::read_state,
    recent_posts, text::likeness,
};

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
    let status = match client::status(session, container).await {
        // Threads has lost it; the posts show whether it was published before.
        Err(error) if error.is_not_found() => {
            return find(session, draft, &state, sent_at).await.map(Into::into);
        }
        status => status?,
    };
    Ok(match status {
        ContainerStatus::Finished => ReconcileOutcome::NotCommitted,
        ContainerStatus::Dead(_) => ReconcileOutcome::HandleEnded,
        ContainerStatus::InProgress => ReconcileOutcome::Unknown,
        // It is public; only its id is asked for.
        ContainerStatus::Published => find(session, draft, &state, sent_at).await?.in_part().into(),
    })
}

/// Lists the account's posts that may be the current segment. A later segment may be listed only as a reply to the one
/// before it.
async fn find(
    session: &Session,
    draft: &Draft,
    state: &State,
    sent_at: DateTime<Utc>,
) -> Result<Listing> {
    let segments = container::segments(draft);
    let text = segments.get(state.segment()).map(String::as_str).unwrap_or_default();
    let likeness = |post: &Post| match likeness(text, &post.text) {
        _ if state.published.contains(&post.id) => Likeness::Different,
        // The container says that there is a post without words.
        Likeness::Similar if text.is_empty() && post.text.is_empty() => Likeness::Same,
        likeness => likeness,
    };
    let result =
        |post: Post| Ok((post.id.clone(), publish::published(draft, state.clone(), post.id)));
    let posts =
        recent_posts::search(sent_at, likeness, |next| client::posts(session, next)).await?;
    let mut listing = posts.listing(result)?;
    if let Some(parent) = state.published.last() {
        let ask = |next| client::replies(session, parent, next);
        let below = recent_posts::search(sent_at, likeness, ask).await?.listing(result)?;
        let is_new = |one: &Candidate| listing.candidates.iter().all(|known| known.id != one.id);
        let more: Vec<_> = below.candidates.into_iter().filter(is_new).collect();
        listing.candidates.extend(more);
    }
    Ok(listing)
}
