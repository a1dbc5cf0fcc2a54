//! Encrypted secrets in the database.
//!
//! Each secret is encrypted with a random data key of its own (XChaCha20-Poly1305), and that key with the master key.
//! The name of the table and the secret's random id are authenticated with both, so that a row that is copied elsewhere
//! cannot be decrypted there. Each row names its master key by the key's id, so that an old master key can still
//! decrypt what it encrypted.

mod probe;

use std::{collections::BTreeSet, fmt};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use fanfare_entities::{Millis, SecretId, secret};
use hmac::{Hmac, Mac};
use rand::Rng;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect,
};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{
    db::Db,
    error::{Error, Result},
};

pub use probe::ProbeError;

const NONCE: usize = 24;
const KEY: usize = 32;

/// The number of secrets that are read at once when all are encrypted again.
const BATCH: u64 = 500;

/// The master keys. Its `Debug` output does not contain them.
#[derive(Clone)]
pub struct Vault {
    /// The first key encrypts; all of them decrypt.
    keys: Vec<MasterKey>,
}

#[derive(Clone)]
struct MasterKey {
    id: String,
    cipher: XChaCha20Poly1305,
    /// The key for signatures, derived from the master key.
    signing: [u8; KEY],
}

/// The result of [`Vault::rewrap`].
#[derive(Debug, Default)]
pub struct RewrapResult {
    /// The number of secrets that were re-encrypted with the current key.
    pub changed: u64,
    /// The ids of the master keys that are missing to decrypt other secrets.
    pub missing: BTreeSet<String>,
}

/// The error for a text that is not a master key.
#[derive(Debug, thiserror::Error)]
#[error("a master key is 32 bytes in base64 (make one with: openssl rand -base64 32)")]
pub struct InvalidMasterKey;

impl Vault {
    /// Creates a vault that encrypts with `current` and also decrypts what the `old` keys encrypted; each is base64 of
    /// 32 bytes.
    ///
    /// # Errors
    /// A key is not valid.
    pub fn new(current: &str, old: &[String]) -> Result<Self, InvalidMasterKey> {
        let texts = std::iter::once(current).chain(old.iter().map(String::as_str));
        let keys = texts.map(MasterKey::parse).collect::<Result<_, _>>()?;
        Ok(Self { keys })
    }

    /// Generates a master key in base64.
    #[must_use]
    pub fn fresh_key() -> String {
        STANDARD.encode(random::<KEY>())
    }

    /// Encrypts `plain` and stores it for `table`.
    ///
    /// # Errors
    /// The database's.
    pub async fn store<C: ConnectionTrait>(
        &self,
        conn: &C,
        table: &str,
        plain: &[u8],
        now: Millis,
    ) -> Result<SecretId> {
        let id = SecretId::fresh();
        let (wrapped_key, sealed) = self.seal(table, id, plain)?;
        let row = secret::ActiveModel {
            id: Set(id),
            owner_table: Set(table.to_owned()),
            key_id: Set(self.keys[0].id.clone()),
            wrapped_key: Set(wrapped_key),
            sealed: Set(sealed),
            created_at: Set(now),
        };
        secret::Entity::insert(row).exec_without_returning(conn).await?;
        Ok(id)
    }

    /// Returns a secret that was stored for `table`, or `None` if it was deleted.
    ///
    /// # Errors
    /// The database's, or the secret was encrypted with a master key that is missing.
    pub async fn open<C: ConnectionTrait>(
        &self,
        conn: &C,
        table: &str,
        id: SecretId,
    ) -> Result<Option<Vec<u8>>> {
        let Some(row) = secret::Entity::find_by_id(id).one(conn).await? else { return Ok(None) };
        self.unseal(table, &row).map(Some)
    }

    /// Deletes a secret.
    ///
    /// # Errors
    /// The database's.
    pub async fn delete<C: ConnectionTrait>(&self, conn: &C, id: SecretId) -> Result<()> {
        secret::Entity::delete_by_id(id).exec(conn).await?;
        Ok(())
    }

