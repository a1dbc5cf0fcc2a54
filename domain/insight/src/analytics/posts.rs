//! Numbers of posts, as replies show them.

use std::{borrow::Cow, collections::BTreeMap};

use fanfare_core::{
    Act, Reply,
    clock::Time,
    error::{Code, Error, Result},
    page,
};
use fanfare_entities::{AccountId, Millis, PostId, account, post, post_numbers};
use fanfare_platforms::analytics::{MissingReason, POST_METRICS, name};
use fanfare_publishing::{accounts::browser_url, posts::media_of};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::read_error::ReadError;
use super::{
    analytics_of,
    formulas::{self, rounded},
    parse_metrics, zone,
};

/// The states of a published post.
pub(super) mod status {
    pub const LIVE: &str = "live";
    pub const DELETED: &str = "deleted";
    pub const EXPIRED: &str = "expired";
}

/// Networks that show a card for an address in a text.
const LINK_CARD_NETWORKS: [&str; 6] =
    ["bluesky", "facebook", "linkedin", "mastodon", "threads", "x"];

/// Networks whose posts are articles.
const ARTICLE_NETWORKS: [&str; 3] = ["devto", "hashnode", "wordpress"];

/// Returns the format of a post.
pub(super) fn format_of(post: &post::Model) -> &'static str {
    if post.post_type.contains("thread") {
        return "thread";
    }
    if ARTICLE_NETWORKS.contains(&post.platform.as_str()) || post.post_type.contains("article") {
        return "article";
    }
    let media = media_of(post).unwrap_or_default();
    match media.as_slice() {
        [] => {
            let has_link =
                ["http://", "https://"].iter().any(|scheme| post.caption.contains(scheme));
            if has_link && LINK_CARD_NETWORKS.contains(&post.platform.as_str()) {
                "link"
            } else {
                "text"
            }
        }
        [one] if one.mime.starts_with("video/") => "video",
        [one] if one.mime == "application/pdf" => "document",
        [_] => "image",
        _ => "carousel",
    }
}

/// The name of the engagement rate.
const ENGAGEMENT_RATE: &str = "engagement_rate";

/// The posts to report on.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostsQuery {
    /// Only those of this account. This also finds a disconnected account whose numbers are kept.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// Only those published on or after this day, `YYYY-MM-DD` in the workspace's zone.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub from: Option<String>,
    /// Only those published on or before this day.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub to: Option<String>,
    /// At most this many, up to 200; 50 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<i64>,
    /// The number of posts to skip, up to 10,000.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub offset: Option<i64>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// The numbers of a published post since its publication; unknown ones are null.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct PostNumbers {
    pub id: i64,
    /// The post; null for one that was made outside this service.
    pub post_id: Option<PostId>,
    /// `fanfare`, or `external` for a post that was made outside this service.
    pub source: Cow<'static, str>,
    pub account_id: AccountId,
    pub platform: String,
    pub platform_post_id: String,
    pub url: Option<String>,
    pub post_type: String,
    pub caption: String,
    pub published_at: Time,
    /// `live`, `deleted` or `expired`.
    pub status: String,
    /// The time of the last reading.
    pub fetched_at: Option<Time>,
    /// The time of the next reading; null if there is none.
    pub next_read_at: Option<Time>,
    /// True if the numbers are not read any more.
    pub r#final: bool,
    pub likes: Option<i64>,
    pub comments: Option<i64>,
    pub reach: Option<i64>,
    pub impressions: Option<i64>,
    pub saves: Option<i64>,
    pub shares: Option<i64>,
    pub reposts: Option<i64>,
    pub quotes: Option<i64>,
    pub plays: Option<i64>,
    pub views: Option<i64>,
    pub clicks: Option<i64>,
    pub engagements: Option<i64>,
    /// Engagements divided by reach, or else by views, or else by impressions, in percent.
    pub engagement_rate: Option<f64>,
    pub engagement_rate_basis: Option<Cow<'static, str>>,
    /// Why each of the other numbers is unknown: `platform`, `pending`, `permission`, `too_few_viewers`, `expired` or
    /// `refused`.
    pub unmeasured: BTreeMap<Cow<'static, str>, String>,
    /// Why the last reading of this post failed; null if it did not.
    pub read_error: Option<ReadError>,
}

