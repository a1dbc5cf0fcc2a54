//! OAuth clients: built in, created as apps, registered by themselves, or described by a document.

use fanfare_core::{Domain, access::Scope, error::Result, input::text};
use fanfare_entities::{oauth_client, oauth_client::ClientKind as Kind};
use sea_orm::EntityTrait;

use super::{
    document,
    redirect_uri::{is_loopback_http, is_registered},
    refusal::{OauthError, OauthRefusal, OauthResult},
    scopes,
};

/// The longest id of a client, in bytes.
const MAX_ID_BYTES: usize = 500;

/// The client id of this service's command line.
pub const CLI: &str = "app_fanfare_cli";

/// The way in which a client was registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientKind {
    /// It is part of this service.
    BuiltIn,
    /// A user created it as an app.
    App,
    /// It registered itself.
    Registered,
    /// Its id is the address of a document that describes it.
    Document,
}

/// An OAuth client.
#[derive(Debug, Clone)]
pub struct Client {
    /// Its id.
    pub id: String,
    /// Its name, which is not verified.
    pub name: String,
    /// The way in which it was registered.
    pub kind: ClientKind,
    /// The addresses that users may be sent back to.
    pub redirect_uris: Vec<String>,
    /// The scopes it asks for if a request names none.
    pub scopes: Vec<Scope>,
}

impl Client {
    /// Returns true if users may be sent back to this address.
    #[must_use]
    pub fn allows_redirect_uri(&self, redirect_uri: &str) -> bool {
        let is_own = self.kind == ClientKind::BuiltIn && is_loopback_http(redirect_uri);
        is_own || is_registered(&self.redirect_uris, redirect_uri)
    }

    fn built_in(cx: &Domain) -> Self {
        Self {
            id: CLI.to_owned(),
            name: "Fanfare command line".to_owned(),
            kind: ClientKind::BuiltIn,
            redirect_uris: vec![format!("{}/oauth/code", cx.settings.base_url)],
            scopes: Scope::ALL.to_vec(),
        }
    }

    pub(super) fn of(row: oauth_client::Model) -> Self {
        Self {
            kind: match row.kind {
                Kind::App => ClientKind::App,
                Kind::Registered => ClientKind::Registered,
                Kind::Document => ClientKind::Document,
            },
            redirect_uris: row.redirect_uris.lines().map(str::to_owned).collect(),
            scopes: scopes::parse_scopes(&row.scopes),
            id: row.client_id,
            name: row.name,
        }
    }
}

/// Returns the client that asks for access. If it is described by a document that is not fresh, the document is
/// fetched.
///
/// # Errors
/// The client is unknown, its document cannot be used, or too many documents were fetched for this address.
pub async fn find(cx: &Domain, client_id: &str, address: &str) -> OauthResult<Client> {
    if client_id == CLI {
        return Ok(Client::built_in(cx));
    }
    if document::is_address(client_id) {
        return document::client(cx, client_id, address).await.map(Client::of);
    }
    find_stored(cx, client_id).await?.map(Client::of).ok_or_else(unknown_client)
}

/// Fails if the client is unknown.
///
/// # Errors
/// [`OauthError::InvalidClient`], after which clients register again.
pub async fn require_known(cx: &Domain, client_id: &str) -> OauthResult<()> {
    let known = client_id == CLI || find_stored(cx, client_id).await?.is_some();
    if known { Ok(()) } else { Err(unknown_client()) }
}

pub(super) async fn find_stored(
    cx: &Domain,
    client_id: &str,
) -> Result<Option<oauth_client::Model>> {
    // PostgreSQL does not accept a parameter that contains U+0000.
    if client_id.len() > MAX_ID_BYTES || !text::is_clean(client_id) {
        return Ok(None);
    }
    Ok(oauth_client::Entity::find_by_id(client_id).one(&cx.db.read).await?)
}

fn unknown_client() -> OauthRefusal {
    let description = "There is no client with this id. Register it, or add the connection anew.";
    OauthRefusal::new(OauthError::InvalidClient, "client_id", description)
}
