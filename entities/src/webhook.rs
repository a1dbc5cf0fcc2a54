//! Table `webhooks`.

use sea_orm::entity::prelude::*;

use crate::{Millis, WebhookId, WorkspaceId};

/// An address that receives events.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "webhooks")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: WebhookId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The address.
    pub url: String,
    /// The owner's words about it.
    pub description: Option<String>,
    /// List of event types, or `*`.
    pub events: Json,
    /// True if events are delivered to it.
    pub enabled: bool,
    /// The reason it is disabled.
    pub disabled_reason: Option<String>,
    /// The time of the first failure since the last success.
    pub failing_since: Option<Millis>,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
