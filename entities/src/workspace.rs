//! Table `workspaces`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId, WorkspaceId};

/// A team or personal space that owns accounts and posts.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "workspaces")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: WorkspaceId,
    /// The display name.
    pub name: String,
    /// The personal workspace that every person has.
    pub personal: bool,
    /// The user who pays for it.
    pub owner_id: UserId,
    /// The IANA time zone name.
    pub timezone: String,
    /// The number of the last event. 0 before the first.
    pub event_sequence: i64,
    /// The time of creation.
    pub created_at: Millis,
    /// The time at which it is deleted. Null unless it is to be.
    pub deletion_at: Option<Millis>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
