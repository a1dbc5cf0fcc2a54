//! Counts of posts. Lemmy has no metric that engagements could be divided by.

use async_trait::async_trait;

use super::client::Instance;
use crate::{
    Result,
    analytics::{Analytics, AskedPost, Numbers, Reading, counted, is_absent, name},
};

const COUNTS: [(&str, &str); 2] =
    [("/counts/upvotes", name::LIKES), ("/counts/comments", name::COMMENTS)];

/// Reads the metrics of Lemmy.
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
        let instance = Instance::of_account(reading.session);
        let mut read = Vec::new();
        for post in posts {
            reading.allow().await?;
            read.push(match instance.counts(&post.id).await {
                Ok(view) if view["post"]["deleted"] == true => None,
                Ok(view) => Some(counted(&view, &COUNTS)),
                Err(error) if is_absent(&error) => None,
                Err(error) => return Err(error),
            });
        }
        Ok(read)
    }
}
