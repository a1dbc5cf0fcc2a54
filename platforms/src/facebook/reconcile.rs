//! Finds the result of a publish call whose response was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    Form,
    client::{self, Post, Published},
    publish,
    state::State,
};
use crate::{
    Draft, Progress, PublishedPost as Public, ReconcileOutcome, Result, Session,
    outcome::read_state, recent_posts,
};

/// Looks up the post on the page, or the status of the video. A photo story cannot be looked up.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let state: State = read_state(state.as_ref())?;
    match Form::of(draft) {
        Form::Feed | Form::Video => Ok(match find(session, draft, sent_at).await? {
            Some(found) => ReconcileOutcome::Committed(Progress::Done(found)),
            None => ReconcileOutcome::NotCommitted,
        }),
        Form::Reel | Form::VideoStory => {
            let Some(video) = &state.video else { return Ok(ReconcileOutcome::Unknown) };
            let status = client::video(session, video).await?.status;
            if !status.is_publishing() {
                return Ok(ReconcileOutcome::NotCommitted);
            }
            let made = Published::default();
            Ok(ReconcileOutcome::Committed(publish::published(session, draft, state, made)?))
        }
        Form::CoverPhoto => {
            let cover = client::cover(session).await?;
            if cover.is_none() || cover.as_ref() != state.photos.first() {
                return Ok(ReconcileOutcome::NotCommitted);
            }
            let made = Published::default();
            Ok(ReconcileOutcome::Committed(publish::published(session, draft, state, made)?))
        }
        Form::PhotoStory => Ok(ReconcileOutcome::Unknown),
    }
}

/// Finds the post among the page's: the same text, created at `since` or later; of several, the closest to it.
pub(super) async fn find(
    session: &Session,
    draft: &Draft,
    since: DateTime<Utc>,
) -> Result<Option<Public>> {
    let is_it = |post: &Post| post.message.trim() == draft.caption.trim();
    let looked = match Form::of(draft) {
        Form::Video => {
            recent_posts::search(since, is_it, |next| client::videos(session, next)).await?
        }
        _ => recent_posts::search(since, is_it, |next| client::posts(session, next)).await?,
    };
    Ok(looked.nearest()?.map(|post| Public {
        id: post.id,
        url: post.permalink_url,
        parts: Vec::new(),
        warnings: Vec::new(),
    }))
}
