//! Finds the result of a publish call whose response was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    Form, SPEC,
    client::{self, Comment, ContainerStatus, Post},
    publish,
    settings::Settings,
    state::{ContainerKind, NextStep, State},
};
use crate::{
    Draft, Likeness, Listing, ReconcileOutcome, Result, Session, graph,
    outcome::read_state,
    recent_posts,
    remains::{FileKind, Remains},
    text,
};

/// Reads the status of the container, or the comments. A failed container was certainly not published; the next publish
/// call detects that too and creates a new one.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let settings: Settings = draft.settings()?;
    let state: State = read_state(state.as_ref())?;
    match state.next(draft, &settings) {
        NextStep::Publish(what, container) => {
            let status = match client::status(session, &container).await {
                // Instagram has lost it; the posts show whether it was published before.
                Err(error) if error.is_not_found() => {
                    let found = find(session, draft, (&state, what), sent_at, false).await;
                    return found.map(Into::into);
                }
                status => status?,
            };
            Ok(match status {
                ContainerStatus::Finished => ReconcileOutcome::NotCommitted,
                ContainerStatus::Dead(_) => ReconcileOutcome::HandleEnded,
                ContainerStatus::InProgress => ReconcileOutcome::Unknown,
                // It is public; only its id is asked for.
                ContainerStatus::Published => {
                    find(session, draft, (&state, what), sent_at, true).await?.in_part().into()
                }
            })
        }
        NextStep::Comment(media, sent) => {
            let likeness = |comment: &Comment| text::likeness(&sent, &comment.text);
            let ask = |next| client::comments(session, &media, next);
            let looked = recent_posts::search(sent_at, likeness, ask).await?;
            let listing = looked.listing(|comment| {
                Ok((comment.id.clone(), publish::commented(state.clone(), comment.id)?))
            });
            listing.map(Into::into)
        }
        _ => Ok(ReconcileOutcome::Unknown),
    }
}

/// Lists the posts that may be that of a container. Where there are no words, one of the same kind is it only if the
/// container is known to be published, and the whole list was seen after the time for which it lags.
async fn find(
    session: &Session,
    draft: &Draft,
    (state, what): (&State, ContainerKind),
    since: DateTime<Utc>,
    is_published: bool,
) -> Result<Listing> {
    let is_story = what == ContainerKind::Story || Form::of(draft) == Form::Story;
    let has_words = !is_story && text::has_words(&draft.caption);
    let ours = ours(draft, is_story);
    let is_there = is_published && recent_posts::is_past_lag(session, &SPEC, since);
    let likeness = |post: &Post| {
        let words = if is_story {
            Likeness::Similar
        } else {
            text::likeness(&draft.caption, &post.caption)
        };
        ours.likeness(&remains(post, is_story), (words, has_words), is_there)
    };
    let mut looked = if is_story {
        recent_posts::search(since, likeness, |next| client::stories(session, next)).await?
    } else {
        recent_posts::search(since, likeness, |next| client::posts(session, next)).await?
    };
    if !has_words {
        looked = looked.doubted_in_part();
    }
    looked.listing(|post| Ok((post.id.clone(), publish::published(state.clone(), what, post.id)?)))
}

/// Returns what is known of the post beside its words. Its story has its first file alone.
fn ours(draft: &Draft, is_story: bool) -> Remains {
    let files = if is_story { 1 } else { draft.media.len() };
    let kinds = draft.media.iter().take(files).map(FileKind::of).collect();
    Remains { kinds: Some(kinds), is_story: Some(is_story), ..Remains::default() }
}

/// Returns what is shown of a post beside its words; an older answer does not name the list's own kind.
fn remains(post: &Post, is_story: bool) -> Remains {
    let kinds = match post.media_type.as_str() {
        "" => None,
        "CAROUSEL_ALBUM" if post.items().is_empty() => None,
        "CAROUSEL_ALBUM" => Some(post.items().into_iter().map(graph::file_kind).collect()),
        one => Some(vec![graph::file_kind(one)]),
    };
    let shown = post.media_product_type.as_deref().map_or(is_story, |name| name == "STORY");
    Remains { kinds, is_story: Some(shown), ..Remains::default() }
}
