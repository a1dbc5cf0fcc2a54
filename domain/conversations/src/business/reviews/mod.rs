//! Reviews and the owner's replies to them.

mod reply;
mod view;

pub use self::reply::{review_id, text_or_number};
pub(super) use self::view::view_for_event;
use fanfare_core::{
    Act, Reply, Tx,
    clock::Time,
    error::{Code, Error, Result},
    input,
    page::{self, Listed},
};
use fanfare_entities::{
    AccountId, ReviewId, account,
    business_review::{self, Column},
};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{profile_of, selected_accounts, sync, why_empty};
use crate::inbox::{ListPosition, older_than};

pub use self::{
    reply::{NewReviewReply, ReviewRef, delete_reply, reply},
    view::{OneReview, Review, ReviewAction, ReviewPage, ReviewReply, ReviewSummary, Reviewer},
};

const DAY: i64 = 24 * 3_600_000;

/// The filter of a list of reviews.
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
    /// Only those with a reply, or only those without.
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
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Lists reviews, last changed first. Old data is read again in the background.
///
/// # Errors
/// An invalid filter.
pub async fn list(act: &Act, filter: ReviewFilter) -> Result<Reply<Listed<ReviewPage>>> {
    let limit = input::limit(filter.limit)?;
    let accounts = selected_accounts(act, filter.account_id, filter.location_id.as_deref()).await?;
    let ids: Vec<AccountId> = accounts.iter().map(|account| account.id).collect();
    let all = business_review::Entity::find().filter(Column::AccountId.is_in(ids));
    let mut query = all.clone().order_by_desc(Column::ChangedAt).order_by_desc(Column::Id);
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
    let cursor: Option<ListPosition> = input::cursor(filter.cursor.as_deref())?;
    let from = |last: Option<&business_review::Model>| match last
        .map(|row| ListPosition(row.changed_at, row.id.0))
        .or(cursor)
    {
        Some(place) => query.clone().filter(older_than(Column::ChangedAt, Column::Id, place)),
        None => query.clone(),
    };
    let size = |row: &business_review::Model| row.text.len() + 1_500;
    let page = page::read(&act.cx.db.read, limit, from, size).await?;
    let next_cursor = page.next(|row| format!("{}.{}", row.changed_at, row.id));
    let (mut summary, mut profiles) = (Vec::new(), std::collections::HashMap::new());
    for account in &accounts {
        sync::request_sync_if_stale(act, account).await?;
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
    let why = if page.rows.is_empty() {
        let any = page::count_up_to(&act.cx.db.read, all, 1).await? > 0;
        Some(why_empty(act, &accounts, (any, cursor.is_some())).await?)
    } else {
        None
    };
    let reviews = page.rows.into_iter().filter_map(|row| {
        let (account, profile) = profiles.get(&row.account_id)?;
        Some(Review::of(row, account, profile.as_ref(), act.membership.role))
    });
    let listed = ReviewPage { reviews: reviews.collect(), summary, next_cursor };
    Ok(Reply::ok(&Listed::new(listed, why)))
}

fn stars(text: &str) -> Result<Vec<i32>> {
    let star = |part: &str| part.trim().parse().ok().filter(|star| (1..=5).contains(star));
    let stars: Option<Vec<i32>> = text.split(',').map(star).collect();
    stars.ok_or_else(|| {
        let message = format!("rating is {text:?}; it may be stars from 1 to 5.");
        Error::field(Code::InvalidField, "rating", message, "Send for example `1,2`.")
    })
}

/// Returns a review, by its id here or on the network, and its account.
///
/// # Errors
/// [`Code::ReviewNotFound`].
pub async fn find(act: &Act, id: &str) -> Result<(business_review::Model, account::Model)> {
    let absent = || Error::new(Code::ReviewNotFound, "There is no such review.");
    let mut which = Condition::any().add(Column::Name.eq(id));
    if let Ok(number) = id.parse::<i64>() {
        which = which.add(Column::Id.eq(ReviewId(number)));
    }
    let rows = business_review::Entity::find()
        .filter(Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(which);
    let row = rows.one(&act.cx.db.write).await?.ok_or_else(absent)?;
    let account =
        fanfare_publishing::accounts::find(act, row.account_id).await.map_err(|_| absent())?;
    Ok((row, account))
}

/// Emits an event about a review; its text is only in the payload.
pub(super) fn emit_review_event(
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