    /// Encrypts the data keys of all secrets with the current master key; the encrypted secrets themselves do not
    /// change.
    ///
    /// # Errors
    /// The database's. It may be repeated.
    pub async fn rewrap(&self, db: &Db) -> Result<RewrapResult> {
        let (current, mut done) = (&self.keys[0].id, RewrapResult::default());
        let mut after = Uuid::nil();
        loop {
            let rows = secret::Entity::find()
                .filter(secret::Column::KeyId.ne(current.as_str()))
                .filter(secret::Column::Id.gt(after))
                .order_by_asc(secret::Column::Id)
                .limit(BATCH)
                .all(&db.read)
                .await?;
            let Some(last) = rows.last() else { return Ok(done) };
            after = last.id.0;
            for row in rows {
                let Some(old) = self.keys.iter().find(|key| key.id == row.key_id) else {
                    done.missing.insert(row.key_id);
                    continue;
                };
                let bound = associated_data(&row.owner_table, row.id);
                let data_key = decrypt(&old.cipher, &row.wrapped_key, &bound)?;
                let wrapped = encrypt(&self.keys[0].cipher, &data_key, &bound)?;
                let closed = secret::ActiveModel {
                    id: Set(row.id),
                    key_id: Set(current.clone()),
                    wrapped_key: Set(wrapped),
                    ..Default::default()
                };
                // A secret that was deleted meanwhile is skipped.
                let filter = secret::Column::KeyId.eq(row.key_id.as_str());
                let kept = secret::Entity::update_many()
                    .set(closed)
                    .filter(secret::Column::Id.eq(row.id))
                    .filter(filter)
                    .exec(&db.write)
                    .await?;
                if row.owner_table != probe::OWNER {
                    done.changed += kept.rows_affected;
                }
            }
        }
    }

    /// Signs a text with the current key. `purpose` separates signatures with different meanings.
    ///
    /// # Errors
    /// Never fails in practice, since HMAC takes keys of any length.
    pub fn sign(&self, purpose: &str, text: &str) -> Result<String> {
        Ok(URL_SAFE_NO_PAD.encode(self.keys[0].mac(purpose, text)?.finalize().into_bytes()))
    }

    /// Returns whether one of the keys signed a text, in constant time.
    ///
    /// # Errors
    /// As for [`Self::sign`].
    pub fn is_signed(&self, purpose: &str, text: &str, signature: &str) -> Result<bool> {
        let Ok(given) = URL_SAFE_NO_PAD.decode(signature) else { return Ok(false) };
        let mut is_signed = false;
        for key in &self.keys {
            is_signed |= key.mac(purpose, text)?.verify_slice(&given).is_ok();
        }
        Ok(is_signed)
    }

    fn seal(&self, table: &str, id: SecretId, plain: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
        let data_key = random::<KEY>();
        let bound = associated_data(table, id);
        let sealed = encrypt(&XChaCha20Poly1305::new(&data_key.into()), plain, &bound)?;
        let wrapped = encrypt(&self.keys[0].cipher, &data_key, &bound)?;
        Ok((wrapped, sealed))
    }

    /// Decrypts a row that was read already.
    ///
    /// # Errors
    /// It was encrypted with a master key that is missing, or it was altered.
    pub fn unseal(&self, table: &str, row: &secret::Model) -> Result<Vec<u8>> {
        let key = self.keys.iter().find(|key| key.id == row.key_id).ok_or_else(|| {
            Error::internal(format!(
                "a secret was encrypted with master key {}, which is neither FANFARE_MASTER_KEY nor in \
                 FANFARE_MASTER_KEY_OLD",
                row.key_id
            ))
        })?;
        let bound = associated_data(table, row.id);
        let data_key = decrypt(&key.cipher, &row.wrapped_key, &bound)?;
        let cipher = XChaCha20Poly1305::new_from_slice(&data_key)
            .map_err(|_| Error::internal("a wrapped key has the wrong length"))?;
        decrypt(&cipher, &row.sealed, &bound)
    }
}

impl MasterKey {
    fn parse(text: &str) -> Result<Self, InvalidMasterKey> {
        let bytes = STANDARD.decode(text.trim()).map_err(|_| InvalidMasterKey)?;
        let cipher = XChaCha20Poly1305::new_from_slice(&bytes).map_err(|_| InvalidMasterKey)?;
        let signing = Sha256::new_with_prefix(b"fanfare signatures\0").chain_update(&bytes);
        Ok(Self { id: key_id(&bytes), cipher, signing: signing.finalize().into() })
    }

