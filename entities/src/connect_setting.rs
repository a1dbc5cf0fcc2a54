//! Table `connect_settings`: on which terms a workspace lets programs send people to connect accounts.

use sea_orm::entity::prelude::*;

use crate::{Millis, WorkspaceId};

/// The settings of a workspace. Without a row nothing is allowed.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "connect_settings")]
pub struct Model {
    /// The workspace.
    #[sea_orm(primary_key, auto_increment = false)]
    pub workspace_id: WorkspaceId,
    /// True if links may be made that need no account of this service.
    pub guest_links: bool,
    /// The addresses that people may be sent back to, one per line.
    pub return_urls: String,
    /// The name of the product that people come from.
    pub app_name: Option<String>,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
