//! Counts of articles.

use async_trait::async_trait;

use super::client;
use crate::{
    Result,
    analytics::{Analytics, AskedPost, Numbers, Reading, counted, name},
};

const COUNTS: [(&str, &str); 3] =
    [("/reactionCount", name::LIKES), ("/responseCount", name::COMMENTS), ("/views", name::VIEWS)];

/// Reads the metrics of Hashnode.
pub(super) struct Counts;

#[async_trait]
impl Analytics for Counts {
    async fn posts(
        &self,
        reading: &Reading<'_>,
        posts: &[AskedPost],
    ) -> Result<Vec<Option<Numbers>>> {
        let mut read = Vec::new();
        for post in posts {
            reading.allow().await?;
            let found = client::counts(reading.session, &post.id).await?;
            read.push((!found.is_null()).then(|| counted(&found, &COUNTS)));
        }
        Ok(read)
    }
}
