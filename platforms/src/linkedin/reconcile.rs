//! Finding out what became of a post whose answer was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{client, content, is_organization, publish::published, state::State};
use crate::{Draft, Found, Result, Session, answer::is_since, outcome::read_state};

/// Looks among an organization's own posts. A member's can be read by next to no app.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<Found> {
    if !is_organization(&session.account) {
        return Ok(Found::Unknown);
    }
    let state: State = read_state(state.as_ref());
    let commentary = content::commentary(draft, &draft.settings()?, &state);
    let posts = client::posts(session).await?.into_iter();
    let ours = posts.filter(|post| post.commentary.trim() == commentary.trim());
    let since = ours.filter(|post| is_since(post.created(), sent_at));
    Ok(match since.min_by_key(|post| (post.created() - sent_at).abs()) {
        Some(post) => Found::There(published(session, post.id)),
        None => Found::Absent,
    })
}
