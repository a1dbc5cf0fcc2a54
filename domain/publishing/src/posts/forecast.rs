//! The forecast for a post that is only checked: limits, the token's end, and posts with nearly the same content.

use std::time::Duration;

use fanfare_core::{
    Act,
    clock::Time,
    db::statement,
    error::{Result, refusal::SimilarPost},
};
use fanfare_entities::{Millis, PostId, account, account::AccountStatus};
use fanfare_platforms::{self as platforms, LimitScope, PlatformId, RateLimit};
use schemars::JsonSchema;
use sea_orm::ConnectionTrait;
use serde::Serialize;

use super::{
    draft::Content,
    duplicates,
    video_quota::{VideoQuota, video_quota},
};
use crate::platform_tools;

const DAY: Millis = 86_400_000;

/// The posts of account $1 that became public between $2 and $3.
const PUBLIC_BETWEEN: &str = "SELECT post_type, public_at AS at FROM posts \
     WHERE account_id = $1 AND public_at > $2 AND public_at <= $3";

/// The posts of account $1 that are due between $2 and $3.
const DUE_BETWEEN: &str = "SELECT post_type, scheduled_at AS at FROM posts \
     WHERE account_id = $1 AND due_at IS NOT NULL AND NOT out_of_line AND public_at IS NULL \
     AND scheduled_at > $2 AND scheduled_at <= $3";

/// The forecast for a post at its time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Forecast {
    /// The limit on posts that is nearest to its end then; null where the network has none by the day or month.
    quota: Option<QuotaForecast>,
    /// The videos that the account may still send; null for a post without a video, and where the network does not say.
    video_quota: Option<VideoQuota>,
    /// The end of the account's token; null if it has none.
    token: Option<TokenForecast>,
    /// Posts of this account within seven days whose content is the same or nearly, newest first, at most ten.
    similar: Vec<PostId>,
}

/// The state of a limit on posts at a post's time.
#[derive(Debug, Serialize, JsonSchema)]
struct QuotaForecast {
    /// The most posts.
    limit: i64,
    /// The posts that are public or due by then.
    used: i64,
    /// The time at which the next place is free; null if none is taken.
    resets_at: Option<Time>,
    /// True if the limit has a place for this post.
    fits: bool,
}

/// The account's token, beside a post's time.
#[derive(Debug, Serialize, JsonSchema)]
struct TokenForecast {
    /// The time at which it ends.
    expires_at: Time,
    /// True if it lasts until the post goes out, or is renewed without a person; false if the network refuses it already.
    outlives: bool,
}

/// Returns the forecast of a post with this content at this time, which is like these posts.
///
/// # Errors
/// The database's.
pub async fn forecast(
    act: &Act,
    account: &account::Model,
    (content, post_type, at): (&Content, &str, Millis),
    similar: &[SimilarPost],
) -> Result<Forecast> {
    let token = account.token_expires_at.map(|expires_at| TokenForecast {
        expires_at: Time(expires_at),
        outlives: account.status == AccountStatus::Connected
            && (account.refresh_at.is_some() || expires_at > at),
    });
    let quota = quota(act, account, post_type, at).await?;
    let has_video = content.media.iter().any(|file| file.mime.starts_with("video/"));
    let video_quota = if has_video { video_quota(act, account).await? } else { None };
    let similar = duplicates::shown(similar).iter().map(|one| one.post_id).collect();
    Ok(Forecast { quota, video_quota, token, similar })
}

async fn quota(
    act: &Act,
    account: &account::Model,
    post_type: &str,
    at: Millis,
) -> Result<Option<QuotaForecast>> {
    let platform = crate::platforms::from_row(&account.platform)?;
    let is_daily = |limit: &&RateLimit| {
        let of_account =
            limit.scope == LimitScope::Account && limit.period == Duration::from_secs(24 * 3_600);
        of_account && limit.applies_to(post_type)
    };
    let limits = platforms::find(platform).rate_limits(&account.meta);
    let daily = limits.iter().filter(is_daily).min_by_key(|limit| limit.calls);
    let Some(daily) = daily else {
        if platform != PlatformId::X || account.sandbox {
            return Ok(None);
        }
        let (limit, used, end) = platform_tools::x_allowance(act).await?;
        let resets_at = Some(Time(end));
        return Ok(Some(QuotaForecast { limit, used, resets_at, fits: used < limit }));
    };
    let conn = &act.cx.db.read;
    let sql = format!(
        "SELECT post_type, count(*) AS posts, min(at) AS oldest FROM ({PUBLIC_BETWEEN} UNION ALL {DUE_BETWEEN}) AS near \
         GROUP BY post_type"
    );
    let values = [account.id.0.into(), (at - DAY).into(), at.into()];
    let (mut used, mut oldest) = (0, None);
    for row in conn.query_all_raw(statement(conn, sql, values)).await? {
        if daily.applies_to(&row.try_get::<String>("", "post_type")?) {
            used += row.try_get::<i64>("", "posts")?;
            let first: Millis = row.try_get("", "oldest")?;
            oldest = Some(oldest.map_or(first, |known: Millis| known.min(first)));
        }
    }
    let limit = i64::from(daily.calls);
    let resets_at = oldest.map(|oldest| Time(oldest + DAY));
    Ok(Some(QuotaForecast { limit, used, resets_at, fits: used < limit }))
}
