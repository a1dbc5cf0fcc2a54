//! Counts of public videos, <https://developers.tiktok.com/doc/tiktok-api-v2-video-query>.

use std::time::Duration;

use async_trait::async_trait;

use super::{LIST, client};
use crate::{
    Error, LimitScope, RateLimit, Result,
    analytics::{
        Analytics, FetchContext, Metrics, PostRef, is_forbidden, name, read_counts,
        without_permission,
    },
};

/// The most videos per call.
const BATCH: usize = 20;

/// 600 calls a minute (<https://developers.tiktok.com/doc/tiktok-api-v2-rate-limit>).
const QUOTA: RateLimit = RateLimit::new(LimitScope::App, 600, Duration::from_secs(60).as_secs());

const COUNTS: [(&str, &str); 5] = [
    ("/like_count", name::LIKES),
    ("/comment_count", name::COMMENTS),
    ("/share_count", name::SHARES),
    ("/view_count", name::VIEWS),
    ("/view_count", name::PLAYS),
];

/// Reads the metrics of TikTok.
pub(super) struct MetricsReader;

#[async_trait]
impl Analytics for MetricsReader {
    fn quota(&self) -> Option<RateLimit> {
        Some(QUOTA)
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
        match client::counts(reading.session, &ids).await {
            Ok(videos) => {
                let of = |post: &PostRef| {
                    let video = videos.iter().find(|one| one["id"].as_str() == Some(&post.id))?;
                    Some(read_counts(video, &COUNTS))
                };
                Ok(posts.iter().map(of).collect())
            }
            // One video of several may be the reason, unless the code names a permission.
            Err(error) if is_permission(&error, posts.len()) => {
                reading.note_missing_permission(LIST);
                Ok(posts.iter().map(|_| Some(without_permission(&COUNTS))).collect())
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns true if the account's owner has not given the permission; TikTok says so with status 401 too.
fn is_permission(error: &Error, videos: usize) -> bool {
    let code = error.reply.as_ref().and_then(|reply| reply.code.as_deref());
    (is_forbidden(error) && videos == 1)
        || matches!(code, Some("scope_not_authorized" | "scope_permission_missed"))
}
