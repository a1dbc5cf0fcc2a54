//! Reviews and the owner's answers to them.

use fanfare_entities::{
    AccountId, BrandId, ReviewId, account, account::AccountStatus, business_profile,
    business_review, business_review::Column, outgoing,
};
use fanfare_platforms::Change;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{meant, profile_of, sync, title};
use crate::{
    Act, Reply, Tx,
    access::Role,
    clock::Time,
    error::{Code, Error, Result},
    inbox::{Place, before, finish, outgoing_status},
    input,
    outgoing::{self as changes, NewOutgoing, Target},
    page,
};

const DAY: i64 = 24 * 3_600_000;

/// Longest answer in bytes.
const REPLY_MAX: usize = 4_096;

/// Which reviews to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewFilter {
    /// Only of this account.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// Only of the location of this number.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub location_id: Option<String>,
    /// Only with these stars, separated by commas.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub rating: Option<String>,
    /// Only answered ones, or only the others.
    #[serde(default)]
    pub replied: Option<bool>,
    /// Only changed from this day on (YYYY-MM-DD, UTC).
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub from: Option<String>,
    /// Only changed up to this day (YYYY-MM-DD, UTC).
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub to: Option<String>,
    /// 1 to 100, 20 if left out.
    #[serde(default)]
    pub limit: Option<i64>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// An answer to a review.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReviewReply {
    /// Id of the review, or its `review_name`.
    #[serde(deserialize_with = "text_or_number")]
    #[schemars(schema_with = "review_id")]
    pub review_id: String,
    /// The text, 1 to 4,096 bytes.
    #[schemars(length(max = 10_000))]
    pub text: String,
    /// Put it in the place of an answer that is there.
    #[serde(default)]
    pub replace: Option<bool>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Which review.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewNamed {
    /// Id of the review, or its `review_name`.
    #[schemars(length(max = 300))]
    pub review_id: String,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

pub(crate) fn text_or_number<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(i64),
        Text(String),
    }
    Ok(match Either::deserialize(deserializer)? {
        Either::Number(number) => number.to_string(),
        Either::Text(text) => text,
    })
}

pub(crate) fn review_id(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": ["integer", "string"], "maxLength": 300,
        "description": "Id of the review, or its `review_name`.",
    })
}

/// Who wrote a review.
#[derive(Debug, Serialize, JsonSchema)]
struct Reviewer {
    name: Option<String>,
    avatar_url: Option<String>,
    anonymous: bool,
}

/// A picture or film of a review.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes JSON that a row keeps")]
struct ReviewMedium {
    url: Option<String>,
    thumbnail_url: Option<String>,
    /// `image` or `video`.
    #[schemars(rename = "type")]
    kind: String,
}

/// The owner's answer.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes JSON that a row keeps")]
struct ReviewReply {
    text: String,
    /// `pending`, `approved` or `rejected`.
    state: String,
    policy_violation: Option<String>,
    updated_at: Time,
}

/// What can be done with a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ReviewCan {
    /// Answer it.
    Reply,
    /// Delete its answer.
    DeleteReply,
}

/// A review of a location.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Review {
    id: ReviewId,
    /// The network's name of it.
    review_name: String,
    account_id: AccountId,
    /// Brand of the account; null if it is the whole workspace's.
    workspace_client_id: Option<BrandId>,
    location_id: String,
    location_title: String,
    reviewer: Reviewer,
    /// Stars, 1 to 5; null if they are not told.
    rating: Option<i32>,
    text: String,
    #[schemars(with = "Vec<ReviewMedium>")]
    media: Value,
    created_at: Time,
    updated_at: Time,
    #[schemars(with = "Option<ReviewReply>")]
    reply: Option<Value>,
    /// The review was changed after it was answered.
    changed_after_reply: bool,
    /// What your role and the state allow now.
    can: Vec<ReviewCan>,
}

/// What holds of all reviews of a location.
#[derive(Debug, Serialize, JsonSchema)]
struct ReviewSummary {
    account_id: AccountId,
    location_id: String,
    /// Null if it is not known.
    average_rating: Option<f64>,
    /// Null if it is not known.
    total_review_count: Option<i64>,
    synced_at: Option<Time>,
}

/// A page of reviews.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ReviewPage {
    reviews: Vec<Review>,
    summary: Vec<ReviewSummary>,
    /// Where the next page begins; null on the last one.
    next_cursor: Option<String>,
}

/// One review.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneReview {
    review: Review,
}

