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
    /// Used until then; null: the newest.
    pub expires_at: Option<Millis>,
    /// The time at which it was made.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
