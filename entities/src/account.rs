//! Table `accounts`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{AccountId, BrandId, Millis, SecretId, UserId, WorkspaceId};

/// The state of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, JsonSchema)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(24))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum AccountStatus {
    /// It is connected and can be used.
    Connected,
    /// Its credentials were refused; connecting it again mends that.
    ReconnectRequired,
    /// It was disconnected: hidden, kept for its posts and for a reconnect.
    Disconnected,
}

/// A connected social account.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "accounts")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key)]
    pub id: AccountId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Its brand, or workspace-wide.
    pub brand_id: Option<BrandId>,
    /// Platform identifier.
    pub platform: String,
    /// The platform's id; unique in the workspace with the platform and `sandbox`.
    pub remote_id: String,
    /// Name on the platform.
    pub username: String,
    /// Longer name.
    pub display_name: Option<String>,
    /// Can it be used?
    pub status: AccountStatus,
    /// Publishes on the simulated network.
    pub sandbox: bool,
    /// Public facts the connector needs, for example `did`.
    pub meta: Json,
    /// Its credentials; null once disconnected.
    pub secret_id: Option<SecretId>,
    /// The time at which its token ends, if it does.
    pub token_expires_at: Option<Millis>,
    /// A process is exchanging its tokens until then at most; others wait.
    pub refreshing_until: Option<Millis>,
    /// The time at which its tokens are to be exchanged for fresh ones; null where nothing is exchanged.
    pub refresh_at: Option<Millis>,
    /// The number of warnings given that scheduled posts outlive its token.
    pub warned: i32,
    /// The credentials it had, until the network has been told that they are given back.
    pub revoking_id: Option<SecretId>,
    /// The time at which there is something to do for it.
    pub due_at: Option<Millis>,
    /// Raised by every claim, finish and change of credentials.
    pub fencing_token: i64,
    /// Refreshes that failed in a row.
    pub attempts: i32,
    /// Leases that lapsed in a row.
    pub lease_expirations: i32,
    /// The user who connected it last.
    pub connected_by: UserId,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
