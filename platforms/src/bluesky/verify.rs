//! Logging in and staying logged in.

use chrono::TimeDelta;
use serde_json::{Map, Value, json};
use url::Url;

use super::client::{Pds, Tokens, normalized_service, token_expiry};
use crate::{Error, ErrorKind, Identity, RefreshedTokens, Result, Secrets, Session};

/// The assumed lifetime of a token without `exp`.
const TOKEN_LIFE: TimeDelta = TimeDelta::minutes(60);

/// Logs in with the credentials.
pub async fn verify(session: &Session) -> Result<Identity> {
    // A configured base replaces the server that the credentials name.
    if session.base.is_none()
        && let Some(service) = normalized_service(session.secrets.expose("service"))
    {
        let usable = Url::parse(&service).is_ok_and(|url| {
            matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none()
        });
        if !usable {
            return Err(Error::invalid_credentials("service is not the address of a server.")
                .with_remedy("Give an address like https://pds.example, or leave it out."));
        }
    }
    let tokens = Pds::of_credentials(session).log_in().await.map_err(Error::while_connecting)?;
    must_be_active(&tokens, None).map_err(Error::while_connecting)?;
    let mut meta = Map::new();
    meta.insert("did".into(), json!(tokens.did));
    meta.insert("handle".into(), json!(tokens.handle));
    if let Some(pds) = tokens.did_doc.as_ref().and_then(pds_of) {
        meta.insert("pds".into(), json!(pds));
    }
    let fresh = with_tokens(session, &tokens);
    Ok(Identity {
        remote_id: tokens.did,
        username: tokens.handle,
        display_name: None,
        meta,
        secrets: fresh.secrets,
        expires_at: fresh.expires_at,
    })
}

/// Exchanges the refresh token. Log-ins are limited (300 a day), so one is made only when that token has expired.
pub async fn refresh(session: &Session) -> Result<RefreshedTokens> {
    let tokens = match Pds::of_account(session).refresh().await {
        Err(error) if error.kind == ErrorKind::TokenExpired => {
            Pds::of_credentials(session).log_in().await.map_err(as_reconnect)?
        }
        other => other?,
    };
    must_be_active(&tokens, session.account.meta_str("pds"))?;
    Ok(with_tokens(session, &tokens))
}

/// Ends the session. The app password stays valid: only its owner can revoke it.
pub async fn revoke(session: &Session) -> Result<bool> {
    match Pds::of_account(session).end_session().await {
        Ok(()) => Ok(true),
        // A session that has already ended is fine.
        Err(error) if matches!(error.kind, ErrorKind::TokenExpired | ErrorKind::Reconnect) => {
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

fn with_tokens(session: &Session, tokens: &Tokens) -> RefreshedTokens {
    let secrets: Secrets = session
        .secrets
        .clone()
        .with("access_jwt", tokens.access_jwt.as_str())
        .with("refresh_jwt", tokens.refresh_jwt.as_str());
    let end = token_expiry(&tokens.access_jwt).unwrap_or(session.now + TOKEN_LIFE);
    RefreshedTokens { secrets, expires_at: Some(end), remote_id: None }
}

/// Refuses an account that is not active on this server. Its DID document says whether it has moved from `before`.
fn must_be_active(tokens: &Tokens, before: Option<&str>) -> Result<()> {
    if tokens.active != Some(false) {
        return Ok(());
    }
    let home = tokens.did_doc.as_ref().and_then(pds_of);
    if let Some(home) = home.filter(|home| before.is_some_and(|before| before != home)) {
        return Err(Error::reconnect(format!("The account has moved to {home}.")).with_remedy(
            format!("Connect it again with the service {home} and an app password made there."),
        ));
    }
    let status = tokens.status.as_deref().unwrap_or("not active");
    Err(Error::reconnect(format!("The account is {status}."))
        .with_remedy("Activate the account in Bluesky, then connect it again."))
}

/// Returns the server of the account, from its DID document.
fn pds_of(document: &Value) -> Option<String> {
    let services = document.get("service")?.as_array()?;
    let is_pds = |service: &&Value| {
        service.get("id").and_then(Value::as_str).is_some_and(|id| id.ends_with("#atproto_pds"))
    };
    let address = services.iter().find(is_pds)?.get("serviceEndpoint")?.as_str()?;
    normalized_service(address)
}

/// Converts the error of credentials that are no longer valid.
fn as_reconnect(error: Error) -> Error {
    match error.kind {
        ErrorKind::TokenExpired | ErrorKind::InvalidCredentials => {
            Error { kind: ErrorKind::Reconnect, ..error }
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::pds_of;

    #[test]
    fn the_server_is_found_in_the_document() {
        let document = json!({"service": [
            {"id": "#other", "serviceEndpoint": "https://other.example"},
            {"id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": "https://pds.example/"},
        ]});
        assert_eq!(pds_of(&document).as_deref(), Some("https://pds.example"));
        assert_eq!(pds_of(&json!({"service": []})), None);
        assert_eq!(pds_of(&json!("not a document")), None);
    }
}
