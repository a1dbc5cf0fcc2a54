//! Public counts of posts. X charges for every post that is read, so the operator has to switch it on.

use async_trait::async_trait;
use serde_json::Value;

use super::client;
use crate::{
    Result,
    analytics::{Analytics, FetchContext, Metrics, PostRef, name, read_counts},
};

/// The most posts per call (<https://docs.x.com/x-api/posts/get-posts-by-ids>).
const BATCH: usize = 100;

const COUNTS: [(&str, &str); 7] = [
    ("/public_metrics/like_count", name::LIKES),
    ("/public_metrics/reply_count", name::COMMENTS),
    ("/public_metrics/impression_count", name::IMPRESSIONS),
    ("/public_metrics/bookmark_count", name::SAVES),
    ("/public_metrics/retweet_count", name::REPOSTS),
    ("/public_metrics/repost_count", name::REPOSTS),
    ("/public_metrics/quote_count", name::QUOTES),
];

/// Reads the metrics of X.
pub(super) struct MetricsReader;

#[async_trait]
impl Analytics for MetricsReader {
    fn is_paid(&self) -> bool {
        true
    }

    fn batch_size(&self) -> usize {
        BATCH
    }

    async fn posts(
        &self,
        reading: &FetchContext<'_>,
        posts: &[PostRef],
    ) -> Result<Vec<Option<Metrics>>> {
        reading.acquire_call().await?;
        let ids: Vec<&str> = posts.iter().map(|post| post.id.as_str()).collect();
        let tweets = client::counts(reading.session, &ids).await?;
        let edited: Vec<&str> = tweets.iter().filter_map(newest_version).collect();
        let newest = if edited.is_empty() {
            Vec::new()
        } else {
            reading.acquire_call().await?;
            client::counts(reading.session, &edited).await?
        };
        let of =
            |post: &PostRef| {
                let tweet = with_id(&tweets, &post.id)?;
                let newest = newest_version(tweet).and_then(|id| with_id(&newest, id));
                let numbers = read_counts(tweet, &COUNTS);
                Some(newest.map_or(numbers.clone(), |newest| {
                    larger(numbers, &read_counts(newest, &COUNTS))
                }))
            };
        Ok(posts.iter().map(of).collect())
    }
}

fn with_id<'a>(tweets: &'a [Value], id: &str) -> Option<&'a Value> {
    tweets.iter().find(|one| one["id"].as_str() == Some(id))
}

/// Returns the id of the newest version of a post that was edited on X. The numbers of the one that we made stop there.
fn newest_version(tweet: &Value) -> Option<&str> {
    let newest = tweet["edit_history_tweet_ids"].as_array()?.last()?.as_str()?;
    (tweet["id"].as_str() != Some(newest)).then_some(newest)
}

/// Returns the larger of the numbers of two versions: whether the newer one begins at 0 is not documented, and their sum
/// would count twice what it takes over.
fn larger(mut numbers: Metrics, newer: &Metrics) -> Metrics {
    for (name, value) in newer {
        let known = numbers.get(name).copied();
        let larger = match (known, *value) {
            (Some(Ok(old)), Ok(new)) => Ok(old.max(new)),
            (Some(Ok(old)), Err(_)) => Ok(old),
            (_, new) => new,
        };
        numbers.insert(*name, larger);
    }
    numbers
}
