//! The page that a token belongs to, and the pages that a user's token gives access to.

use serde_json::Map;

use super::{SPEC, error::parse_error};
use crate::{
    Error, Identity, Result, Secrets, Session,
    graph::{self, FacebookPage},
    oauth::{self, ACCESS_TOKEN},
};

/// Reads the page that the token belongs to.
pub(super) async fn verify(session: &Session) -> Result<Identity> {
    let page = graph::page_of_token(session, parse_error).await.map_err(Error::while_connecting)?;
    let expires_at = oauth::access_token_expiry(&session.secrets);
    Ok(Identity { expires_at, ..identity(&page, session.secrets.clone()) })
}

/// Returns the pages to choose from; each has its own token, which does not expire.
pub(super) async fn identities(session: &Session) -> Result<Vec<Identity>> {
    graph::require_permissions(session, &SPEC, parse_error)
        .await
        .map_err(Error::while_connecting)?;
    let pages = graph::pages(session, parse_error).await.map_err(Error::while_connecting)?;
    if pages.is_empty() {
        return Err(Error::invalid_credentials(
            "This person runs no Facebook page, or chose none.",
        )
        .with_remedy("Connect again and tick the pages that are to be posted on."));
    }
    let own = |page: &FacebookPage| Secrets::new().with(ACCESS_TOKEN, page.token());
    Ok(pages.iter().map(|page| identity(page, own(page))).collect())
}

fn identity(page: &FacebookPage, secrets: Secrets) -> Identity {
    Identity {
        remote_id: page.id.clone(),
        username: page.name.clone(),
        display_name: Some(page.name.clone()),
        meta: Map::new(),
        secrets,
        expires_at: None,
    }
    .with_picture_url(page.picture())
}
