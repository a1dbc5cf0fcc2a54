//! The encrypted data of a connect session: the flow state, and later the accounts that were granted.

use std::collections::BTreeMap;

use fanfare_core::{
    Domain,
    error::{Error, Result},
    token,
};
use fanfare_entities::{SecretId, connect_session};
use fanfare_platforms::{Identity, Secrets};
use sea_orm::ConnectionTrait;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// Name of the table, to which secrets are bound.
const TABLE: &str = "connect_sessions";

/// The state of an authorization in progress. Has no `Debug`.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct FlowState {
    /// The `state` parameter, which the network returns.
    pub state: String,
    /// The PKCE verifier.
    pub verifier: String,
    /// The user's answers, and our app on the server.
    pub answers: BTreeMap<String, String>,
}

impl FlowState {
    /// Creates a new flow state.
    pub(super) fn new(answers: BTreeMap<String, String>) -> Self {
        use secrecy::ExposeSecret;
        let fresh = || token::generate().expose_secret().to_owned();
        Self { state: fresh(), verifier: fresh(), answers }
    }

    /// Returns the hash of the state, by which the session is found.
    pub(super) fn state_hash(&self) -> String {
        token::hash(&self.state)
    }

    pub(super) fn secrets(&self) -> Secrets {
        Secrets::from_pairs(self.answers.clone())
    }
}

/// An account that the user can choose, with its credentials. Has no `Debug`.
#[derive(Serialize, Deserialize)]
pub(super) struct GrantedAccount {
    remote_id: String,
    username: String,
    display_name: Option<String>,
    meta: Map<String, Value>,
    secrets: BTreeMap<String, String>,
    expires_at: Option<i64>,
}

impl From<&Identity> for GrantedAccount {
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

impl From<GrantedAccount> for Identity {
    fn from(reached: GrantedAccount) -> Self {
        Self {
            remote_id: reached.remote_id,
            username: reached.username,
            display_name: reached.display_name,
            meta: reached.meta,
            secrets: Secrets::from_pairs(reached.secrets),
            expires_at: reached.expires_at.map(fanfare_core::clock::date),
        }
    }
}

/// Stores a flow state or the granted accounts.
pub(super) async fn store<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    what: &impl Serialize,
) -> Result<SecretId> {
    let plain = serde_json::to_vec(what).map_err(Error::internal)?;
    cx.vault.store(conn, TABLE, &plain, cx.clock.now()).await
}

/// Loads them again.
pub(super) async fn load<T: DeserializeOwned>(
    cx: &Domain,
    row: &connect_session::Model,
) -> Result<Option<T>> {
    let Some(id) = row.secret_id else { return Ok(None) };
    let plain = cx.vault.open(&cx.db.write, TABLE, id).await?;
    let read = |plain: Vec<u8>| {
        serde_json::from_slice(&plain)
            .map_err(|_| Error::internal("the flow_state of a connect session cannot be read"))
    };
    plain.map(read).transpose()
}
