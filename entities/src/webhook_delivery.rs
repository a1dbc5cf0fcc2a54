//! Table `webhook_deliveries`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{DeliveryId, Millis, WebhookId, WorkspaceId};

/// The status of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, JsonSchema)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    /// Waits to be tried.
    Pending,
    /// Answered with 2xx.
    Delivered,
    /// All tries failed, or the webhook was disabled.
    Failed,
}

/// One event for one webhook, and the work of delivering it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "webhook_deliveries")]
pub struct Model {
    /// Its id as work.
    #[sea_orm(primary_key)]
    pub id: DeliveryId,
    /// Its public id, the same over all tries.
    pub uid: Uuid,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The webhook.
    pub webhook_id: WebhookId,
    /// The event.
    pub event_id: Uuid,
    /// Its type.
    pub event_type: String,
    /// The payload where there is no event row (`webhook.test`).
    pub body: Option<Json>,
    /// Its status.
    pub status: DeliveryStatus,
    /// The time at which there is something to do; the end of the lease while a worker holds the row; null: nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Raised by every claim, finish and edit: a holder of an older number has lost the row.
    pub fencing_token: i64,
    /// Failed tries of the work so far.
    pub attempts: i32,
    /// Leases in a row that ended without a result.
    pub lease_expirations: i32,
    /// HTTP status of the last try.
    pub last_status: Option<i32>,
    /// The error of the last attempt, with up to 2 KB of the reply.
    pub last_error: Option<String>,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
