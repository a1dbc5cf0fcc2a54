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
    Draft, Listing, Progress, ReconcileOutcome, Result, Session, outcome::read_state, recent_posts,
    text::likeness,
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
        Form::Feed | Form::Video => find(session, draft, sent_at).await.map(Into::into),
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

/// Lists the page's posts, or videos, that may be this one.
async fn find(session: &Session, draft: &Draft, since: DateTime<Utc>) -> Result<Listing> {
    let likeness = |post: &Post| likeness(&draft.caption, &post.message);
    let looked = match Form::of(draft) {
        Form::Video => {
            recent_posts::search(since, likeness, |next| client::videos(session, next)).await?
        }
        _ => recent_posts::search(since, likeness, |next| client::posts(session, next)).await?,
    };
    looked.listing(|post| Ok((post.id.clone(), Progress::done(post.id, post.permalink_url))))
}
