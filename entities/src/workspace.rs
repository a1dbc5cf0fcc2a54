//! Table `workspaces`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId, WorkspaceId};

/// A team or personal space that owns accounts and posts.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "workspaces")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: WorkspaceId,
    /// Name for people.
    pub name: String,
    /// The space every person has of their own.
    pub personal: bool,
    /// The user who pays for it.
    pub owner_id: UserId,
    /// IANA name.
    pub timezone: String,
    /// Number of the last event; 0 before the first.
    pub event_sequence: i64,
    /// The time at which it was made.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
