//! Table `accounts`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{AccountId, BrandId, Millis, SecretId, UserId, WorkspaceId};

/// The state of an account.
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
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(24))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum AccountStatus {
    /// The account is connected and can be used.
    Connected,
    /// The platform refused the credentials. The account must be reconnected.
    ReconnectRequired,
    /// The account was disconnected. It is hidden, but kept for its posts and for a reconnect.
    Disconnected,
}

/// A connected social account.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "accounts")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key)]
    pub id: AccountId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The brand, or null if the account belongs to the whole workspace.
    pub brand_id: Option<BrandId>,
    /// The platform identifier.
    pub platform: String,
    /// The id on the platform. Unique in the workspace, together with the platform and `sandbox`.
    pub remote_id: String,
    /// The user name on the platform.
    pub username: String,
    /// The display name on the platform.
    pub display_name: Option<String>,
    /// The status.
    pub status: AccountStatus,
    /// True if it publishes to the simulated platform.
    pub sandbox: bool,
    /// Public data that the connector needs, for example `did`.
    pub meta: Json,
    /// The credentials. Null after the account was disconnected.
    pub secret_id: Option<SecretId>,
    /// The time at which the token expires, if it does.
    pub token_expires_at: Option<Millis>,
    /// The end of the lease of the process that is refreshing the tokens. Other processes wait until then.
    pub refreshing_until: Option<Millis>,
    /// The time at which the tokens must be refreshed. Null if they are never refreshed.
    pub refresh_at: Option<Millis>,
    /// The number of warnings sent that the token expires before scheduled posts.
    pub warned: i32,
    /// The former credentials, until they are revoked on the platform.
    pub revoking_id: Option<SecretId>,
    /// The time at which a worker must process the account.
    pub due_at: Option<Millis>,
    /// Increased by every claim, finish and change of credentials.
    pub fencing_token: i64,
    /// The number of consecutive failed refreshes.
    pub attempts: i32,
    /// The number of consecutive leases that expired without a result.
    pub lease_expirations: i32,
    /// The user who last connected it.
    pub connected_by: UserId,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
