//! The locations that a user's token gives access to.

use serde_json::{Map, Value, json};

use super::{CAN_POST, client};
use crate::{Error, Identity, Result, Session, oauth};

/// The secret that holds the full name of the account's location, `accounts/{a}/locations/{l}`. The tokens are the
/// manager's.
const LOCATION: &str = "location";

/// Returns the location of the session.
pub(super) fn location(session: &Session) -> Result<String> {
    session.secrets.require(LOCATION)?;
    Ok(session.secrets.expose(LOCATION).to_owned())
}

/// Returns the location that the secrets name, or the only one.
pub(super) async fn verify(session: &Session) -> Result<Identity> {
    let named = session.secrets.expose(LOCATION).rsplit('/').next().unwrap_or_default();
    let mut found = identities(session).await?;
    // The location may belong to a different account than before.
    if !named.is_empty() {
        found.retain(|identity| identity.remote_id == named);
    }
    found.into_iter().next().ok_or_else(|| {
        Error::invalid_credentials("The Google account manages no such location.")
            .with_remedy("Ask to be made a manager of it, or connect with another Google account.")
    })
}

/// Returns all locations that the user manages. One that belongs to several accounts is listed once.
pub(super) async fn identities(session: &Session) -> Result<Vec<Identity>> {
    let mut found: Vec<Identity> = Vec::new();
    for account in client::accounts(session).await.map_err(Error::while_connecting)? {
        let listed = client::locations(session, &account).await;
        for location in listed.map_err(Error::while_connecting)? {
            if found.iter().all(|known| known.remote_id != location.id()) {
                found.push(identity(session, &account, &location));
            }
        }
    }
    if found.is_empty() {
        return Err(Error::invalid_credentials("The Google account manages no location.")
            .with_remedy(
                "Add the business at business.google.com, or use another Google account.",
            ));
    }
    Ok(found)
}

/// Returns whether Google shows what the location says of itself; `None` if that cannot be read.
pub(super) async fn is_shown(session: &Session) -> Option<bool> {
    let named = location(session).ok()?;
    let (account, _) = named.split_once("/locations/")?;
    let listed = client::locations(session, account).await.ok()?;
    let found = listed.iter().find(|one| one.id() == session.account.remote_id)?;
    found.metadata.has_voice_of_merchant
}

fn identity(session: &Session, account: &str, location: &client::Location) -> Identity {
    let (id, address) = (location.id(), location.storefront_address.line());
    let title = Some(location.title.clone()).filter(|title| !title.is_empty());
    let name = title.unwrap_or_else(|| id.to_owned());
    let shown = if address.is_empty() { name.clone() } else { format!("{name}, {address}") };
    let known = &location.metadata;
    let facts = [
        (CAN_POST, known.can_operate_local_post.map(Value::Bool)),
        ("place_id", known.place_id.as_ref().map(|id| json!(id))),
        ("maps_uri", known.maps_uri.as_ref().map(|uri| json!(uri))),
        ("new_review_uri", known.new_review_uri.as_ref().map(|uri| json!(uri))),
    ];
    let meta = facts.into_iter().filter_map(|(name, fact)| Some((name.to_owned(), fact?)));
    Identity {
        remote_id: id.to_owned(),
        username: name,
        display_name: Some(shown),
        meta: meta.collect::<Map<_, _>>(),
        secrets: session.secrets.clone().with(LOCATION, format!("{account}/locations/{id}")),
        expires_at: oauth::access_token_expiry(&session.secrets),
    }
}
