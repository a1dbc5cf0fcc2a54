//! Table `business_profiles`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, ProfileId, WorkspaceId};

/// The record of a location, and the work of reading it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "business_profiles")]
pub struct Model {
    /// Its id as work.
    #[sea_orm(primary_key)]
    pub id: ProfileId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account; each is one location.
    pub account_id: AccountId,
    /// The location's record, as the network tells it.
    pub location: Option<Json>,
    /// The owner is known to the network.
    pub verified: Option<bool>,
    /// The time at which it last posted.
    pub last_post_at: Option<Millis>,
    /// Its latest posts could be read.
    pub posts_known: bool,
    /// Average of the stars.
    pub average_rating: Option<f64>,
    /// The number of reviews.
    pub total_reviews: Option<i64>,
    /// True once everything from before the connection has been read.
    pub backfilled: bool,
    /// The time at which the location's record was last read.
    pub facts_at: Option<Millis>,
    /// The time at which reviews and media were last read.
    pub synced_at: Option<Millis>,
    /// The time at which there is something to do; the end of the lease while a worker holds the row; null: nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Raised by every claim and finish: a holder of an older number has lost the row.
    pub fencing_token: i64,
    /// Failed tries so far.
    pub attempts: i32,
    /// Leases in a row that ended without a result.
    pub lease_expirations: i32,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
