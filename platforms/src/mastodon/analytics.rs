//! Counts of statuses. Mastodon has no metric that engagements could be divided by.

use async_trait::async_trait;

use super::client::Instance;
use crate::{
    Result,
    analytics::{Analytics, AskedPost, Numbers, Reading, counted, is_absent, name},
};

const COUNTS: [(&str, &str); 4] = [
    ("/favourites_count", name::LIKES),
    ("/replies_count", name::COMMENTS),
    ("/reblogs_count", name::REPOSTS),
    ("/quotes_count", name::QUOTES),
];

/// Reads the metrics of Mastodon.
pub(super) struct Counts;

#[async_trait]
impl Analytics for Counts {
    fn has_base(&self) -> bool {
        false
    }

    async fn posts(
        &self,
        reading: &Reading<'_>,
        posts: &[AskedPost],
    ) -> Result<Vec<Option<Numbers>>> {
        let instance = Instance::of(reading.session)?;
        let mut read = Vec::new();
        for post in posts {
            reading.allow().await?;
            read.push(match instance.status(&post.id).await {
                Ok(status) => Some(counted(&status, &COUNTS)),
                Err(error) if is_absent(&error) => None,
                Err(error) => return Err(error),
            });
        }
        Ok(read)
    }
}
