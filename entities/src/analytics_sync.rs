//! Table `analytics_syncs`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, WorkspaceId};

/// The state of the job that reads the metrics of an account.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "analytics_syncs")]
pub struct Model {
    /// The account.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: AccountId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The time at which the row is due or, while a worker holds it, the end of the lease. Null if there is nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Increased by every claim and finish. A worker with an older number has lost the row.
    pub fencing_token: i64,
    /// The number of consecutive failed attempts.
    pub attempts: i32,
    /// The number of consecutive leases that expired without a result.
    pub lease_expirations: i32,
    /// The time of the first reading of a post that was published during the current run.
    pub wake_at: Option<Millis>,
    /// The time at which the next daily reading starts.
    pub daily_at: Millis,
    /// The first day that the current daily reading has read. Null if it has read none yet.
    pub first_day: Option<String>,
    /// The next day to read in the current daily reading. Null if none is in progress.
    pub next_day: Option<String>,
    /// True if the posts of the account were listed in the current daily reading.
    pub listed: bool,
    /// The end of the last daily reading.
    pub synced_at: Option<Millis>,
    /// The last day whose metrics are final.
    pub complete_through: Option<String>,
    /// Metrics that the platform refuses, and the time until which they are not requested.
    pub refused: Json,
    /// Permissions that the access to the account lacks.
    pub missing_permissions: Json,
    /// The reach of the periods that end with the last final day, by the length of the period in days.
    pub period_reach: Json,
    /// The number of posts whose metrics changed since the last daily reading.
    pub changed_posts: i32,
    /// True if the account is disconnected and its metrics are kept.
    pub archived: bool,
    /// The time at which the metrics of a disconnected account are deleted.
    pub purge_at: Option<Millis>,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
