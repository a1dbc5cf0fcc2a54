//! Counts of posts, as the app view returns them. Bluesky has no metric that engagements could be divided by.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;

use super::client::Pds;
use crate::{
    Result,
    analytics::{Analytics, FetchContext, Metrics, PostRef, name, read_counts},
};

/// The most posts per call (<https://docs.bsky.app/docs/api/app-bsky-feed-get-posts>).
const BATCH: usize = 25;

const COUNTS: [(&str, &str); 5] = [
    ("/likeCount", name::LIKES),
    ("/replyCount", name::COMMENTS),
    ("/repostCount", name::REPOSTS),
    ("/quoteCount", name::QUOTES),
    ("/bookmarkCount", name::SAVES),
];

/// Reads the metrics of Bluesky.
pub(super) struct MetricsReader;

#[derive(Deserialize)]
struct Found {
    posts: Vec<Value>,
}

#[async_trait]
impl Analytics for MetricsReader {
    fn batch_size(&self) -> usize {
        BATCH
    }

    fn has_denominator(&self) -> bool {
        false
    }

    async fn posts(
        &self,
        reading: &FetchContext<'_>,
        posts: &[PostRef],
    ) -> Result<Vec<Option<Metrics>>> {
        reading.acquire_call().await?;
        let query: Vec<_> = posts.iter().map(|post| ("uris", post.id.as_str())).collect();
        let pds = Pds::of_account(reading.session);
        let found: Found = pds.authorized_get("app.bsky.feed.getPosts", &query).await?.json()?;
        let of = |post: &PostRef| {
            let post = found.posts.iter().find(|one| one["uri"].as_str() == Some(&post.id))?;
            Some(read_counts(post, &COUNTS))
        };
        Ok(posts.iter().map(of).collect())
    }
}