impl PostNumbers {
    /// Returns a number by its name; `None` if it is unknown.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<i64> {
        match name {
            name::LIKES => self.likes,
            name::COMMENTS => self.comments,
            name::REACH => self.reach,
            name::IMPRESSIONS => self.impressions,
            name::SAVES => self.saves,
            name::SHARES => self.shares,
            name::REPOSTS => self.reposts,
            name::QUOTES => self.quotes,
            name::PLAYS => self.plays,
            name::VIEWS => self.views,
            name::CLICKS => self.clicks,
            name::ENGAGEMENTS => self.engagements,
            _ => None,
        }
    }
}

/// A page of posts with their numbers.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct PostNumbersPage {
    pub posts: Vec<PostNumbers>,
    /// The number of posts on all pages; at most 10,200 are counted.
    pub total: u64,
    pub limit: u64,
    pub offset: u64,
    /// Why the list is empty: `nothing_published`, or `filtered` if there are posts beyond the filter; else null.
    pub empty_because: Option<Cow<'static, str>>,
}

/// Lists the numbers of posts, newest first.
///
/// # Errors
/// Invalid days, an invalid limit or offset, or [`Code::AccountNotFound`].
pub async fn posts(act: &Act, query: PostsQuery) -> Result<Reply<PostNumbersPage>> {
    let (limit, offset) = (super::limit(query.limit, 50, 200), super::offset(query.offset));
    let bounds = bounds(act, &query);
    let (limit, offset) = (limit?, offset?);
    let (since, until) = bounds?;
    let visible = super::visible_accounts(act, query.account_id).await?;
    let mut found = post_numbers::Entity::find()
        .filter(post_numbers::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(post_numbers::Column::AccountId.is_in(visible.iter().map(|row| row.id)));
    if let Some(since) = since {
        found = found.filter(post_numbers::Column::PublishedAt.gte(since));
    }
    if let Some(until) = until {
        found = found.filter(post_numbers::Column::PublishedAt.lt(until));
    }
    let conn = &act.cx.db.read;
    let total = page::count_up_to(conn, found.clone(), page::COUNTED).await?;
    let rows = found
        .order_by_desc(post_numbers::Column::PublishedAt)
        .order_by_desc(post_numbers::Column::Id)
        .limit(limit)
        .offset(offset)
        .all(conn)
        .await?;
    let account = |row: &post_numbers::Model| visible.iter().find(|one| one.id == row.account_id);
    let posts = rows.iter().filter_map(|row| Some(view(act, row, account(row)?))).collect();
    let empty_because = if total > 0 { None } else { Some(why_empty(act, &query).await?.into()) };
    let page = PostNumbersPage { posts, total, limit, offset, empty_because };
    Ok(Reply::ok(&page))
}

async fn why_empty(act: &Act, query: &PostsQuery) -> Result<&'static str> {
    if query.account_id.is_none() && query.from.is_none() && query.to.is_none() {
        return Ok("nothing_published");
    }
    let visible = super::visible_accounts(act, None).await?;
    let any = post_numbers::Entity::find()
        .filter(post_numbers::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(post_numbers::Column::AccountId.is_in(visible.iter().map(|row| row.id)))
        .one(&act.cx.db.read)
        .await?;
    Ok(if any.is_some() { "filtered" } else { "nothing_published" })
}

type Bounds = (Option<Millis>, Option<Millis>);

fn bounds(act: &Act, query: &PostsQuery) -> Result<Bounds> {
    let home = zone::zone(&act.membership.timezone);
    let day = |field: &str, text: Option<&String>| match text {
        None => Ok(None),
        Some(text) => zone::parse(text).map(Some).ok_or_else(|| {
            let message = format!("{text:?} is no day.");
            Error::field(Code::InvalidField, field, message, "Send a day like 2026-11-24.")
        }),
    };
    let (from, to) = (day("from", query.from.as_ref())?, day("to", query.to.as_ref())?);
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        let message = format!("{from} is after {to}.");
        let remedy = "Send a day that is not after `to`.";
        return Err(Error::field(Code::InvalidField, "from", message, remedy));
    }
    let start = |day| zone::start(home, day).timestamp_millis();
    Ok((from.map(start), to.map(|to| start(zone::next(to)))))
}

