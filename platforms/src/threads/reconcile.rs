//! Finds the result of a publish call whose response was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    SPEC,
    client::{self, ContainerStatus, Post},
    container, publish,
    state::{Stage, State},
};
use crate::{
    Candidate, Draft, Likeness, Listing, ReconcileOutcome, Result, Session, graph,
    outcome::read_state,
    recent_posts,
    remains::{FileKind, Remains},
    text,
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
            return find(session, draft, &state, sent_at, false).await.map(Into::into);
        }
        status => status?,
    };
    Ok(match status {
        ContainerStatus::Finished => ReconcileOutcome::NotCommitted,
        ContainerStatus::Dead(_) => ReconcileOutcome::HandleEnded,
        ContainerStatus::InProgress => ReconcileOutcome::Unknown,
        // It is public; only its id is asked for.
        ContainerStatus::Published => {
            find(session, draft, &state, sent_at, true).await?.in_part().into()
        }
    })
}

/// Lists the account's posts that may be the current segment. A later segment may be listed only as a reply to the one
/// before it. Where there are no words, a post of the same kind is it only if the container is known to be published, and
/// the whole list was seen after the time for which it lags.
async fn find(
    session: &Session,
    draft: &Draft,
    state: &State,
    sent_at: DateTime<Utc>,
    is_published: bool,
) -> Result<Listing> {
    let segments = container::segments(draft);
    let sent = segments.get(state.segment()).map(String::as_str).unwrap_or_default();
    let has_words = text::has_words(sent);
    // Only the first segment has files.
    let files = if state.segment() == 0 { draft.media.as_slice() } else { &[] };
    let kinds = files.iter().map(FileKind::of).collect();
    let ours = Remains { kinds: Some(kinds), ..Remains::default() };
    let is_there = is_published && recent_posts::is_past_lag(session, &SPEC, sent_at);
    let likeness = |post: &Post| {
        if state.published.contains(&post.id) {
            return Likeness::Different;
        }
        let words = text::likeness(sent, &post.text);
        ours.likeness(&remains(post), (words, has_words), is_there)
    };
    let result =
        |post: Post| Ok((post.id.clone(), publish::published(draft, state.clone(), post.id)));
    let mut posts =
        recent_posts::search(sent_at, likeness, |next| client::posts(session, next)).await?;
    if !has_words {
        posts = posts.doubted_in_part();
    }
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

/// Returns what is shown of a post beside its words.
fn remains(post: &Post) -> Remains {
    let kinds = match post.media_type.as_str() {
        "" => None,
        "TEXT_POST" | "REPOST_FACADE" => Some(Vec::new()),
        "CAROUSEL_ALBUM" if post.items().is_empty() => None,
        "CAROUSEL_ALBUM" => Some(post.items().into_iter().map(graph::file_kind).collect()),
        one => Some(vec![graph::file_kind(one)]),
    };
    Remains { kinds, ..Remains::default() }
}
