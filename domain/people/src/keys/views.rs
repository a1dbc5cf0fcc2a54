//! Keys as replies show them.

use fanfare_core::{
    Act, Deleted, Reply,
    access::Scope,
    audit_trail::Author,
    clock::Time,
    error::{Result, Violations},
    page::Listed,
};
use fanfare_entities::{BrandId, KeyId, WorkspaceId};
use schemars::JsonSchema;
use secrecy::ExposeSecret;
use serde::Serialize;

use super::{
    KeyCreator, KeyRequest, KeySummary, create_by_user, list, manage::allowance, revoke_by_id,
};
use crate::room::Room;

/// An API key, without its secret part.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApiKey {
    id: KeyId,
    /// Name for people.
    name: String,
    /// Its first characters.
    prefix: String,
    /// The scopes.
    scopes: Vec<&'static str>,
    /// The only workspace that it can reach, if any.
    workspace_id: Option<WorkspaceId>,
    /// The only brand that it can reach there, if any.
    workspace_client_id: Option<BrandId>,
    created_at: Time,
    /// The time at which it was last used, to the minute.
    last_used_at: Option<Time>,
    /// The time at which it expires, if it does.
    expires_at: Option<Time>,
}

/// The keys of a user.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct KeyList {
    keys: Vec<ApiKey>,
    /// How many keys the person has, and how many the plan allows; null for a key that is bound to a workspace.
    room: Option<Room>,
}

/// A new key.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct NewApiKey {
    /// The key itself. It is shown once and not stored.
    key: String,
    api_key: ApiKey,
}

impl From<KeySummary> for ApiKey {
    fn from(key: KeySummary) -> Self {
        Self {
            id: key.id,
            name: key.name,
            prefix: key.prefix,
            scopes: key.scopes.split(' ').filter_map(Scope::named).map(Scope::as_str).collect(),
            workspace_id: key.workspace_id,
            workspace_client_id: key.brand_id,
            created_at: Time(key.created_at),
            last_used_at: key.last_used_at.map(Time),
            expires_at: key.expires_at.map(Time),
        }
    }
}

/// Lists the caller's keys; for a key of one workspace, only those of that workspace.
///
/// # Errors
/// The database's.
pub async fn list_keys(act: &Act) -> Result<Reply<Listed<KeyList>>> {
    let (cx, caller) = (&act.cx, &act.caller);
    let mut keys = list(cx, caller.user_id).await?;
    let room = match caller.key_workspace {
        Some(own) => {
            keys.retain(|key| key.workspace_id == Some(own));
            None
        }
        None => {
            let (_, allowed) = allowance(cx, &cx.db.read, caller.user_id).await?;
            Some(Room { used: keys.len() as u64, max: allowed.into() })
        }
    };
    if caller.key_brand.is_some() {
        keys.retain(|key| key.brand_id == caller.key_brand);
    }
    let keys: Vec<_> = keys.into_iter().map(Into::into).collect();
    Ok(Reply::ok(&Listed::whole(keys.is_empty(), KeyList { keys, room })))
}

/// Creates a key for the caller; `flaws` are what is wrong with the rest of the request.
///
/// # Errors
/// The errors of [`super::create_by_user`].
pub async fn create_key(
    act: &Act,
    new: &KeyRequest,
    flaws: Violations,
) -> Result<Reply<NewApiKey>> {
    let caller = &act.caller;
    let maker = KeyCreator {
        user_id: caller.user_id,
        author: Author::of(act),
        scopes: caller.scopes.clone(),
        within: caller.key_workspace,
        brand: caller.key_brand,
        until: caller.expires_at,
    };
    let mut tx = act.begin().await?;
    let (key, listed) = create_by_user(&mut tx, &maker, new, flaws).await?;
    let made = NewApiKey { key: key.expose_secret().to_owned(), api_key: listed.into() };
    act.finish(tx, Reply::ok(&made).with_status(201).secret()).await
}

/// Revokes a key of the caller.
///
/// # Errors
/// [`fanfare_core::Code::KeyNotFound`].
pub async fn delete_key(act: &Act, id: KeyId) -> Result<Reply<Deleted>> {
    let (tx, caller) = (act.begin().await?, &act.caller);
    let within = (caller.key_workspace, caller.key_brand);
    revoke_by_id(&tx, &Author::of(act), caller.user_id, within, id).await?;
    act.finish(tx, Reply::ok(&Deleted::uuid(id.0))).await
}
