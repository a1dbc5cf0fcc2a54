//! Apps and grants of a caller with a key.

use fanfare_domain::{
    Code, Deleted, GrantId, Reply, Result,
    oauth_provider::views::{self, ClientList, GrantList, OneClient},
};

use crate::{Call, call};

/// The caller's apps.
pub async fn list_clients(call: Call) -> Result<Reply<ClientList>> {
    views::clients(&call.act).await
}

/// Makes an app.
pub async fn create_client(mut call: Call) -> Result<Reply<OneClient>> {
    let new = call.body()?;
    views::create_client(&call.act, new).await
}

/// Changes an app.
pub async fn update_client(mut call: Call) -> Result<Reply<OneClient>> {
    let changes = call.body()?;
    views::update_client(&call.act, call.path("client_id"), changes).await
}

/// Deletes an app.
pub async fn delete_client(call: Call) -> Result<Reply<Deleted>> {
    views::delete_client(&call.act, call.path("client_id")).await
}

/// The tools that the caller has let in.
pub async fn list_grants(call: Call) -> Result<Reply<GrantList>> {
    views::grants(&call.act).await
}

/// Ends what the caller let a tool do.
pub async fn delete_grant(call: Call) -> Result<Reply<Deleted>> {
    let id = GrantId(call::parse(call.path("id"), Code::GrantNotFound)?);
    views::delete_grant(&call.act, id).await
}
