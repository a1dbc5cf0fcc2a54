//! The token endpoint and the revocation endpoint.

use fanfare_core::Domain;
use fanfare_entities::Millis;
use fanfare_people::oauth_provider::{
    self, ACCESS_TOKEN_LIFETIME, CodeExchange, IssuedTokens, OauthError, OauthFlaw, OauthResult,
    Parameters, RefreshRequest, join_scopes,
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

/// Redeems a code or a refresh token.
pub(super) async fn token(cx: &Domain, sent: &Parameters, arrived: Millis) -> OauthResult<Value> {
    require_single_values(sent)?;
    let kind = required(sent, "grant_type")?;
    if !["authorization_code", "refresh_token"].contains(&kind) {
        let description = "grant_type is authorization_code or refresh_token.".to_owned();
        let (error, parameter) = (OauthError::UnsupportedGrantType, "grant_type");
        return Err(OauthFlaw { error, parameter, description }.into());
    }
    let client_id = required(sent, "client_id")?;
    oauth_provider::require_known(cx, client_id).await?;
    let resource: Vec<&str> = sent.all("resource").collect();
    let resource = resource.as_slice();
    let issued = if kind == "refresh_token" {
        let token = required(sent, "refresh_token")?;
        let scope = sent.get("scope");
        let asked = RefreshRequest { token, client_id, scope, resource, received_at: arrived };
        oauth_provider::refresh(cx, asked).await?
    } else {
        let asked = CodeExchange {
            code: required(sent, "code")?,
            client_id,
            redirect_uri: required(sent, "redirect_uri")?,
            verifier: required(sent, "code_verifier")?,
            resource,
            received_at: arrived,
        };
        oauth_provider::exchange(cx, asked).await?
    };
    Ok(reply(&issued))
}

fn reply(issued: &IssuedTokens) -> Value {
    let workspace = &issued.workspace;
    json!({
        "access_token": issued.access_token.expose_secret(),
        "token_type": "Bearer",
        "expires_in": ACCESS_TOKEN_LIFETIME / 1_000,
        "refresh_token": issued.refresh_token.expose_secret(),
        "scope": join_scopes(&issued.scopes),
        "workspace": {
            "id": workspace.id,
            "name": workspace.name,
            "role": fanfare_core::access::role_name(workspace.role),
        },
    })
}

/// Revokes a token.
pub(super) async fn revoke(cx: &Domain, sent: &Parameters) -> OauthResult<()> {
    require_single_values(sent)?;
    let client_id = required(sent, "client_id")?;
    oauth_provider::require_known(cx, client_id).await?;
    oauth_provider::revoke(cx, client_id, required(sent, "token")?).await
}

fn required<'a>(sent: &'a Parameters, name: &'static str) -> Result<&'a str, OauthFlaw> {
    sent.get(name).ok_or_else(|| OauthFlaw {
        error: OauthError::InvalidRequest,
        parameter: name,
        description: format!("{name} is missing."),
    })
}

/// Fails if a parameter was sent twice (RFC 6749 section 3.2).
fn require_single_values(sent: &Parameters) -> Result<(), OauthFlaw> {
    let Some(name) = sent.repeated() else { return Ok(()) };
    let shown: String = name.chars().take(40).collect();
    Err(OauthFlaw {
        error: OauthError::InvalidRequest,
        parameter: "body",
        description: format!("{shown} was sent more than once."),
    })
}
