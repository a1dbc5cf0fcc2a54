//! Table `analytics_syncs`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, WorkspaceId};

/// The progress of reading an account's numbers, and the work of it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "analytics_syncs")]
pub struct Model {
    /// The account.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: AccountId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The time at which there is something to do; the end of the lease while a worker holds the row; null: nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Raised by every claim and finish: a holder of an older number has lost the row.
    pub fencing_token: i64,
    /// Failed tries in a row.
    pub attempts: i32,
    /// Leases in a row that ended without a result.
    pub lease_expirations: i32,
    /// Something was published meanwhile, whose first reading is then.
    pub wake_at: Option<Millis>,
    /// The time at which the next daily reading begins.
    pub daily_at: Millis,
    /// The next day that the daily reading under way reads; null: none is under way.
    pub next_day: Option<String>,
    /// The account's posts were listed in the daily reading under way.
    pub listed: bool,
    /// The end of the last daily reading.
    pub synced_at: Option<Millis>,
    /// The last day whose numbers are final.
    pub complete_through: Option<String>,
    /// Numbers that the network refuses, and until when they are not asked for.
    pub refused: Json,
    /// Permissions that the account's access lacks.
    pub missing_permissions: Json,
    /// The reach of the periods that end with the last final day, by their length in days.
    pub period_reach: Json,
    /// Posts whose numbers changed since the last daily reading.
    pub changed_posts: i32,
    /// The account is disconnected and its numbers are kept.
    pub archived: bool,
    /// The time at which the numbers are deleted, since the account is disconnected.
    pub purge_at: Option<Millis>,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
