//! Reads the owner of a token, and selects the publication.

use serde_json::{Map, json};

use super::client::{self, Publication};
use crate::{Error, Identity, Result, Session};

/// Finds the user and the publication.
pub async fn verify(session: &Session) -> Result<Identity> {
    let user = client::me(session).await.map_err(Error::while_connecting)?;
    let all = user.publications.edges.into_iter().map(|edge| edge.node).collect();
    let publication = chosen(session.secrets.expose("publication_id").trim(), all)?;
    let meta = Map::from_iter([
        ("publication_id".to_owned(), json!(publication.id)),
        ("publication".to_owned(), json!(publication.title)),
    ]);
    Ok(Identity {
        remote_id: format!("{}:{}", user.id, publication.id),
        username: user.username,
        display_name: user.name.filter(|name| !name.is_empty()),
        meta,
        secrets: session.secrets.clone(),
        expires_at: None,
    }
    .with_picture_url(user.profile_picture))
}

/// Returns the named publication, or the only one.
fn chosen(named: &str, mut all: Vec<Publication>) -> Result<Publication> {
    if !named.is_empty() {
        let found = all.into_iter().find(|one| one.id == named);
        return found.ok_or_else(|| {
            Error::invalid_credentials("The user has no publication with this publication_id.")
                .with_remedy("Copy the id from the address of the publication's dashboard.")
        });
    }
    match (all.len(), all.pop()) {
        (1, Some(only)) => Ok(only),
        (_, None) => Err(Error::invalid_credentials("The user has no publication on Hashnode.")
            .with_remedy("Make a publication first, then connect again.")),
        (_, Some(last)) => {
            all.push(last);
            let list = all.iter().map(|one| format!("{} ({})", one.id, one.title));
            let list = list.collect::<Vec<_>>().join(", ");
            Err(Error::invalid_credentials("The user has several publications.")
                .with_remedy(format!("Name one in publication_id: {list}.")))
        }
    }
}
