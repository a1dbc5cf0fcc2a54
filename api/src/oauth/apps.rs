//! The operations on a user's OAuth clients and grants.

use fanfare_core::{Code, Deleted, GrantId, Listed, Reply, Result};
use fanfare_people::oauth_provider::views::{self, ClientList, GrantList, OneClient};

use crate::{Call, call};

/// Lists the caller's clients.
pub async fn list_clients(call: Call) -> Result<Reply<Listed<ClientList>>> {
    views::clients(&call.act).await
}

/// Creates a client.
pub async fn create_client(mut call: Call) -> Result<Reply<OneClient>> {
    let new = call.body()?;
    views::create_client(&call.act, new).await
}

/// Changes a client.
pub async fn update_client(mut call: Call) -> Result<Reply<OneClient>> {
    let changes = call.body()?;
    views::update_client(&call.act, call.path("client_id"), changes).await
}

/// Deletes a client.
pub async fn delete_client(call: Call) -> Result<Reply<Deleted>> {
    views::delete_client(&call.act, call.path("client_id")).await
}

/// Lists the grants of the caller.
pub async fn list_grants(call: Call) -> Result<Reply<Listed<GrantList>>> {
    views::grants(&call.act).await
}

/// Revokes a grant.
pub async fn delete_grant(call: Call) -> Result<Reply<Deleted>> {
    let id = GrantId(call::parse(call.path("id"), Code::GrantNotFound)?);
    views::delete_grant(&call.act, id).await
}
