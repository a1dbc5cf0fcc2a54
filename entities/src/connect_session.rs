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
    /// The link was created.
    Created,
    /// A person with the permission to connect accounts has opened it.
    Opened,
    /// The person is on the platform's page.
    AwaitingProvider,
    /// The person is entering credentials.
    AwaitingCredentials,
    /// The account is connected.
    Connected,
    /// The account could not be connected.
    Failed,
    /// The person cancelled.
    Cancelled,
    /// The session expired.
    Expired,
}

/// A connection that a person is making in a browser.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "connect_sessions")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: ConnectSessionId,
    /// The workspace of the account.
    pub workspace_id: WorkspaceId,
    /// The brand of a newly connected account.
    pub brand_id: Option<BrandId>,
    /// The user who created it.
    pub user_id: UserId,
    /// The platform identifier.
    pub platform: String,
    /// True for the simulated platform.
    pub sandbox: bool,
    /// True if the page continues to the platform automatically.
    pub auto_start: bool,
    /// The status.
    pub status: ConnectStatus,
    /// A sentence for the user that explains the status.
    pub note: Option<String>,
    /// The error code of the failure, from the error catalogue.
    pub error_code: Option<String>,
    /// The user whose browser was sent to the platform.
    pub opened_by: Option<UserId>,
    /// The SHA-256 hash of the state that the platform returns.
    pub state_hash: Option<String>,
    /// The encrypted state, verifier and answers, and later the accounts that the tokens can access.
    pub secret_id: Option<SecretId>,
    /// The time at which the authorization code was taken for exchange.
    pub taken_at: Option<Millis>,
    /// The accounts to choose from, without secrets.
    pub choices: Option<Json>,
    /// The connected accounts.
    pub account_ids: Json,
    /// The address that the person is sent back to at the end.
    pub return_url: Option<String>,
    /// The text by which the program that created it knows it.
    pub reference: Option<String>,
    /// The name of the program that the person comes from.
    pub app_name: Option<String>,
    /// True if the link needs no account of this service.
    pub guest: bool,
    /// The SHA-256 hash of the secret of the one browser that such a link was opened in.
    pub guest_hash: Option<String>,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
    /// The time at which it expires.
    pub expires_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
