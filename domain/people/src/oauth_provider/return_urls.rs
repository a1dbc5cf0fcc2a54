//! The registered addresses of apps, for other pages that send people back.

use fanfare_core::{Domain, error::Result};
use fanfare_entities::{UserId, oauth_client};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::{Client, client, redirect_uri};

/// Fails with the reason if an address may not be registered.
pub fn check(address: &str) -> std::result::Result<(), String> {
    redirect_uri::check(address)
}

/// Returns true if an address is one of the registered ones.
pub fn is_registered(registered: &[String], asked: &str) -> bool {
    redirect_uri::is_registered(registered, asked)
}

/// Returns the name of a client.
///
/// # Errors
/// The database's.
pub async fn stored_client(cx: &Domain, client_id: &str) -> Result<Option<Client>> {
    Ok(client::find_stored(cx, client_id).await?.map(Client::of))
}

/// Returns the app of a user at which this address is registered.
///
/// # Errors
/// The database's.
pub async fn app_at(cx: &Domain, owner: UserId, address: &str) -> Result<Option<Client>> {
    let own = oauth_client::Entity::find().filter(oauth_client::Column::OwnerId.eq(owner));
    let own = own.all(&cx.db.read).await?;
    Ok(own.into_iter().map(Client::of).find(|app| app.allows_redirect_uri(address)))
}
