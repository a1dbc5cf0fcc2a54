//! Table `credit_entries`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{CreditEntryId, KeyId, Millis, UserId, WorkspaceId};

/// The reason a balance changed.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    EnumIter,
    DeriveActiveEnum,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// An allowance was granted.
    Grant,
    /// The rest of an allowance expired.
    Expire,
    /// A credit pack was bought.
    Purchase,
    /// Credits were reserved for an operation.
    Reserve,
    /// An operation was charged, and the credits that it did not need were returned.
    Settle,
    /// An operation was not carried out, and the reserved credits were returned.
    Refund,
    /// The payment for a pack was refunded or disputed; with a positive amount, the refund failed or the dispute was won.
    Withdraw,
    /// An operator changed the plan.
    Adjust,
}

/// The two pools of a wallet.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    EnumIter,
    DeriveActiveEnum,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Pool {
    /// The allowance of a period.
    Included,
    /// Purchased credits.
    Purchased,
}

/// An entry in the ledger of a wallet. It is written once and never changed.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "credit_entries")]
pub struct Model {
    /// The id, in the order of the changes of the wallet.
    #[sea_orm(primary_key)]
    pub id: CreditEntryId,
    /// The owner of the wallet.
    pub user_id: UserId,
    /// The reason for the change.
    pub kind: EntryKind,
    /// The pool.
    pub pool: Pool,
    /// The amount of the change.
    pub amount: i64,
    /// The balance of the pool after the change.
    pub balance: i64,
    /// The workspace of the operation; `None` for what concerns the whole wallet.
    pub workspace_id: Option<WorkspaceId>,
    /// The operation that the credits were reserved for.
    pub operation: Option<String>,
    /// The period of a grant, or the payment of a pack.
    #[sea_orm(column_name = "ref")]
    pub reference: Option<String>,
    /// The time of creation.
    pub created_at: Millis,
    /// The key that the operation was asked for with, or the grant of a tool.
    pub key_id: Option<KeyId>,
    /// The text by which the caller knows the operation.
    pub caller_reference: Option<String>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
