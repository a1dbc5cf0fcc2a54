//! Finds the result of a publish call whose response was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    client::{self, Tweet},
    publish, segments,
    state::State,
};
use crate::{
    Draft, Likeness, ReconcileOutcome, Result, Session, outcome::read_state, recent_posts,
    remains::Remains, text,
};

/// Looks for the post among the account's latest ones.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let state: State = read_state(state.as_ref())?;
    let texts = segments(draft);
    let Some(sent) = texts.get(state.published.len()) else { return Ok(ReconcileOutcome::Unknown) };
    // Only the first segment has files.
    let files = state.media.iter().filter(|_| state.published.is_empty());
    let ours =
        Remains { files: Some(files.map(|file| file.id.clone()).collect()), ..Remains::default() };
    let has_words = text::has_words(sent);
    let likeness = |tweet: &Tweet| {
        if state.published.iter().any(|id| id == tweet.first_id()) {
            return Likeness::Different;
        }
        let words = text::likeness_without_links(sent, tweet.whole_text());
        ours.likeness(&remains(tweet), (words, has_words), false)
    };
    // Earlier ones are no candidates, and cost as much.
    let since = sent_at - recent_posts::CLOCK_SLACK;
    let ask = |next| client::tweets(session, since, next);
    let looked = recent_posts::search(sent_at, likeness, ask).await?;
    let looked = looked.prefer(|tweet| ours.owns(&remains(tweet)));
    let listing = looked.listing(|tweet| {
        let id = tweet.first_id().to_owned();
        let progress = publish::published(session, draft, state.clone(), id.clone())?;
        Ok((id, progress))
    });
    listing.map(Into::into)
}

/// Returns what is shown of a post beside its words.
fn remains(tweet: &Tweet) -> Remains {
    Remains { files: Some(tweet.files()), ..Remains::default() }
}
