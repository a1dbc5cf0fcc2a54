//! The operations on API keys.

use fanfare_core::{Code, Deleted, KeyId, Listed, Reply, Result};
use fanfare_people::keys::views::{self, KeyList, NewApiKey};

use crate::{Call, call};

/// Lists the caller's keys.
pub async fn list(call: Call) -> Result<Reply<Listed<KeyList>>> {
    views::list_keys(&call.act).await
}

/// Creates a key.
pub async fn create(mut call: Call) -> Result<Reply<NewApiKey>> {
    let (new, flaws) = call.readable_body()?;
    views::create_key(&call.act, &new, flaws).await
}

/// Revokes a key.
pub async fn delete(call: Call) -> Result<Reply<Deleted>> {
    let id = KeyId(call::parse(call.path("id"), Code::KeyNotFound)?);
    views::delete_key(&call.act, id).await
}
