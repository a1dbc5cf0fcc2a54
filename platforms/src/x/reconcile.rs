//! Finding out what became of a call to publish whose answer was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    client::{self, Tweet},
    publish, segments,
    state::State,
};
use crate::{Draft, Found, Result, Session, latest, outcome::read_state};

/// Looks for the post among the account's latest ones.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<Found> {
    let state: State = read_state(state.as_ref())?;
    let texts = segments(draft);
    let Some(text) = texts.get(state.published.len()) else { return Ok(Found::Unknown) };
    Ok(match find(session, text, &state.published, sent_at).await? {
        Some(id) => Found::There(publish::published(session, draft, state, id)?),
        None => Found::Absent,
    })
}

/// Id of the post with this text that was made at `since` or later and is none of those known; of several the one made
/// nearest to it.
pub(super) async fn find(
    session: &Session,
    text: &str,
    known: &[String],
    since: DateTime<Utc>,
) -> Result<Option<String>> {
    let wanted = bare(text);
    let is_it = |tweet: &Tweet| !known.contains(&tweet.id) && bare(&as_written(tweet)) == wanted;
    let looked = latest::look(since, is_it, |next| client::tweets(session, next)).await?;
    Ok(looked.nearest()?.map(|tweet| tweet.id))
}

/// The text as its author wrote it: X escapes three signs and puts short addresses in.
fn as_written(tweet: &Tweet) -> String {
    let mut text = tweet.text.clone();
    for link in tweet.entities.urls.iter().filter(|link| !link.url.is_empty()) {
        text = text.replace(&link.url, &link.expanded_url);
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// The words of a text without its addresses, which X changes, and those of its files, which X adds.
fn bare(text: &str) -> String {
    let words = text.split_whitespace();
    words.filter(|word| !word.contains("://")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::bare;

    #[test]
    fn addresses_do_not_count() {
        assert_eq!(bare("Look: https://example.org/a  now"), bare("Look:\nhttps://t.co/x now "));
        assert_ne!(bare("Look"), bare("Look here"));
    }
}
