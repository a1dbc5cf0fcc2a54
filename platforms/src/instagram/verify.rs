//! The Instagram account that a page's token belongs to, and the accounts that a user's token gives access to.

use serde_json::{Map, json};

use super::{SPEC, check::BUSINESS_ID, error::parse_error};
use crate::{
    Error, Identity, Result, Secrets, Session,
    graph::{self, FacebookPage, IgUser},
    oauth::{self, ACCESS_TOKEN},
};

/// Reads the account that the token's page is linked to.
pub(super) async fn verify(session: &Session) -> Result<Identity> {
    let page = graph::page_of_token(session, parse_error).await.map_err(Error::while_connecting)?;
    let account = page.instagram_business_account.as_ref().ok_or_else(none)?;
    let expires_at = oauth::access_token_expiry(&session.secrets);
    Ok(Identity { expires_at, ..identity(&page, account, session.secrets.clone()) })
}

/// Returns the accounts to choose from, at most one per page. Each has its page's token, which does not expire.
pub(super) async fn identities(session: &Session) -> Result<Vec<Identity>> {
    graph::require_permissions(session, &SPEC, parse_error)
        .await
        .map_err(Error::while_connecting)?;
    let pages = graph::pages(session, parse_error).await.map_err(Error::while_connecting)?;
    let linked = pages.iter().filter_map(|page| {
        let secrets = Secrets::new().with(ACCESS_TOKEN, page.token());
        Some(identity(page, page.instagram_business_account.as_ref()?, secrets))
    });
    let found: Vec<_> = linked.collect();
    if found.is_empty() { Err(none()) } else { Ok(found) }
}

fn none() -> Error {
    Error::invalid_credentials("No professional Instagram account is linked to the page.")
        .with_remedy(
            "Make the Instagram account a business or creator account, link it to a Facebook page, and connect again.",
        )
}

fn identity(page: &FacebookPage, account: &IgUser, secrets: Secrets) -> Identity {
    let meta = [(BUSINESS_ID, &account.id), ("page_id", &page.id)];
    let meta = meta.map(|(name, value)| (name.to_owned(), json!(value)));
    Identity {
        remote_id: account.id.clone(),
        username: account.username.clone(),
        display_name: account.name.clone(),
        meta: Map::from_iter(meta),
        secrets,
        expires_at: None,
    }
    .with_picture_url(account.profile_picture_url.clone())
}
