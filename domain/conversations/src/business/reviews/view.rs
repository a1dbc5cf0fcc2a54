//! Reviews as replies and events show them.

use fanfare_core::{Tx, access::Role, clock::Time, error::Result, input};
use fanfare_entities::{
    AccountId, BrandId, ReviewId,
    account::{self, AccountStatus},
    business_profile, business_review,
};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde::Serialize;
use serde_json::Value;

use super::super::title;

/// The author of a review.
#[derive(Debug, Serialize, JsonSchema)]
struct Reviewer {
    name: Option<String>,
    avatar_url: Option<String>,
    anonymous: bool,
}

/// A picture or video of a review.
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

/// An action that is possible with a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ReviewAction {
    /// Answer it.
    Reply,
    /// Delete its answer.
    DeleteReply,
}

/// A review of a location.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Review {
    id: ReviewId,
    /// The network's name for it.
    review_name: String,
    account_id: AccountId,
    /// Brand of the account; null if it belongs to the whole workspace.
    workspace_client_id: Option<BrandId>,
    location_id: String,
    location_title: String,
    reviewer: Reviewer,
    /// Stars, 1 to 5; null if they are not known.
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
    /// The actions that your role and the state allow now.
    can: Vec<ReviewAction>,
}

/// Statistics of all reviews of a location.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReviewSummary {
    pub(super) account_id: AccountId,
    pub(super) location_id: String,
    /// Null if it is not known.
    pub(super) average_rating: Option<f64>,
    /// Null if it is not known.
    pub(super) total_review_count: Option<i64>,
    pub(super) synced_at: Option<Time>,
}

/// A page of reviews.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ReviewPage {
    pub(super) reviews: Vec<Review>,
    pub(super) summary: Vec<ReviewSummary>,
    /// The cursor of the next page; null on the last one.
    pub(super) next_cursor: Option<String>,
}

/// One review.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneReview {
    pub(super) review: Review,
}

impl Review {
    pub(super) fn of(
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
            can.push(ReviewAction::Reply);
        }
        if may && row.reply.is_some() {
            can.push(ReviewAction::DeleteReply);
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

/// Returns a review as events show it.
pub(in crate::business) async fn view_for_event(
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
