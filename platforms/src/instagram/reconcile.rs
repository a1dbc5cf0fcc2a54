//! Finds the result of a publish call whose response was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    Form,
    client::{self, Comment, ContainerStatus, Post},
    publish,
    settings::Settings,
    state::{ContainerKind, NextStep, State},
};
use crate::{
    Draft, Likeness, Listing, ReconcileOutcome, Result, Session, outcome::read_state, recent_posts,
    text::likeness,
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
                    return find(session, draft, &state, what, sent_at).await.map(Into::into);
                }
                status => status?,
            };
            Ok(match status {
                ContainerStatus::Finished => ReconcileOutcome::NotCommitted,
                ContainerStatus::Dead(_) => ReconcileOutcome::HandleEnded,
                ContainerStatus::InProgress => ReconcileOutcome::Unknown,
                // It is public; only its id is asked for.
                ContainerStatus::Published => {
                    find(session, draft, &state, what, sent_at).await?.in_part().into()
                }
            })
        }
        NextStep::Comment(media, text) => {
            let likeness = |comment: &Comment| likeness(&text, &comment.text);
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

/// Lists the posts that may be that of a published container. Stories have no text.
async fn find(
    session: &Session,
    draft: &Draft,
    state: &State,
    what: ContainerKind,
    since: DateTime<Utc>,
) -> Result<Listing> {
    let is_story = what == ContainerKind::Story || Form::of(draft) == Form::Story;
    let likeness = |post: &Post| match likeness(&draft.caption, &post.caption) {
        _ if is_story => Likeness::Same,
        // The container says that there is a post without words.
        Likeness::Similar if draft.caption.is_empty() && post.caption.is_empty() => Likeness::Same,
        likeness => likeness,
    };
    let looked = if is_story {
        recent_posts::search(since, likeness, |next| client::stories(session, next)).await?
    } else {
        recent_posts::search(since, likeness, |next| client::posts(session, next)).await?
    };
    looked.listing(|post| Ok((post.id.clone(), publish::published(state.clone(), what, post.id)?)))
}
