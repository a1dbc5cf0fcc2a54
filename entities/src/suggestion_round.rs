//! Table `suggestion_rounds`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, WorkspaceId};

/// The work of suggesting posts for an account each week.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "suggestion_rounds")]
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
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
