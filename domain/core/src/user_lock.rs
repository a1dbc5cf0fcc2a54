//! Locks a user, so that payments, keys, apps, passwords, links and log-ins are changed one at a time.

use fanfare_entities::{UserId, user};
use sea_orm::{DatabaseTransaction, EntityTrait, QuerySelect};

use crate::error::{Error, Result};

/// Locks a user until the transaction ends, so that two processes do not make conflicting changes.
pub async fn lock(tx: &DatabaseTransaction, person: UserId) -> Result<user::Model> {
    let row = user::Entity::find_by_id(person).lock_exclusive().one(tx).await?;
    row.ok_or_else(|| Error::internal("a person is gone"))
}
