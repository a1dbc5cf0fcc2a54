//! Table `connect_sessions`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{BrandId, ConnectSessionId, Millis, SecretId, UserId, WorkspaceId};

/// The progress of a connect session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, JsonSchema)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(24))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum ConnectStatus {
    /// The link was made.
    Created,
    /// A person who may connect accounts has opened it.
    Opened,
    /// The person is at the network.
    AwaitingProvider,
    /// The person fills in credentials.
    AwaitingCredentials,
    /// Done.
    Connected,
    /// The account could not be connected.
    Failed,
    /// The person did not want to.
    Cancelled,
    /// The session was not finished in time.
    Expired,
}

/// A connection that a person is making in a browser.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "connect_sessions")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: ConnectSessionId,
    /// The workspace of the account.
    pub workspace_id: WorkspaceId,
    /// Brand of a newly connected account.
    pub brand_id: Option<BrandId>,
    /// The user who created it.
    pub user_id: UserId,
    /// Platform identifier.
    pub platform: String,
    /// On the simulated network.
    pub sandbox: bool,
    /// The page goes on to the network by itself.
    pub auto_start: bool,
    /// Its progress.
    pub status: ConnectStatus,
    /// One sentence for people beside the status.
    pub note: Option<String>,
    /// The reason it failed, a code of the catalogue.
    pub error_code: Option<String>,
    /// The user whose browser went to the network.
    pub opened_by: Option<UserId>,
    /// SHA-256 of the state that the network gives back.
    pub state_hash: Option<String>,
    /// State, verifier and answers; later what the tokens reach.
    pub secret_id: Option<SecretId>,
    /// The time at which the network's code was taken to be exchanged.
    pub taken_at: Option<Millis>,
    /// The accounts to choose from, without secrets.
    pub choices: Option<Json>,
    /// The accounts that it connected.
    pub account_ids: Json,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
    /// The time at which it ends by itself.
    pub expires_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
