//! Reviews as replies and events show them.

use fanfare_core::{Tx, access::Role, clock::Time, error::Result, input};
use fanfare_entities::{
    AccountId, BrandId, ReviewId,
    account::{self, AccountStatus},
    business_profile, business_review,
};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::title;

/// The author of a review.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Reviewer {
    pub name: Option<String>,
    pub avatar_url: Option<String>,
    pub anonymous: bool,
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
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct ReviewReply {
    pub text: String,
    /// `pending`, `approved` or `rejected`.
    pub state: String,
    pub policy_violation: Option<String>,
    pub updated_at: Time,
}

/// An action that is possible with a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewAction {
    /// Answer it.
    Reply,
    /// Delete its answer.
    DeleteReply,
}

/// A review of a location.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Review {
    pub id: ReviewId,
    /// The network's name for it.
    pub review_name: String,
    pub account_id: AccountId,
    /// Brand of the account; null if it belongs to the whole workspace.
    pub workspace_client_id: Option<BrandId>,
    pub location_id: String,
    pub location_title: String,
    pub reviewer: Reviewer,
    /// Stars, 1 to 5; null if they are not known.
    pub rating: Option<i32>,
    pub text: String,
    #[schemars(with = "Vec<ReviewMedium>")]
    media: Value,
    pub created_at: Time,
    pub updated_at: Time,
    #[schemars(with = "Option<ReviewReply>")]
    reply: Option<Value>,
    /// The review was changed after it was answered.
    pub changed_after_reply: bool,
    /// The actions that your role and the state allow now.
    pub can: Vec<ReviewAction>,
}

/// Statistics of all reviews of a location.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct ReviewSummary {
    pub account_id: AccountId,
    pub location_id: String,
    /// Null if it is not known.
    pub average_rating: Option<f64>,
    /// Null if it is not known.
    pub total_review_count: Option<i64>,
    pub synced_at: Option<Time>,
}

/// A page of reviews.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct ReviewPage {
    pub reviews: Vec<Review>,
    pub summary: Vec<ReviewSummary>,
    /// The cursor of the next page; null on the last one.
    pub next_cursor: Option<String>,
}

/// One review.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneReview {
    pub(super) review: Review,
}

impl Review {
    /// Returns the owner's answer, which the row keeps as JSON.
    #[must_use]
    pub fn answer(&self) -> Option<ReviewReply> {
        self.reply.as_ref().and_then(|reply| ReviewReply::deserialize(reply).ok())
    }

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
