//! Reads the owner of the credentials.

use fanfare_outbound::Reply;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::{
    client::{Route, Site, site_address},
    error::parse_error,
};
use crate::{Error, ErrorKind, Identity, Result, Session, instance};

#[derive(Deserialize)]
struct User {
    id: u64,
    #[serde(default)]
    name: String,
    #[serde(default)]
    slug: String,
    #[serde(default)]
    capabilities: Map<String, Value>,
    /// Addresses of the picture by its width; a list or `false` if a site has none.
    #[serde(default)]
    avatar_urls: Value,
}

/// Detects the API's route and reads the user.
pub async fn verify(session: &Session) -> Result<Identity> {
    let address = site_address(session.secrets.expose("site_url"))?;
    let (user, route) = find_user(session, &address).await.map_err(Error::while_connecting)?;
    if user.capabilities.get("publish_posts").and_then(Value::as_bool) != Some(true) {
        return Err(Error::invalid_credentials("The user may not publish posts on this site.")
            .with_remedy("Give the user the role of an Author, Editor or Administrator."));
    }
    let site = address.as_str().trim_end_matches('/');
    let mut meta = Map::new();
    meta.insert("site_url".into(), json!(site));
    meta.insert("user_id".into(), json!(user.id));
    if route == Route::Query {
        meta.insert("rest_route".into(), json!(true));
    }
    let picture = user.avatar_urls["96"].as_str().map(str::to_owned);
    Ok(Identity {
        remote_id: format!("{}:{}", instance::host_and_path(&address), user.id),
        username: if user.slug.is_empty() { user.name.clone() } else { user.slug },
        display_name: (!user.name.is_empty()).then_some(user.name),
        meta,
        secrets: session.secrets.clone(),
        expires_at: None,
    }
    .with_picture_url(picture))
}

/// Tries the pretty address first; a site without pretty permalinks returns an HTML page or 404.
async fn find_user(session: &Session, address: &Url) -> Result<(User, Route)> {
    let reply = Site::at(session, address, Route::Path).me().await?;
    let elsewhere = reply.status == 404 || (reply.is_success() && !is_json(&reply));
    if !elsewhere {
        return Ok((user(session, &reply)?, Route::Path));
    }
    let reply = Site::at(session, address, Route::Query).me().await?;
    if reply.status == 404 || !is_json(&reply) {
        return Err(no_api(&reply));
    }
    Ok((user(session, &reply)?, Route::Query))
}

fn user(session: &Session, reply: &Reply) -> Result<User> {
    if !is_json(reply) && matches!(reply.status, 200..=299 | 403) {
        return Err(no_api(reply));
    }
    if reply.is_success() {
        return Ok(reply.json()?);
    }
    Err(parse_error(session, reply))
}

fn is_json(reply: &Reply) -> bool {
    reply.json::<serde::de::IgnoredAny>().is_ok()
}

fn no_api(reply: &Reply) -> Error {
    Error::new(ErrorKind::Unreachable, "The address does not answer like a WordPress REST API.")
        .with_remedy(
            "Check site_url, and that no security plugin or firewall blocks the REST API of the site.",
        )
        .with_reply(reply.status, None, None)
}
