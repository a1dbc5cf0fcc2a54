//! Table `business_profiles`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, ProfileId, WorkspaceId};

/// The profile of a business location, and the state of the job that reads it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "business_profiles")]
pub struct Model {
    /// The id, which the job queue uses too.
    #[sea_orm(primary_key)]
    pub id: ProfileId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account. Each account is one location.
    pub account_id: AccountId,
    /// The location data, as the platform reports it.
    pub location: Option<Json>,
    /// True if the platform has verified the owner.
    pub verified: Option<bool>,
    /// The time of the last post.
    pub last_post_at: Option<Millis>,
    /// True if the latest posts could be read.
    pub posts_known: bool,
    /// The average number of stars.
    pub average_rating: Option<f64>,
    /// The number of reviews.
    pub total_reviews: Option<i64>,
    /// True if everything from before the connection has been read.
    pub backfilled: bool,
    /// The time at which the location data was last read.
    pub facts_at: Option<Millis>,
    /// The time at which reviews and media were last read.
    pub synced_at: Option<Millis>,
    /// The time at which the row is due or, while a worker holds it, the end of the lease. Null if there is nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Increased by every claim and finish. A worker with an older number has lost the row.
    pub fencing_token: i64,
    /// The number of failed attempts.
    pub attempts: i32,
    /// The number of consecutive leases that expired without a result.
    pub lease_expirations: i32,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
