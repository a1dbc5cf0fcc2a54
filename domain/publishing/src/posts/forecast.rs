//! The forecast for a post that is only checked: limits, the token's end, and posts with nearly the same text.

use std::{collections::BTreeSet, time::Duration};

use fanfare_core::{Act, clock::Time, db::statement, error::Result};
use fanfare_entities::{Millis, PostId, account, account::AccountStatus};
use fanfare_platforms::{self as platforms, LimitScope, PlatformId, RateLimit};
use schemars::JsonSchema;
use sea_orm::ConnectionTrait;
use serde::Serialize;

use super::{
    draft::Content,
    video_quota::{VideoQuota, video_quota},
};
use crate::platform_tools;

const DAY: Millis = 86_400_000;

/// Posts up to this distance in time are compared.
pub(super) const COMPARED_SPAN: Millis = 7 * DAY;

/// The most posts that are compared, and the most characters of each.
const MAX_COMPARED: (usize, usize) = (200, 2_000);

/// The share of common words from which two posts count as similar.
const SIMILAR_SHARE: (usize, usize) = (4, 5);

/// The posts of account $1 that became public between $2 and $3.
const PUBLIC_BETWEEN: &str = "SELECT id, post_type, caption, public_at AS at FROM posts \
     WHERE account_id = $1 AND public_at > $2 AND public_at <= $3";

/// The posts of account $1 that are due between $2 and $3.
const DUE_BETWEEN: &str = "SELECT id, post_type, caption, scheduled_at AS at FROM posts \
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
    /// Posts of this account within seven days whose text is nearly the same, at most ten.
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

/// Returns the forecast of a post with this content at this time.
///
/// # Errors
/// The database's.
pub async fn forecast(
    act: &Act,
    account: &account::Model,
    (content, post_type, at): (&Content, &str, Millis),
) -> Result<Forecast> {
    let token = account.token_expires_at.map(|expires_at| TokenForecast {
        expires_at: Time(expires_at),
        outlives: account.status == AccountStatus::Connected
            && (account.refresh_at.is_some() || expires_at > at),
    });
    let quota = quota(act, account, post_type, at).await?;
    let has_video = content.media.iter().any(|file| file.mime.starts_with("video/"));
    let video_quota = if has_video { video_quota(act, account).await? } else { None };
    let similar = similar(act, account, &content.caption, at).await?;
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

impl Forecast {
    /// Returns the posts whose text is nearly the same.
    pub(super) fn similar(&self) -> &[PostId] {
        &self.similar
    }
}

/// Returns the posts of an account within seven days of `at` whose text is nearly the same, newest first, at most ten.
///
/// # Errors
/// The database's.
pub(super) async fn similar(
    act: &Act,
    account: &account::Model,
    caption: &str,
    at: Millis,
) -> Result<Vec<PostId>> {
    let mine = compared_words(caption);
    if mine.is_empty() {
        return Ok(Vec::new());
    }
    let conn = &act.cx.db.read;
    let (most, characters) = MAX_COMPARED;
    let sql = format!(
        "SELECT id, substr(caption, 1, {characters}) AS text FROM (\
         SELECT * FROM ({PUBLIC_BETWEEN} ORDER BY public_at DESC LIMIT {most}) AS public UNION ALL \
         SELECT * FROM ({DUE_BETWEEN} ORDER BY scheduled_at LIMIT {most}) AS due) AS near \
         ORDER BY id DESC LIMIT {most}"
    );
    let values = [account.id.0.into(), (at - COMPARED_SPAN).into(), (at + COMPARED_SPAN).into()];
    let mut similar = Vec::new();
    for row in conn.query_all_raw(statement(conn, sql, values)).await? {
        let text: String = row.try_get("", "text")?;
        if are_similar(&mine, &words(&text)) {
            similar.push(PostId(row.try_get("", "id")?));
        }
    }
    similar.truncate(10);
    Ok(similar)
}

/// Returns the words by which a text is compared with others.
pub(super) fn compared_words(caption: &str) -> BTreeSet<String> {
    words(&caption.chars().take(MAX_COMPARED.1).collect::<String>())
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|mark: char| !mark.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns true if two texts have nearly the same words.
pub(super) fn are_similar(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let (part, whole) = SIMILAR_SHARE;
    let common = one.intersection(other).count();
    common * whole >= (one.len() + other.len() - common) * part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_alike_whatever_their_marks_and_case() {
        let alike = |one: &str, other: &str| are_similar(&words(one), &words(other));
        assert!(alike("Our spring sale begins today!", "our SPRING sale begins today"));
        assert!(alike("a b c d e f g h i", "a b c d e f g h j i"));
        assert!(!alike("Our spring sale begins today", "Our autumn sale ended today"));
        assert!(!alike("a", "b"));
    }
}
