//! Finds a post whose publish response was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    SPEC,
    client::{self, Post},
    content, is_organization,
    publish::published,
    state::State,
};
use crate::{
    Draft, ReconcileOutcome, Result, Session, kept, outcome::read_state, recent_posts,
    remains::Remains, text,
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
    let ours = Remains { files: Some(state.files.clone()), ..Remains::default() };
    let changes = SPEC.alterations.text;
    let has_words = text::has_words(&commentary);
    let likeness = |post: &Post| {
        let words = text::likeness_altered(changes, &commentary, &post.commentary);
        ours.likeness(&remains(post), (words, has_words), false)
    };
    let looked =
        recent_posts::search(sent_at, likeness, |next| client::posts(session, next)).await?;
    let looked = looked.prefer(|post| ours.owns(&remains(post)));
    let listing = looked.listing(|post| {
        let kept = kept::warning(&SPEC, "caption", changes, (&commentary, &post.commentary));
        let warnings = state.warnings.iter().cloned().chain(kept).collect();
        let progress = published(session, post.id.clone()).with_warnings(warnings);
        Ok((post.id, progress))
    });
    listing.map(Into::into)
}

/// Returns what is shown of a post beside its words.
fn remains(post: &Post) -> Remains {
    Remains { files: Some(post.files()), ..Remains::default() }
}
