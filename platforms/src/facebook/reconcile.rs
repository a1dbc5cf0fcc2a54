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
    remains::Remains, text,
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
        Form::Feed => find_post(session, draft, &state, sent_at).await.map(Into::into),
        Form::Video => find_video(session, draft, &state, sent_at).await.map(Into::into),
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

/// Lists the page's posts that may be this one.
async fn find_post(
    session: &Session,
    draft: &Draft,
    state: &State,
    since: DateTime<Utc>,
) -> Result<Listing> {
    let shown = |post: &Post| Remains { files: post.files(), ..Remains::default() };
    let ours = Remains { files: Some(state.photos.clone()), ..Remains::default() };
    let has_words = text::has_words(&draft.caption);
    let likeness = |post: &Post| {
        let words = text::likeness(&draft.caption, &post.message);
        ours.likeness(&shown(post), (words, has_words), false)
    };
    let looked = recent_posts::search(since, likeness, |next| client::posts(session, next)).await?;
    let looked = looked.prefer(|post| ours.owns(&shown(post)));
    looked.listing(|post| Ok((post.id.clone(), Progress::done(post.id, post.permalink_url))))
}

/// Lists the page's videos that may be this one. They are listed while they are processed.
async fn find_video(
    session: &Session,
    draft: &Draft,
    state: &State,
    since: DateTime<Utc>,
) -> Result<Listing> {
    let ours = Remains { kinds: None, ..Remains::of(draft) };
    let has_words = text::has_words(&draft.caption);
    let likeness = |video: &Post| {
        let words = text::likeness(&draft.caption, &video.message);
        let shown = Remains { video_ms: video.video_ms(), ..Remains::default() };
        ours.likeness(&shown, (words, has_words), false)
    };
    let looked =
        recent_posts::search(since, likeness, |next| client::videos(session, next)).await?;
    looked.listing(|video| {
        let made = Published { id: Some(video.id.clone()), ..Published::default() };
        Ok((video.id, publish::published(session, draft, state.clone(), made)?))
    })
}