impl Review {
    fn of(
        row: business_review::Model,
        account: &account::Model,
        profile: Option<&business_profile::Model>,
        role: Role,
    ) -> Self {
        let may = role >= Role::Publisher && account.status == AccountStatus::Connected;
        let answered = row.reply.as_ref().and_then(|reply| reply["updated_at"].as_str());
        let answered = answered.and_then(|at| input::time("updated_at", at, None).ok());
        let mut can = Vec::new();
        if may {
            can.push(ReviewCan::Reply);
        }
        if may && row.reply.is_some() {
            can.push(ReviewCan::DeleteReply);
        }
        Self {
            id: row.id,
            review_name: row.name,
            account_id: row.account_id,
            workspace_client_id: account.brand_id,
            location_id: account.remote_id.clone(),
            location_title: title(profile, account),
            reviewer: Reviewer {
                anonymous: row.reviewer.is_none(),
                name: row.reviewer,
                avatar_url: row.avatar_url,
            },
            rating: row.rating,
            text: row.text,
            media: row.media,
            created_at: Time(row.reviewed_at),
            updated_at: Time(row.changed_at),
            changed_after_reply: answered.is_some_and(|at| row.changed_at > at),
            reply: row.reply,
            can,
        }
    }
}

/// A review as an event shows it.
pub(super) async fn view_for_event(
    tx: &Tx,
    account: &account::Model,
    row: business_review::Model,
) -> Result<Review> {
    let profile = business_profile::Entity::find()
        .filter(business_profile::Column::AccountId.eq(account.id))
        .one(tx.conn())
        .await?;
    Ok(Review::of(row, account, profile.as_ref(), Role::Admin))
}

/// Tells of something about a review; its text stands in the payload alone.
pub(super) fn tell(
    tx: &mut Tx,
    account: &account::Model,
    event_type: &'static str,
    streamed: bool,
    data: Value,
) {
    let message = match event_type {
        "review.received" => format!("A review of {} came.", account.username),
        _ => format!("Google rejected the answer to a review of {}.", account.username),
    };
    tx.emit(sync::event(account, event_type, streamed, &data, message));
}

/// Lists reviews, the last changed first. Old ones are read again behind it.
///
/// # Errors
/// A filter that means nothing.
pub async fn list(act: &Act, filter: ReviewFilter) -> Result<Reply<ReviewPage>> {
    let limit = input::limit(filter.limit)?;
    let accounts = meant(act, filter.account_id, filter.location_id.as_deref()).await?;
    let ids: Vec<AccountId> = accounts.iter().map(|account| account.id).collect();
    let mut query = business_review::Entity::find()
        .filter(Column::AccountId.is_in(ids))
        .order_by_desc(Column::ChangedAt)
        .order_by_desc(Column::Id);
    if let Some(rating) = &filter.rating {
        query = query.filter(Column::Rating.is_in(stars(rating)?));
    }
    if let Some(replied) = filter.replied {
        let has = if replied { Column::Reply.is_not_null() } else { Column::Reply.is_null() };
        query = query.filter(has);
    }
    if let Some(from) = &filter.from {
        query = query.filter(Column::ChangedAt.gte(input::day("from", from)?));
    }
    if let Some(to) = &filter.to {
        query = query.filter(Column::ChangedAt.lt(input::day("to", to)? + DAY));
    }
    let cursor: Option<Place> = input::cursor(filter.cursor.as_deref())?;
    let from = |last: Option<&business_review::Model>| match last
        .map(|row| Place(row.changed_at, row.id.0))
        .or(cursor)
    {
        Some(place) => query.clone().filter(before(Column::ChangedAt, Column::Id, place)),
        None => query.clone(),
    };
    let size = |row: &business_review::Model| row.text.len() + 1_500;
    let page = page::read(&act.cx.db.read, limit, from, size).await?;
    let next_cursor = page.next(|row| format!("{}.{}", row.changed_at, row.id));
    let (mut summary, mut profiles) = (Vec::new(), std::collections::HashMap::new());
    for account in &accounts {
        sync::ask_if_stale(act, account).await?;
        let profile = profile_of(act, account.id).await?;
        summary.push(ReviewSummary {
            account_id: account.id,
            location_id: account.remote_id.clone(),
            average_rating: profile.as_ref().and_then(|profile| profile.average_rating),
            total_review_count: profile.as_ref().and_then(|profile| profile.total_reviews),
            synced_at: profile.as_ref().and_then(|profile| profile.synced_at).map(Time),
        });
        profiles.insert(account.id, (account, profile));
    }
    let reviews = page.rows.into_iter().filter_map(|row| {
        let (account, profile) = profiles.get(&row.account_id)?;
        Some(Review::of(row, account, profile.as_ref(), act.membership.role))
    });
    Ok(Reply::ok(&ReviewPage { reviews: reviews.collect(), summary, next_cursor }))
}

