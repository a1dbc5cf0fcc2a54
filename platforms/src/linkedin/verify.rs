//! The owner of a token, and the pages that the owner may post on.

use std::collections::BTreeMap;

use serde_json::{Map, json};

use super::client::{self, Acl, Target};
use crate::{Error, ErrorKind, Identity, Result, Session, analytics::is_forbidden, oauth};

/// The secret that holds the URN of an account that is an organization. The tokens are its administrator's.
const ORGANIZATION: &str = "organization";

/// The permissions that give the address of a member's page.
const PROFILE: [&str; 2] = ["r_liteprofile", "r_basicprofile"];

/// Roles that may post on a page.
const POSTING: [&str; 3] = ["ADMINISTRATOR", "CONTENT_ADMINISTRATOR", "CONTENT_ADMIN"];

/// Returns the member, or the organization that the secrets name.
pub(super) async fn verify(session: &Session) -> Result<Identity> {
    let organization = session.secrets.expose(ORGANIZATION);
    if organization.is_empty() {
        return member(session).await;
    }
    let found = organizations(session).await?;
    found.into_iter().find(|identity| identity.remote_id == organization).ok_or_else(|| {
        Error::invalid_credentials("The member is no administrator of this LinkedIn page.")
            .with_remedy("Ask for the role, or connect with another member's account.")
    })
}

/// Returns the member and the pages that the member may post on.
pub(super) async fn identities(session: &Session) -> Result<Vec<Identity>> {
    let mut all = vec![member(session).await?];
    match organizations(session).await {
        Ok(found) => all.extend(found),
        // The app did not request, or the member did not grant, the permission for pages.
        Err(error) if error.kind == ErrorKind::InvalidCredentials => {}
        Err(error) => return Err(error),
    }
    Ok(all)
}

async fn member(session: &Session) -> Result<Identity> {
    let member = client::userinfo(session).await.map_err(Error::while_connecting)?;
    let vanity =
        if reads_profile(session) { client::vanity_name(session).await.ok() } else { None };
    let name = member.name.filter(|name| !name.is_empty());
    let username = vanity.or_else(|| name.clone()).unwrap_or_else(|| member.sub.clone());
    let urn = format!("urn:li:person:{}", member.sub);
    Ok(identity(session, urn, username, name).with_picture_url(member.picture))
}

/// Returns true if the token has one of the permissions that the address of a member's page needs. New apps do not get
/// them (<https://learn.microsoft.com/linkedin/shared/references/v2/profile>).
fn reads_profile(session: &Session) -> bool {
    let granted = oauth::granted_permissions(&session.secrets);
    PROFILE.iter().any(|one| granted.contains(one))
}

async fn organizations(session: &Session) -> Result<Vec<Identity>> {
    let acls = client::acls(session).await.map_err(Error::while_connecting)?;
    let mut urns: Vec<&str> = Vec::new();
    for Acl { role, urn } in &acls {
        // A member may have several roles for one page.
        if POSTING.contains(&role.as_str()) && !urns.contains(&urn.as_str()) {
            urns.push(urn);
        }
    }
    let mut names = names(session, &urns).await?;
    let page = |urn: &&str| {
        let target = names.remove(*urn).unwrap_or_default();
        let name = target.localized_name;
        let username =
            target.vanity_name.or_else(|| name.clone()).unwrap_or_else(|| (*urn).to_owned());
        let mut page = identity(session, (*urn).to_owned(), username, name);
        page.secrets = page.secrets.with(ORGANIZATION, *urn);
        page
    };
    Ok(urns.iter().map(page).collect())
}

/// Returns the names of organizations. Not every role may read them, and a page is of use without its name.
async fn names(session: &Session, urns: &[&str]) -> Result<BTreeMap<String, Target>> {
    if urns.is_empty() {
        return Ok(BTreeMap::new());
    }
    match client::organizations(session, urns).await {
        Err(error) if is_forbidden(&error) => Ok(BTreeMap::new()),
        found => found.map_err(Error::while_connecting),
    }
}

fn identity(
    session: &Session,
    urn: String,
    username: String,
    display_name: Option<String>,
) -> Identity {
    let kind = if super::is_organization_urn(&urn) { "organization" } else { "person" };
    Identity {
        remote_id: urn,
        username,
        display_name,
        meta: Map::from_iter([("kind".to_owned(), json!(kind))]),
        secrets: session.secrets.clone(),
        expires_at: oauth::access_token_expiry(&session.secrets),
    }
}
