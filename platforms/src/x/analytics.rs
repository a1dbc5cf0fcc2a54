//! Public counts of posts. X charges for every post that is read, so the operator has to switch it on.

use async_trait::async_trait;

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
        let of = |post: &PostRef| {
            let tweet = tweets.iter().find(|one| one["id"].as_str() == Some(&post.id))?;
            Some(read_counts(tweet, &COUNTS))
        };
        Ok(posts.iter().map(of).collect())
    }
}
