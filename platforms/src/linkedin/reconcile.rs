//! Finds a post whose publish response was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    client::{self, Post},
    content, is_organization,
    publish::published,
    state::State,
};
use crate::{
    Draft, ReconcileOutcome, Result, Session, outcome::read_state, recent_posts, text::likeness,
};

/// Looks for the post among an organization's. Hardly any app may read a member's.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    if !is_organization(&session.account) {
        return Ok(ReconcileOutcome::Unknown);
    }
    let state: State = read_state(state.as_ref())?;
    let commentary = content::commentary(draft, &draft.settings()?, &state);
    let likeness = |post: &Post| likeness(&commentary, &post.commentary);
    let looked =
        recent_posts::search(sent_at, likeness, |next| client::posts(session, next)).await?;
    let listing = looked.listing(|post| {
        let progress = published(session, post.id.clone()).with_warnings(state.warnings.clone());
        Ok((post.id, progress))
    });
    listing.map(Into::into)
}
