//! Finds a post whose publish response was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    client::{self, Post},
    content, is_organization,
    publish::published,
    state::State,
};
use crate::{Draft, Found, Result, Session, outcome::read_state, recent_posts};

/// Looks for the post among an organization's. Hardly any app may read a member's.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<Found> {
    if !is_organization(&session.account) {
        return Ok(Found::Unknown);
    }
    let state: State = read_state(state.as_ref())?;
    let commentary = content::commentary(draft, &draft.settings()?, &state);
    let is_it = |post: &Post| post.commentary.trim() == commentary.trim();
    let looked = recent_posts::look(sent_at, is_it, |next| client::posts(session, next)).await?;
    Ok(match looked.nearest()? {
        Some(post) => Found::There(published(session, post.id).lacking(state.warnings.clone())),
        None => Found::Absent,
    })
}
