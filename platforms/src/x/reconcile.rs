//! Finds the result of a publish call whose response was lost.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    client::{self, Tweet},
    publish, segments,
    state::State,
};
use crate::{Draft, ReconcileOutcome, Result, Session, outcome::read_state, recent_posts, text};

/// Looks for the post among the account's latest ones.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let state: State = read_state(state.as_ref())?;
    let texts = segments(draft);
    let Some(text) = texts.get(state.published.len()) else { return Ok(ReconcileOutcome::Unknown) };
    Ok(match find(session, text, &state.published, sent_at).await? {
        Some(id) => ReconcileOutcome::Committed(publish::published(session, draft, state, id)?),
        None => ReconcileOutcome::NotCommitted,
    })
}

/// Returns the id of the post with this text that was created at `since` or later and is not a known one; of several,
/// the closest to it.
pub(super) async fn find(
    session: &Session,
    text: &str,
    known: &[String],
    since: DateTime<Utc>,
) -> Result<Option<String>> {
    let wanted = without_links(text);
    let is_it =
        |tweet: &Tweet| !known.contains(&tweet.id) && without_links(&unescaped(tweet)) == wanted;
    let looked = recent_posts::search(since, is_it, |next| client::tweets(session, next)).await?;
    Ok(looked.nearest()?.map(|tweet| tweet.id))
}

/// Returns a text as its author wrote it: X escapes three characters.
fn unescaped(tweet: &Tweet) -> String {
    tweet.text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Returns a text without its addresses, which X replaces with short ones, and without those of its files, which X
/// adds.
fn without_links(text: &str) -> String {
    let kept = text::without_x_links(text);
    let words = kept.split_whitespace().filter(|word| !word.contains("://"));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::without_links;

    #[test]
    fn addresses_do_not_count() {
        for (written, stored) in [
            ("Look: https://example.org/a  now", "Look:\nhttps://t.co/x now "),
            ("see example.com now", "see https://t.co/x now"),
            ("(example.co.uk/a_(b)), or t.co/y", "(https://t.co/x), or https://t.co/z"),
            ("これはexample.comです", "これはhttps://t.co/xです"),
            ("a picture", "a picture https://t.co/x"),
            ("https://a.example stays", "https://a.example stays"),
        ] {
            assert_eq!(without_links(written), without_links(stored), "{written}");
        }
        assert_ne!(without_links("Look"), without_links("Look here"));
    }
}
