//! Clients that register themselves (RFC 7591).

use fanfare_core::{
    Domain,
    access::Scope,
    limits::{self, Bucket},
};
use fanfare_entities::{Millis, oauth_client, oauth_client::ClientKind};
use sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use serde::Deserialize;

use super::{
    document::plain_name,
    redirect_uri,
    refusal::{OauthError, OauthFlaw, OauthResult},
    scopes,
};
use crate::keys::random;

const GRANTS: [&str; 2] = ["authorization_code", "refresh_token"];

/// The most bytes of all redirect URIs of a client: strangers register clients, and each is kept for days.
const MAX_URI_BYTES: usize = 4_096;

/// The name of a client that does not send one.
const DEFAULT_NAME: &str = "Unnamed client";

/// A client's registration request. Other fields are ignored, as RFC 7591 section 2 demands.
#[derive(Debug, Default, Deserialize)]
pub struct ClientRegistration {
    /// Its name.
    #[serde(default)]
    pub client_name: Option<String>,
    /// The addresses that users are sent back to.
    #[serde(default)]
    pub redirect_uris: Option<Vec<String>>,
    /// The grant types it wants to use.
    #[serde(default)]
    pub grant_types: Option<Vec<String>>,
    /// The response types it wants to use.
    #[serde(default)]
    pub response_types: Option<Vec<String>>,
    /// The scopes it will ask for.
    #[serde(default)]
    pub scope: Option<String>,
    /// `web` or `native`.
    #[serde(default)]
    pub application_type: Option<String>,
}

/// A client that has just been registered.
#[derive(Debug)]
pub struct RegisteredClient {
    /// Its id.
    pub client_id: String,
    /// The time at which it was registered.
    pub issued_at: Millis,
    /// Its name.
    pub client_name: String,
    /// The addresses that users are sent back to.
    pub redirect_uris: Vec<String>,
    /// The grant types it may use.
    pub grant_types: Vec<&'static str>,
    /// The scopes it asks for if a request names none.
    pub scopes: Vec<Scope>,
    /// `web` or `native`, if it said so.
    pub application_type: Option<String>,
}

/// Registers a client.
///
/// # Errors
/// [`OauthError::InvalidRedirectUri`] or [`OauthError::InvalidClientMetadata`], or too many clients were registered
/// from this address.
pub async fn register(
    cx: &Domain,
    asked: ClientRegistration,
    address: &str,
) -> OauthResult<RegisteredClient> {
    let redirect_uris = redirect_uris(asked.redirect_uris.unwrap_or_default())?;
    let client_name = client_name(asked.client_name.as_deref())?;
    let grant_types = grant_types(asked.grant_types.as_deref())?;
    response_types(asked.response_types.as_deref())?;
    let scopes = scopes::requested_scopes(asked.scope.as_deref(), &Scope::default_set());
    if asked.application_type.as_deref().is_some_and(|kind| !["web", "native"].contains(&kind)) {
        return Err(
            invalid_metadata("application_type", "application_type is web or native.").into()
        );
    }
    let counted = [
        (Bucket::OauthRegisterHour, address),
        (Bucket::OauthRegisterDay, address),
        (Bucket::OauthRegisterAll, "all"),
    ];
    limits::admit_anonymous(cx, &counted).await?;
    let now = cx.clock.now();
    let row = oauth_client::Model {
        client_id: format!("dyn_{}", random(24)),
        kind: ClientKind::Registered,
        owner_id: None,
        name: client_name.clone(),
        redirect_uris: redirect_uris.join("\n"),
        scopes: scopes::join_scopes(&scopes),
        failure: None,
        fresh_until: None,
        created_at: now,
        updated_at: now,
    };
    let client_id = row.client_id.clone();
    let made = row.into_active_model().reset_all();
    oauth_client::Entity::insert(made).exec_without_returning(&cx.db.write).await?;
    let application_type = asked.application_type;
    Ok(RegisteredClient {
        client_id,
        issued_at: now,
        client_name,
        redirect_uris,
        grant_types,
        scopes,
        application_type,
    })
}

/// Checks the redirect URIs of a client.
pub(super) fn redirect_uris(uris: Vec<String>) -> Result<Vec<String>, OauthFlaw> {
    let flawed = |why: &str| OauthFlaw::new(OauthError::InvalidRedirectUri, "redirect_uris", why);
    if !(1..=10).contains(&uris.len()) {
        return Err(flawed("Send 1 to 10 redirect_uris."));
    }
    if uris.iter().map(String::len).sum::<usize>() > MAX_URI_BYTES {
        return Err(flawed("The redirect_uris have 4,096 characters together at most."));
    }
    uris.iter().try_for_each(|uri| redirect_uri::check(uri).map_err(|why| flawed(&why)))?;
    Ok(uris)
}

fn client_name(said: Option<&str>) -> Result<String, OauthFlaw> {
    let said = said.unwrap_or_default();
    if said.chars().count() > 100 {
        return Err(invalid_metadata("client_name", "client_name has at most 100 characters."));
    }
    let plain = plain_name(said);
    Ok(if plain.is_empty() { DEFAULT_NAME.to_owned() } else { plain })
}

/// Returns the supported ones of the requested grant types. They must include `authorization_code`, without which a
/// client could get no tokens.
fn grant_types(asked: Option<&[String]>) -> Result<Vec<&'static str>, OauthFlaw> {
    let Some(asked) = asked else { return Ok(GRANTS.to_vec()) };
    let granted: Vec<_> =
        GRANTS.into_iter().filter(|known| asked.iter().any(|asked| asked == known)).collect();
    if granted.contains(&GRANTS[0]) {
        return Ok(granted);
    }
    let description = "grant_types must contain authorization_code; refresh_token is known too.";
    Err(invalid_metadata("grant_types", description))
}

fn response_types(asked: Option<&[String]>) -> Result<(), OauthFlaw> {
    match asked {
        Some(asked) if !asked.iter().any(|asked| asked == "code") => {
            Err(invalid_metadata("response_types", "response_types must contain code."))
        }
        _ => Ok(()),
    }
}

fn invalid_metadata(parameter: &'static str, description: &str) -> OauthFlaw {
    OauthFlaw::new(OauthError::InvalidClientMetadata, parameter, description)
}
