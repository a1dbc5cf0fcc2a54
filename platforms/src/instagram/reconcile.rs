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
use crate::{Draft, ReconcileOutcome, Result, Session, outcome::read_state, recent_posts};

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
            Ok(match client::status(session, &container).await? {
                ContainerStatus::Finished | ContainerStatus::Dead(_) => {
                    ReconcileOutcome::NotCommitted
                }
                ContainerStatus::InProgress => ReconcileOutcome::Unknown,
                ContainerStatus::Published => match find(session, draft, what, sent_at).await? {
                    Some(id) => ReconcileOutcome::Committed(publish::published(state, what, id)?),
                    None => ReconcileOutcome::Unknown,
                },
            })
        }
        NextStep::Comment(media, text) => {
            let is_it = |comment: &Comment| comment.text.trim() == text.trim();
            let ask = |next| client::comments(session, &media, next);
            Ok(match recent_posts::search(sent_at, is_it, ask).await?.nearest()? {
                Some(comment) => {
                    ReconcileOutcome::Committed(publish::commented(state, comment.id)?)
                }
                None => ReconcileOutcome::NotCommitted,
            })
        }
        _ => Ok(ReconcileOutcome::Unknown),
    }
}

/// Returns the id of the post of a published container: the same text, created after `since` and closest to it. Stories
/// have no text.
pub(super) async fn find(
    session: &Session,
    draft: &Draft,
    what: ContainerKind,
    since: DateTime<Utc>,
) -> Result<Option<String>> {
    let is_story = what == ContainerKind::Story || Form::of(draft) == Form::Story;
    let is_it = |post: &Post| is_story || post.caption.trim() == draft.caption.trim();
    let looked = if is_story {
        recent_posts::search(since, is_it, |next| client::stories(session, next)).await?
    } else {
        recent_posts::search(since, is_it, |next| client::posts(session, next)).await?
    };
    Ok(looked.nearest()?.map(|post| post.id))
}
