//! The pages that a user's token gives access to, and the permissions that the user granted.

use fanfare_outbound::Reply;
use serde::Deserialize;

use super::{List, get, list};
use crate::{ConnectSpec, Error, Result, Session, Spec};

/// The fields that are requested of each page.
const FIELDS: &str = "id,name,picture{url},access_token,instagram_business_account{id,username,name,profile_picture_url}";

/// The most responses of one list that are read; each holds up to a hundred pages.
const ANSWERS_MAX: usize = 10;

/// The most businesses whose pages are read.
const BUSINESSES_MAX: usize = 10;

/// A page with its token.
#[derive(Debug, Deserialize)]
pub struct FacebookPage {
    /// Its id.
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    access_token: Token,
    /// The professional Instagram account that is linked to it.
    pub instagram_business_account: Option<IgUser>,
    picture: Option<Picture>,
}

impl FacebookPage {
    /// Returns the address of its picture.
    pub fn picture(&self) -> Option<String> {
        self.picture.as_ref()?.data.url.clone()
    }

    /// Returns the page's token; empty if none was given.
    pub fn token(&self) -> &str {
        &self.access_token.0
    }
}

/// A professional Instagram account.
#[derive(Debug, Deserialize)]
pub struct IgUser {
    /// Its id.
    pub id: String,
    /// Its username.
    #[serde(default)]
    pub username: String,
    /// Its name.
    pub name: Option<String>,
    /// Returns the address of its picture.
    pub profile_picture_url: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Picture {
    data: Address,
}

#[derive(Debug, Deserialize)]
struct Address {
    url: Option<String>,
}

/// A token. `Debug` does not print it.
#[derive(Default, Deserialize)]
struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

#[derive(Deserialize)]
struct Business {
    id: String,
}

#[derive(Deserialize)]
struct Permission {
    permission: String,
    status: String,
}

/// Returns the page that the session's token belongs to.
pub async fn page_of_token(session: &Session, parse: fn(&Reply) -> Error) -> Result<FacebookPage> {
    let fields =
        "id,name,picture{url},instagram_business_account{id,username,name,profile_picture_url}";
    get(session, "/me", &[("fields", fields)], parse).await
}

/// Returns all pages that the user's token gives access to. The user's own list may lack pages of businesses, so these
/// are read too; a user without businesses, or without that permission, has none.
pub async fn pages(session: &Session, parse: fn(&Reply) -> Error) -> Result<Vec<FacebookPage>> {
    let mut found = list_pages(session, "/me/accounts", parse).await?;
    let businesses = get::<List<Business>>(session, "/me/businesses", &[("fields", "id")], parse);
    let businesses = businesses.await.map(|list| list.data).unwrap_or_default();
    for business in businesses.iter().take(BUSINESSES_MAX) {
        for edge in ["owned_pages", "client_pages"] {
            let path = format!("/{}/{edge}", business.id);
            found.extend(list_pages(session, &path, parse).await.unwrap_or_default());
        }
    }
    let mut known = std::collections::BTreeSet::new();
    found.retain(|page| !page.token().is_empty() && known.insert(page.id.clone()));
    Ok(found)
}

async fn list_pages(
    session: &Session,
    path: &str,
    parse: fn(&Reply) -> Error,
) -> Result<Vec<FacebookPage>> {
    let (mut found, mut after) = (Vec::new(), None);
    for _ in 0..ANSWERS_MAX {
        let page = list(session, path, FIELDS, after.as_deref(), parse).await?;
        found.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(found)
}

/// Fails if the user did not grant a required permission.
pub async fn require_permissions(
    session: &Session,
    spec: &Spec,
    parse: fn(&Reply) -> Error,
) -> Result<()> {
    let ConnectSpec::Oauth(oauth) = spec.connect else { return Ok(()) };
    let answer: List<Permission> = get(session, "/me/permissions", &[], parse).await?;
    let is_granted = |name: &str| {
        answer.data.iter().any(|one| one.permission == name && one.status == "granted")
    };
    let missing = oauth.permissions.iter().find(|one| one.required && !is_granted(one.name));
    missing.map_or(Ok(()), |one| {
        Err(Error::invalid_credentials(format!("The permission {} was kept back.", one.name))
            .with_remedy("Connect again and leave every permission switched on."))
    })
}
