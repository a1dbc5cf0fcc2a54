//! Counts of statuses. Mastodon has no metric that engagements could be divided by.

use async_trait::async_trait;

use super::client::Instance;
use crate::{
    Result,
    analytics::{Analytics, FetchContext, Metrics, PostRef, is_not_found, name, read_counts},
};

const COUNTS: [(&str, &str); 4] = [
    ("/favourites_count", name::LIKES),
    ("/replies_count", name::COMMENTS),
    ("/reblogs_count", name::REPOSTS),
    ("/quotes_count", name::QUOTES),
];

/// Reads the metrics of Mastodon.
pub(super) struct MetricsReader;

#[async_trait]
impl Analytics for MetricsReader {
    fn has_denominator(&self) -> bool {
        false
    }

    async fn posts(
        &self,
        reading: &FetchContext<'_>,
        posts: &[PostRef],
    ) -> Result<Vec<Option<Metrics>>> {
        let instance = Instance::of(reading.session)?;
        let mut read = Vec::new();
        for post in posts {
            reading.acquire_call().await?;
            read.push(match instance.status(&post.id).await {
                Ok(status) => Some(read_counts(&status, &COUNTS)),
                Err(error) if is_not_found(&error) => None,
                Err(error) => return Err(error),
            });
        }
        Ok(read)
    }
}