fn view(act: &Act, row: &post_numbers::Model, account: &account::Model) -> PostNumbers {
    let numbers = parse_metrics(&row.numbers);
    let get = |name: &str| numbers.get(name).copied();
    let network = analytics_of(&act.cx, account);
    // Posts without numbers may be looked at again, which reads none.
    let next_at = row.next_at.filter(|_| network.is_some_and(|network| network.measures_posts()));
    let why = |name: &str| match row.unmeasured[name].as_str() {
        Some(why) => why.to_owned(),
        None if row.fetched_at.is_none() && next_at.is_some() => {
            MissingReason::Pending.as_str().to_owned()
        }
        None => MissingReason::Platform.as_str().to_owned(),
    };
    let missing = POST_METRICS.iter().filter(|name| !numbers.contains_key(**name));
    let mut unmeasured: BTreeMap<_, _> = missing.map(|name| (*name, why(name))).collect();
    let parts = network.map_or(&[][..], |network| network.engagements());
    let engagements = formulas::engagements(&numbers, parts);
    let rate = formulas::rate(engagements, &numbers);
    // A sum or a ratio lacks what its parts lack.
    let because = |parts: &[&str]| {
        let mut reasons = parts.iter().filter_map(|name| unmeasured.get(name));
        let known = reasons.find(|reason| **reason != MissingReason::Platform.as_str());
        known.cloned().unwrap_or_else(|| MissingReason::Platform.as_str().to_owned())
    };
    let (no_sum, no_base) = (because(parts), because(&formulas::RATE_BASES));
    if engagements.is_none() {
        unmeasured.insert(name::ENGAGEMENTS, no_sum.clone());
    }
    if rate.is_none() {
        let measured = formulas::RATE_BASES.iter().any(|name| numbers.contains_key(*name));
        let why = match (engagements, measured) {
            (None, _) => no_sum,
            (Some(_), true) => MissingReason::Platform.as_str().to_owned(),
            (Some(_), false) => no_base,
        };
        unmeasured.insert(ENGAGEMENT_RATE, why);
    }
    PostNumbers {
        id: row.id,
        post_id: row.post_id,
        source: if row.post_id.is_some() { "fanfare" } else { "external" }.into(),
        account_id: row.account_id,
        platform: account.platform.clone(),
        platform_post_id: row.remote_id.clone(),
        url: row
            .url
            .clone()
            .map(|url| if account.sandbox { browser_url(&act.cx, url) } else { url }),
        post_type: row.post_type.clone(),
        caption: row.caption.clone(),
        published_at: Time(row.published_at),
        status: row.status.clone(),
        fetched_at: row.fetched_at.map(Time),
        next_read_at: next_at.map(Time),
        r#final: next_at.is_none(),
        likes: get(name::LIKES),
        comments: get(name::COMMENTS),
        reach: get(name::REACH),
        impressions: get(name::IMPRESSIONS),
        saves: get(name::SAVES),
        shares: get(name::SHARES),
        reposts: get(name::REPOSTS),
        quotes: get(name::QUOTES),
        plays: get(name::PLAYS),
        views: get(name::VIEWS),
        clicks: get(name::CLICKS),
        engagements,
        engagement_rate: rate.map(|(rate, _)| rounded(rate, 2)),
        engagement_rate_basis: rate.map(|(_, base)| base.into()),
        unmeasured: unmeasured.into_iter().map(|(name, why)| (name.into(), why)).collect(),
        read_error: ReadError::of(row),
    }
}
