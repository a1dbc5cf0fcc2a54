//! Logging in, and staying logged in.

use serde_json::{Map, json};

use super::client::Instance;
use crate::{Error, ErrorKind, Identity, RefreshedTokens, Result, Session, instance};

/// Logs in with the credentials and reads the account.
pub async fn verify(session: &Session) -> Result<Identity> {
    let address = instance::normalized_url("instance_url", session.secrets.expose("instance_url"))?;
    let there = Instance::at(session, &address);
    let jwt = there.log_in().await.map_err(Error::while_connecting)?;
    let secrets = session.secrets.clone().with("jwt", jwt);
    let logged_in = Session { secrets: secrets.clone(), ..session.clone() };
    let person = there.me(&logged_in).await.map_err(Error::while_connecting)?;
    let meta = Map::from_iter([
        ("instance_url".to_owned(), json!(address.as_str().trim_end_matches('/'))),
        ("name".to_owned(), json!(person.name)),
    ]);
    let place = instance::host_and_path(&address);
    Ok(Identity {
        remote_id: format!("{place}:{}", person.id),
        username: format!("{}@{place}", person.name),
        display_name: person.display_name,
        meta,
        secrets,
        expires_at: None,
    }
    .with_picture_url(person.avatar))
}

/// Logs in again. The account has to be connected again only if its credentials are no longer valid.
pub async fn refresh(session: &Session) -> Result<RefreshedTokens> {
    let again = Instance::of_account(session).log_in().await.map_err(|error| match error.kind {
        ErrorKind::InvalidCredentials | ErrorKind::TokenExpired => {
            Error { kind: ErrorKind::Reconnect, ..error }
        }
        _ => error,
    })?;
    let secrets = session.secrets.clone().with("jwt", again);
    Ok(RefreshedTokens { secrets, expires_at: None, remote_id: None })
}
