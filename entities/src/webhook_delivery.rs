//! Table `webhook_deliveries`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{DeliveryId, Millis, WebhookId, WorkspaceId};

/// The status of a delivery.
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
pub enum DeliveryStatus {
    /// It waits for an attempt.
    Pending,
    /// The receiver answered with a 2xx status.
    Delivered,
    /// All attempts failed, or the webhook was disabled.
    Failed,
}

/// The delivery of one event to one webhook, and the state of its job.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "webhook_deliveries")]
pub struct Model {
    /// The id, which the job queue uses too.
    #[sea_orm(primary_key)]
    pub id: DeliveryId,
    /// The public id, which is the same for all attempts.
    pub uid: Uuid,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The webhook.
    pub webhook_id: WebhookId,
    /// The event.
    pub event_id: Uuid,
    /// The type.
    pub event_type: String,
    /// The payload where there is no event row (`webhook.test`).
    pub body: Option<Json>,
    /// The status.
    pub status: DeliveryStatus,
    /// The time at which the row is due or, while a worker holds it, the end of the lease. Null if there is nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Increased by every claim, finish and edit. A worker with an older number has lost the row.
    pub fencing_token: i64,
    /// The number of failed attempts.
    pub attempts: i32,
    /// The number of consecutive leases that expired without a result.
    pub lease_expirations: i32,
    /// The HTTP status of the last attempt.
    pub last_status: Option<i32>,
    /// The error of the last attempt, with up to 2 KB of the reply.
    pub last_error: Option<String>,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
