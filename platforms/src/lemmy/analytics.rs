//! Counts of posts. Lemmy has no metric that engagements could be divided by.

use async_trait::async_trait;

use super::client::Instance;
use crate::{
    Result,
    analytics::{Analytics, FetchContext, Metrics, PostRef, is_not_found, name, read_counts},
};

const COUNTS: [(&str, &str); 2] =
    [("/counts/upvotes", name::LIKES), ("/counts/comments", name::COMMENTS)];

/// Reads the metrics of Lemmy.
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
        let instance = Instance::of_account(reading.session);
        let mut read = Vec::new();
        for post in posts {
            reading.acquire_call().await?;
            read.push(match instance.counts(&post.id).await {
                Ok(view) if view["post"]["deleted"] == true => None,
                Ok(view) => Some(read_counts(&view, &COUNTS)),
                Err(error) if is_not_found(&error) => None,
                Err(error) => return Err(error),
            });
        }
        Ok(read)
    }
}
