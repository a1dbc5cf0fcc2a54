//! Counts of public videos, <https://developers.tiktok.com/doc/tiktok-api-v2-video-query>.

use std::time::Duration;

use async_trait::async_trait;

use super::client;
use crate::{
    Per, RateLimit, Result,
    analytics::{Analytics, AskedPost, Numbers, Reading, counted, denied, is_denied, name},
};

/// The most videos per call.
const BATCH: usize = 20;

/// 600 calls a minute (<https://developers.tiktok.com/doc/tiktok-api-v2-rate-limit>).
const QUOTA: RateLimit = RateLimit::new(Per::App, 600, Duration::from_secs(60).as_secs());

const COUNTS: [(&str, &str); 5] = [
    ("/like_count", name::LIKES),
    ("/comment_count", name::COMMENTS),
    ("/share_count", name::SHARES),
    ("/view_count", name::VIEWS),
    ("/view_count", name::PLAYS),
];

/// Reads the metrics of TikTok.
pub(super) struct Counts;

#[async_trait]
impl Analytics for Counts {
    fn quota(&self) -> Option<RateLimit> {
        Some(QUOTA)
    }

    fn batch(&self) -> usize {
        BATCH
    }

    async fn posts(
        &self,
        reading: &Reading<'_>,
        posts: &[AskedPost],
    ) -> Result<Vec<Option<Numbers>>> {
        reading.allow().await?;
        let ids: Vec<&str> = posts.iter().map(|post| post.id.as_str()).collect();
        match client::counts(reading.session, &ids).await {
            Ok(videos) => {
                let of = |post: &AskedPost| {
                    let video = videos.iter().find(|one| one["id"].as_str() == Some(&post.id))?;
                    Some(counted(video, &COUNTS))
                };
                Ok(posts.iter().map(of).collect())
            }
            Err(error) if is_denied(&error) => {
                reading.lacks("video.list");
                Ok(posts.iter().map(|_| Some(denied(&COUNTS))).collect())
            }
            Err(error) => Err(error),
        }
    }
}
