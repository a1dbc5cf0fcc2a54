//! One change at a time of what a person has: payments, keys, apps, passwords, links and log-ins.

use fanfare_entities::{UserId, user};
use sea_orm::{DatabaseTransaction, EntityTrait, QuerySelect};

use crate::error::{Error, Result};

/// Locks a person until the transaction ends, so that two processes do not decide beside one another.
pub(crate) async fn lock(tx: &DatabaseTransaction, person: UserId) -> Result<user::Model> {
    let row = user::Entity::find_by_id(person).lock_exclusive().one(tx).await?;
    row.ok_or_else(|| Error::internal("a person is gone"))
}
