//! Table `webhook_secrets`.

use sea_orm::entity::prelude::*;

use crate::{Millis, SecretId, WebhookId};

/// A signing secret of a webhook.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "webhook_secrets")]
pub struct Model {
    /// The webhook.
    #[sea_orm(primary_key, auto_increment = false)]
    pub webhook_id: WebhookId,
    /// The encrypted secret.
    #[sea_orm(primary_key, auto_increment = false)]
    pub secret_id: SecretId,
    /// The time until which it is used. Null for the newest secret.
    pub expires_at: Option<Millis>,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
