//! What a session keeps encrypted: what the person took along, and later what the tokens reach.

use std::collections::BTreeMap;

use fanfare_entities::{SecretId, connect_session};
use fanfare_platforms::{Identity, Secrets};
use sea_orm::ConnectionTrait;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    Domain,
    error::{Error, Result},
    token,
};

/// Name of the table, as secrets are bound to it.
const TABLE: &str = "connect_sessions";

/// What the person took along to the network. Has no `Debug`.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Papers {
    /// What the network gives back.
    pub state: String,
    /// The verifier of PKCE.
    pub verifier: String,
    /// What the person was asked before, and the app registered for it.
    pub answers: BTreeMap<String, String>,
}

impl Papers {
    /// Fresh ones.
    pub(super) fn new(answers: BTreeMap<String, String>) -> Self {
        use secrecy::ExposeSecret;
        let fresh = || token::fresh().expose_secret().to_owned();
        Self { state: fresh(), verifier: fresh(), answers }
    }

    /// What is stored of the state, to find the session by.
    pub(super) fn state_hash(&self) -> String {
        token::hash(&self.state)
    }

    pub(super) fn secrets(&self) -> Secrets {
        Secrets::from_pairs(self.answers.clone())
    }
}

/// An account that can be chosen, with what it needs. Has no `Debug`.
#[derive(Serialize, Deserialize)]
pub(super) struct Reached {
    remote_id: String,
    username: String,
    display_name: Option<String>,
    meta: Map<String, Value>,
    secrets: BTreeMap<String, String>,
    expires_at: Option<i64>,
}

impl From<&Identity> for Reached {
    fn from(identity: &Identity) -> Self {
        Self {
            remote_id: identity.remote_id.clone(),
            username: identity.username.clone(),
            display_name: identity.display_name.clone(),
            meta: identity.meta.clone(),
            secrets: identity.secrets.to_pairs(),
            expires_at: identity.expires_at.map(|end| end.timestamp_millis()),
        }
    }
}

impl From<Reached> for Identity {
    fn from(reached: Reached) -> Self {
        Self {
            remote_id: reached.remote_id,
            username: reached.username,
            display_name: reached.display_name,
            meta: reached.meta,
            secrets: Secrets::from_pairs(reached.secrets),
            expires_at: reached.expires_at.map(crate::clock::date),
        }
    }
}

/// Stores papers or what was reached.
pub(super) async fn keep<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    what: &impl Serialize,
) -> Result<SecretId> {
    let plain = serde_json::to_vec(what).map_err(Error::internal)?;
    cx.vault.store(conn, TABLE, &plain, cx.clock.now()).await
}

/// Reads them back.
pub(super) async fn open<T: DeserializeOwned>(
    cx: &Domain,
    row: &connect_session::Model,
) -> Result<Option<T>> {
    let Some(id) = row.secret_id else { return Ok(None) };
    let plain = cx.vault.open(&cx.db.write, TABLE, id).await?;
    let read = |plain: Vec<u8>| {
        serde_json::from_slice(&plain)
            .map_err(|_| Error::internal("the papers of a connect session cannot be read"))
    };
    plain.map(read).transpose()
}
