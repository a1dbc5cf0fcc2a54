//! Counts of articles.

use async_trait::async_trait;

use super::client;
use crate::{
    Result,
    analytics::{Analytics, FetchContext, Metrics, PostRef, name, read_counts},
};

const COUNTS: [(&str, &str); 3] =
    [("/reactionCount", name::LIKES), ("/responseCount", name::COMMENTS), ("/views", name::VIEWS)];

/// Reads the metrics of Hashnode.
pub(super) struct MetricsReader;

#[async_trait]
impl Analytics for MetricsReader {
    async fn posts(
        &self,
        reading: &FetchContext<'_>,
        posts: &[PostRef],
    ) -> Result<Vec<Option<Metrics>>> {
        let mut read = Vec::new();
        for post in posts {
            reading.acquire_call().await?;
            let found = client::counts(reading.session, &post.id).await?;
            read.push((!found.is_null()).then(|| read_counts(&found, &COUNTS)));
        }
        Ok(read)
    }
}
