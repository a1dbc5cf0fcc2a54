//! Counts of public videos, <https://developers.tiktok.com/doc/tiktok-api-v2-video-query>.

use std::time::Duration;

use async_trait::async_trait;

use super::{LIST, client, publish::post_path};
use crate::{
    Error, LimitScope, RateLimit, Result,
    analytics::{
        Analytics, FetchContext, Metrics, MissingReason, PostNews, PostRef, is_forbidden, name,
        read_counts, without_permission,
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

    fn awaits_news(&self, post: &PostRef) -> bool {
        !is_public_id(&post.id)
    }

    /// Asks for the id that TikTok gives a post once everybody sees it, which moderation may delay
    /// (<https://developers.tiktok.com/doc/content-posting-api-reference-get-video-status>).
    async fn news(&self, reading: &FetchContext<'_>, post: &PostRef) -> Result<PostNews> {
        reading.acquire_call().await?;
        let status = client::status(reading.session, &post.id).await?;
        let public_id = status.post_id().map(|id| {
            let name = &reading.session.account.username;
            let path = post_path(name, post.format == "video", &id);
            (id, reading.session.public_url("https://www.tiktok.com", &path))
        });
        Ok(PostNews { public_id, is_gone: status.status == "FAILED", ..PostNews::default() })
    }

    async fn posts(
        &self,
        reading: &FetchContext<'_>,
        posts: &[PostRef],
    ) -> Result<Vec<Option<Metrics>>> {
        // Another kind of id would be no video's, and may have all of them refused.
        let asked = posts.iter().map(|post| post.id.as_str()).filter(|id| is_public_id(id));
        let ids: Vec<&str> = asked.collect();
        if ids.is_empty() {
            return Ok(posts.iter().map(|_| Some(unseen())).collect());
        }
        reading.acquire_call().await?;
        match client::counts(reading.session, &ids).await {
            Ok(videos) => {
                let of = |post: &PostRef| {
                    if !is_public_id(&post.id) {
                        return Some(unseen());
                    }
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

/// Returns true for the id of a post that everybody sees, which is a number. Others have that of their publishing alone.
fn is_public_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the counts of a post that not everybody sees: TikTok tells none.
fn unseen() -> Metrics {
    COUNTS.iter().map(|(_, name)| (*name, Err(MissingReason::Platform))).collect()
}

/// Returns true if the account's owner has not given the permission; TikTok says so with status 401 too.
fn is_permission(error: &Error, videos: usize) -> bool {
    let code = error.reply.as_ref().and_then(|reply| reply.code.as_deref());
    (is_forbidden(error) && videos == 1)
        || matches!(code, Some("scope_not_authorized" | "scope_permission_missed"))
}
