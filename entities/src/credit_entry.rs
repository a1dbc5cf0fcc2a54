//! Table `credit_entries`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{CreditEntryId, Millis, UserId};

/// The reason a balance changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, JsonSchema)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// An allowance was granted.
    Grant,
    /// The rest of an allowance expired.
    Expire,
    /// A pack was bought.
    Purchase,
    /// Credits were reserved for an operation.
    Reserve,
    /// An operation was paid for; credits that it did not need came back.
    Settle,
    /// An operation was not carried out; the reserved credits came back.
    Refund,
    /// The payment for a pack was taken back.
    Withdraw,
    /// An operator changed the plan.
    Adjust,
}

/// The two pools of a wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, JsonSchema)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Pool {
    /// The allowance of a period.
    Included,
    /// Credits that were bought.
    Purchased,
}

/// A line of a wallet's ledger. It is written once and never changed.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "credit_entries")]
pub struct Model {
    /// Its id, in the order of the changes of a wallet.
    #[sea_orm(primary_key)]
    pub id: CreditEntryId,
    /// The owner of the wallet.
    pub user_id: UserId,
    /// The reason it changed.
    pub kind: EntryKind,
    /// The pool.
    pub pool: Pool,
    /// By how much.
    pub amount: i64,
    /// The pool's balance after it.
    pub balance: i64,
    /// The operation that the credits were reserved for.
    pub operation: Option<String>,
    /// The period of a grant, the payment of a pack.
    #[sea_orm(column_name = "ref")]
    pub reference: Option<String>,
    /// The time of the action.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
