//! The token endpoint and the revocation endpoint.

use fanfare_domain::{
    Domain,
    oauth_provider::{
        self, ACCESS_LASTS, Answered, CodeExchange, Flaw, Issued, OauthError, Parameters, Refresh,
        listed,
    },
};
use fanfare_entities::Millis;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

/// Redeems a code or a refresh token.
pub(super) async fn token(cx: &Domain, sent: &Parameters, arrived: Millis) -> Answered<Value> {
    single(sent)?;
    let kind = needed(sent, "grant_type")?;
    if !["authorization_code", "refresh_token"].contains(&kind) {
        let description = "grant_type is authorization_code or refresh_token.".to_owned();
        let (error, parameter) = (OauthError::UnsupportedGrantType, "grant_type");
        return Err(Flaw { error, parameter, description }.into());
    }
    let client_id = needed(sent, "client_id")?;
    oauth_provider::require_known(cx, client_id).await?;
    let resource = sent.get("resource");
    let issued = if kind == "refresh_token" {
        let token = needed(sent, "refresh_token")?;
        let scope = sent.get("scope");
        let asked = Refresh { token, client_id, scope, resource, arrived };
        oauth_provider::refresh(cx, asked).await?
    } else {
        let asked = CodeExchange {
            code: needed(sent, "code")?,
            client_id,
            redirect_uri: needed(sent, "redirect_uri")?,
            verifier: needed(sent, "code_verifier")?,
            resource,
            arrived,
        };
        oauth_provider::exchange(cx, asked).await?
    };
    Ok(reply(&issued))
}

fn reply(issued: &Issued) -> Value {
    let workspace = &issued.workspace;
    json!({
        "access_token": issued.access_token.expose_secret(),
        "token_type": "Bearer",
        "expires_in": ACCESS_LASTS / 1_000,
        "refresh_token": issued.refresh_token.expose_secret(),
        "scope": listed(&issued.scopes),
        "workspace": {
            "id": workspace.id,
            "name": workspace.name,
            "role": fanfare_domain::access::role_name(workspace.role),
        },
    })
}

/// Revokes a token.
pub(super) async fn revoke(cx: &Domain, sent: &Parameters) -> Answered<()> {
    single(sent)?;
    let client_id = needed(sent, "client_id")?;
    oauth_provider::require_known(cx, client_id).await?;
    oauth_provider::revoke(cx, client_id, needed(sent, "token")?).await
}

fn needed<'a>(sent: &'a Parameters, name: &'static str) -> Result<&'a str, Flaw> {
    sent.get(name).ok_or_else(|| Flaw {
        error: OauthError::InvalidRequest,
        parameter: name,
        description: format!("{name} is missing."),
    })
}

/// Fails if a parameter was sent twice (RFC 6749 section 3.2).
fn single(sent: &Parameters) -> Result<(), Flaw> {
    let Some(name) = sent.doubled() else { return Ok(()) };
    let shown: String = name.chars().take(40).collect();
    Err(Flaw {
        error: OauthError::InvalidRequest,
        parameter: "body",
        description: format!("{shown} was sent more than once."),
    })
}
