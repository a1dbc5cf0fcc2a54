//! Finds the result of a publish call whose response was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    Form,
    client::{self, Comment, ContainerStatus, Post},
    publish,
    settings::Settings,
    state::{Next, State, What},
};
use crate::{Draft, Found, Result, Session, outcome::read_state, recent_posts};

/// Reads the status of the container, or the comments. A failed container was certainly not published; the next publish
/// call detects that too and creates a new one.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<Found> {
    let settings: Settings = draft.settings()?;
    let state: State = read_state(state.as_ref())?;
    match state.next(draft, &settings) {
        Next::Publish(what, container) => Ok(match client::status(session, &container).await? {
            ContainerStatus::Finished | ContainerStatus::Dead(_) => Found::Absent,
            ContainerStatus::InProgress => Found::Unknown,
            ContainerStatus::Published => match find(session, draft, what, sent_at).await? {
                Some(id) => Found::There(publish::published(state, what, id)?),
                None => Found::Unknown,
            },
        }),
        Next::Comment(media, text) => {
            let is_it = |comment: &Comment| comment.text.trim() == text.trim();
            let ask = |next| client::comments(session, &media, next);
            Ok(match recent_posts::look(sent_at, is_it, ask).await?.nearest()? {
                Some(comment) => Found::There(publish::commented(state, comment.id)?),
                None => Found::Absent,
            })
        }
        _ => Ok(Found::Unknown),
    }
}

/// Returns the id of the post of a published container: the same text, created after `since` and closest to it. Stories
/// have no text.
pub(super) async fn find(
    session: &Session,
    draft: &Draft,
    what: What,
    since: DateTime<Utc>,
) -> Result<Option<String>> {
    let is_story = what == What::Story || Form::of(draft) == Form::Story;
    let is_it = |post: &Post| is_story || post.caption.trim() == draft.caption.trim();
    let looked = if is_story {
        recent_posts::look(since, is_it, |next| client::stories(session, next)).await?
    } else {
        recent_posts::look(since, is_it, |next| client::posts(session, next)).await?
    };
    Ok(looked.nearest()?.map(|post| post.id))
}
