//! Probes: sealed words in the database, by which a process sees at its start that it can open what is stored.
//!
//! There is one for each master key that a process ever started with. A process opens all of them and then leaves one of
//! its own, so that one with a wrong key, and one that lacks a key that others already seal with, does not start.

use fanfare_entities::{Millis, SecretId, secret};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, sea_query::OnConflict,
};
use uuid::Uuid;

use super::Vault;
use crate::{
    db::Db,
    error::{Error, Result},
};

/// The table that the probes name as their owner.
pub(super) const OWNER: &str = "probes";

/// The sealed word.
const WORD: &[u8] = b"fanfare";

/// Ids up to this one are of probes; those of other secrets begin with a time.
const LAST: Uuid = Uuid::from_u128((1 << 64) - 1);

/// Why a process cannot open what is stored.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// A master key is missing.
    #[error(
        "FANFARE_MASTER_KEY does not open what is stored here: the database holds secrets of the master key {missing}, \
         and this process has {given}. Give every process the key that the database was used with; a former key belongs \
         into FANFARE_MASTER_KEY_OLD until `fanfare admin rewrap` has run"
    )]
    WrongKey {
        /// The id of the key that is missing.
        missing: String,
        /// The ids of those that the process has.
        given: String,
    },
    /// A probe was altered.
    #[error(
        "a secret in the database is not what was stored, though its master key is known; restore a backup"
    )]
    Altered,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] Error),
}

impl Vault {
    /// Checks that this process can open what is stored, and leaves a probe for the next ones.
    ///
    /// # Errors
    /// It cannot.
    pub async fn prove(&self, db: &Db, now: Millis) -> Result<(), ProbeError> {
        self.check(db).await?;
        let current = &self.keys[0].id;
        let id = SecretId(probe_id(current));
        let (wrapped_key, sealed) = self.seal(OWNER, id, WORD)?;
        let row = secret::ActiveModel {
            id: Set(id),
            owner_table: Set(OWNER.to_owned()),
            key_id: Set(current.clone()),
            wrapped_key: Set(wrapped_key),
            sealed: Set(sealed),
            created_at: Set(now),
        };
        let once = OnConflict::column(secret::Column::Id).do_nothing().to_owned();
        let insert = secret::Entity::insert(row).on_conflict(once);
        insert.exec_without_returning(&db.write).await.map_err(Error::from)?;
        Ok(())
    }

    /// Checks that this process can open what is stored, and changes nothing.
    ///
    /// # Errors
    /// It cannot.
    pub async fn check(&self, db: &Db) -> Result<(), ProbeError> {
        let probes = secret::Entity::find().filter(secret::Column::Id.lte(LAST));
        let mut rows = probes.all(&db.write).await.map_err(Error::from)?;
        if rows.is_empty() {
            // A database of an earlier version: its newest secret stands for all.
            let newest = secret::Entity::find().order_by_desc(secret::Column::Id);
            rows.extend(newest.one(&db.write).await.map_err(Error::from)?);
        }
        rows.iter().try_for_each(|row| self.check_row(row))
    }

    fn check_row(&self, row: &secret::Model) -> Result<(), ProbeError> {
        let given: Vec<_> = self.keys.iter().map(|key| key.id.as_str()).collect();
        if !given.contains(&row.key_id.as_str()) {
            let given = given.join(", ");
            return Err(ProbeError::WrongKey { missing: row.key_id.clone(), given });
        }
        self.unseal(&row.owner_table, row).map(drop).map_err(|_| ProbeError::Altered)
    }
}

/// Returns the id of the probe of a master key, by the key's id.
fn probe_id(key_id: &str) -> Uuid {
    let number = u32::from_str_radix(key_id, 16).unwrap_or_default();
    Uuid::from_u128((1 << 32) | u128::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_have_ids_of_their_own_below_those_of_secrets() {
        assert_ne!(probe_id("00000000"), probe_id("ffffffff"));
        for id in ["00000000", "ffffffff"] {
            assert!(probe_id(id) > Uuid::nil() && probe_id(id) <= LAST);
        }
        assert!(SecretId::fresh().0 > LAST);
    }
}