fn stars(text: &str) -> Result<Vec<i32>> {
    let star = |part: &str| part.trim().parse().ok().filter(|star| (1..=5).contains(star));
    let stars: Option<Vec<i32>> = text.split(',').map(star).collect();
    stars.ok_or_else(|| {
        let message = format!("rating is {text:?}; it may be stars from 1 to 5.");
        Error::field(Code::InvalidField, "rating", message, "Send for example `1,2`.")
    })
}

/// A review by its id here or on the network, and its account.
///
/// # Errors
/// [`Code::ReviewNotFound`].
pub(crate) async fn find(act: &Act, id: &str) -> Result<(business_review::Model, account::Model)> {
    let absent = || Error::new(Code::ReviewNotFound, "There is no such review.");
    let mut which = Condition::any().add(Column::Name.eq(id));
    if let Ok(number) = id.parse::<i64>() {
        which = which.add(Column::Id.eq(ReviewId(number)));
    }
    let rows = business_review::Entity::find()
        .filter(Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(which);
    let row = rows.one(&act.cx.db.write).await?.ok_or_else(absent)?;
    let account = crate::accounts::find(act, row.account_id).await.map_err(|_| absent())?;
    Ok((row, account))
}

/// Answers a review. 201, 200 in place of an earlier answer, 202 while the outcome is open.
///
/// # Errors
/// [`Code::ReviewNotFound`], [`Code::ReplyExists`], or why the network refuses.
pub async fn reply(act: &Act, new: NewReviewReply) -> Result<Reply<OneReview>> {
    let (row, account) = find(act, &new.review_id).await?;
    let replaces = row.reply.is_some();
    let made = match changes::of_request(act).await? {
        Some(earlier) => earlier,
        None => {
            if new.text.trim().is_empty() || new.text.len() > REPLY_MAX {
                let message =
                    format!("text has {} bytes; it may have 1 to {REPLY_MAX}.", new.text.len());
                return Err(Error::field(
                    Code::InvalidField,
                    "text",
                    message,
                    "Shorten the text, or send one.",
                ));
            }
            if replaces && new.replace != Some(true) {
                let message = "The review is answered already.";
                return Err(Error::new(Code::ReplyExists, message));
            }
            let change = Change::ReviewReply { review: row.name.clone(), text: new.text };
            make(act, &account, &row, change).await?
        }
    };
    let status = match outgoing_status(&made)? {
        201 if replaces => 200,
        status => status,
    };
    shown(act, row.id, &account, status).await
}

/// Deletes the answer to a review.
///
/// # Errors
/// [`Code::ReviewNotFound`], [`Code::ReplyNotFound`], or why the network refuses.
pub async fn delete_reply(act: &Act, named: ReviewNamed) -> Result<Reply<OneReview>> {
    let (row, account) = find(act, &named.review_id).await?;
    let made = match changes::of_request(act).await? {
        Some(earlier) => earlier,
        None => {
            if row.reply.is_none() {
                let message = "The review has no answer.";
                return Err(Error::new(Code::ReplyNotFound, message));
            }
            let change = Change::DeleteReviewReply { review: row.name.clone() };
            make(act, &account, &row, change).await?
        }
    };
    let status = if outgoing_status(&made)? == 202 { 202 } else { 200 };
    shown(act, row.id, &account, status).await
}

async fn make(
    act: &Act,
    account: &account::Model,
    row: &business_review::Model,
    change: Change,
) -> Result<outgoing::Model> {
    if account.status != AccountStatus::Connected {
        let message = "The account must be connected again first.";
        return Err(Error::new(Code::AccountReconnectRequired, message));
    }
    let tx = act.begin().await?;
    business_review::Entity::find_by_id(row.id).lock_exclusive().one(tx.conn()).await?;
    let scope = format!("review:{}", row.id);
    changes::refuse_open(tx.conn(), &scope).await?;
    let new = NewOutgoing {
        workspace_id: account.workspace_id,
        account_id: account.id,
        target: Target::Review(row.id),
        scope,
        change,
    };
    let made = changes::insert(act, tx.conn(), new).await?;
    tx.commit().await?;
    changes::in_request(&act.cx, made).await
}

async fn shown(
    act: &Act,
    id: ReviewId,
    account: &account::Model,
    status: u16,
) -> Result<Reply<OneReview>> {
    let row = business_review::Entity::find_by_id(id).one(&act.cx.db.write).await?;
    let row = row.ok_or_else(|| Error::new(Code::ReviewNotFound, "There is no such review."))?;
    let profile = profile_of(act, account.id).await?;
    let review = Review::of(row, account, profile.as_ref(), act.membership.role);
    finish(act, Reply::ok(&OneReview { review }).with_status(status)).await
}