    fn mac(&self, purpose: &str, text: &str) -> Result<Hmac<Sha256>> {
        let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.signing);
        Ok(mac.map_err(Error::internal)?.chain_update(purpose).chain_update([0]).chain_update(text))
    }
}

/// Returns the first 8 hex digits of the key's SHA-256.
fn key_id(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

fn associated_data(table: &str, id: SecretId) -> Vec<u8> {
    [table.as_bytes(), b"\0", id.0.as_bytes()].concat()
}

fn encrypt(cipher: &XChaCha20Poly1305, plain: &[u8], bound: &[u8]) -> Result<Vec<u8>> {
    let nonce = random::<NONCE>();
    let sealed = cipher
        .encrypt(&XNonce::from(nonce), Payload { msg: plain, aad: bound })
        .map_err(|_| Error::internal("a secret could not be encrypted"))?;
    Ok([nonce.as_slice(), &sealed].concat())
}

fn decrypt(cipher: &XChaCha20Poly1305, stored: &[u8], bound: &[u8]) -> Result<Vec<u8>> {
    let (nonce, sealed) = stored
        .split_first_chunk::<NONCE>()
        .ok_or_else(|| Error::internal("a stored secret is cut short"))?;
    cipher
        .decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: bound })
        .map_err(|_| Error::internal("a stored secret is not what was stored"))
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.keys.iter().map(|key| &key.id).collect();
        f.debug_struct("Vault").field("key_ids", &ids).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(vault: &Vault, table: &str, plain: &[u8]) -> secret::Model {
        let id = SecretId::fresh();
        let (wrapped_key, sealed) = vault.seal(table, id, plain).unwrap();
        let key_id = vault.keys[0].id.clone();
        secret::Model { id, owner_table: table.into(), key_id, wrapped_key, sealed, created_at: 0 }
    }

    #[test]
    fn opens_only_what_was_stored_where_it_was_stored() {
        let vault = Vault::new(&Vault::fresh_key(), &[]).unwrap();
        let stored = row(&vault, "accounts", b"hunter2");
        assert_eq!(vault.unseal("accounts", &stored).unwrap(), b"hunter2");
        assert!(vault.unseal("webhooks", &stored).is_err());
        let other_id = secret::Model { id: SecretId::fresh(), ..stored.clone() };
        assert!(vault.unseal("accounts", &other_id).is_err());
        let mut bent = stored;
        *bent.sealed.last_mut().unwrap() ^= 1;
        assert!(vault.unseal("accounts", &bent).is_err());
    }

    #[test]
    fn an_old_key_still_opens_after_a_rotation() {
        let (old, new) = (Vault::fresh_key(), Vault::fresh_key());
        let stored = row(&Vault::new(&old, &[]).unwrap(), "accounts", b"x");
        assert!(Vault::new(&new, &[]).unwrap().unseal("accounts", &stored).is_err());
        let rotated = Vault::new(&new, &[old]).unwrap();
        assert_eq!(rotated.unseal("accounts", &stored).unwrap(), b"x");
    }

    #[test]
    fn a_signature_holds_for_its_purpose_and_text_and_outlives_a_rotation() {
        let (old, new) = (Vault::fresh_key(), Vault::fresh_key());
        let before = Vault::new(&old, &[]).unwrap();
        let signed = before.sign("a", "text").unwrap();
        let rotated = Vault::new(&new, &[old]).unwrap();
        for vault in [&before, &rotated] {
            assert!(vault.is_signed("a", "text", &signed).unwrap());
            assert!(!vault.is_signed("b", "text", &signed).unwrap());
            assert!(!vault.is_signed("a", "texts", &signed).unwrap());
        }
        let other = Vault::new(&Vault::fresh_key(), &[]).unwrap();
        assert!(!other.is_signed("a", "text", &signed).unwrap());
        for bad in ["", "?", &signed[1..]] {
            assert!(!before.is_signed("a", "text", bad).unwrap());
        }
    }

    #[test]
    fn debug_shows_no_key_and_a_bad_key_is_refused() {
        let key = Vault::fresh_key();
        assert!(!format!("{:?}", Vault::new(&key, &[]).unwrap()).contains(&key));
        for bad in ["", "abc", "AAAA", "!!!!"] {
            assert!(Vault::new(bad, &[]).is_err());
        }
    }
}
