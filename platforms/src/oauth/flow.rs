//! The four steps of OAuth: the consent page, exchanging a code, refreshing tokens, and revoking them.

use std::time::Duration;

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use fanfare_outbound::Request;
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};
use url::Url;

use super::{
    App, ClientAuth, Endpoint, Oauth, TokenCall, TokenExchange, TokenRenewal,
    token_response::{self, TokenResponse},
    tokens::{ACCESS_TOKEN, INSTANCE, REFRESH_TOKEN},
};
use crate::{Error, ErrorKind, RefreshedTokens, Result, Secrets, Session, graph, text};

/// Time for one call.
const DEADLINE: Duration = Duration::from_secs(10);

/// The parameters of an authorization request that vary between users.
#[derive(Debug, Clone, Copy)]
pub struct AuthorizationRequest<'a> {
    /// The address that the network redirects the user to.
    pub redirect_uri: &'a str,
    /// The unguessable value that the network returns unchanged.
    pub state: &'a str,
    /// The PKCE verifier, whose hash is sent if the network supports it.
    pub verifier: &'a str,
}

/// Returns the address of the consent page.
///
/// # Errors
/// No app is registered, or the address is not valid.
pub fn authorize_url(
    oauth: &Oauth,
    session: &Session,
    leave: &AuthorizationRequest<'_>,
) -> Result<Url> {
    let app = session.app()?;
    let mut url = endpoint_url(session, oauth.authorize)?;
    let names: Vec<_> = oauth.permissions().map(|permission| permission.name).collect();
    {
        let mut query = url.query_pairs_mut();
        query
            .append_pair(oauth.client_id_name, &app.client_id)
            .append_pair("redirect_uri", leave.redirect_uri)
            .append_pair("response_type", "code")
            .append_pair("state", leave.state);
        if !names.is_empty() {
            query.append_pair("scope", &names.join(oauth.separator));
        }
        if oauth.pkce {
            query
                .append_pair("code_challenge", &challenge(leave.verifier))
                .append_pair("code_challenge_method", "S256");
        }
        query.extend_pairs(oauth.authorize_extra);
    }
    Ok(url)
}

/// Returns the code challenge of a verifier (RFC 7636).
fn challenge(verifier: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

/// Exchanges a code for tokens: one call, or two if the first token is exchanged for a long-lived one. Returns the
/// session's secrets with the tokens added.
///
/// # Errors
/// [`ErrorKind::InvalidCredentials`] when the network refuses the code, [`ErrorKind::Unreachable`] when it cannot be asked.
pub async fn exchange_code(
    oauth: &Oauth,
    session: &Session,
    code: &str,
    leave: &AuthorizationRequest<'_>,
) -> Result<Secrets> {
    // Meta ends its redirects with an empty fragment that some browsers pass on.
    let code = code.trim_end_matches("#_");
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", leave.redirect_uri),
    ];
    if oauth.pkce {
        fields.push(("code_verifier", leave.verifier));
    }
    fields.extend(oauth.exchange_extra);
    let first = request_tokens(oauth, session, &fields).await.map_err(Error::while_connecting)?;
    let secrets = first.merge_into(&session.secrets, session.now);
    let Some(long_lived) = oauth.long_lived else { return Ok(secrets) };
    let session = Session { secrets, ..session.clone() };
    let lasting =
        exchange_token(&long_lived, oauth, &session).await.map_err(Error::while_connecting)?;
    Ok(lasting.merge_into(&session.secrets, session.now))
}

/// Refreshes an account's tokens; `None` if there is nothing to refresh.
///
/// # Errors
/// [`ErrorKind::Reconnect`] only for a response that says the tokens are permanently invalid.
pub async fn refresh_tokens(oauth: &Oauth, session: &Session) -> Result<Option<RefreshedTokens>> {
    let fresh = match oauth.renewal {
        TokenRenewal::Never => return Ok(None),
        TokenRenewal::Exchange(way) => exchange_token(&way, oauth, session).await,
        TokenRenewal::RefreshToken { .. } => {
            let Some(refresh_token) = session.secrets.get(REFRESH_TOKEN) else { return Ok(None) };
            let fields =
                [("grant_type", "refresh_token"), (REFRESH_TOKEN, refresh_token.expose_secret())];
            request_tokens(oauth, session, &fields).await
        }
    };
    let secrets = fresh?.merge_into(&session.secrets, session.now);
    let expires_at = super::access_token_expiry(&secrets);
    Ok(Some(RefreshedTokens { secrets, expires_at, remote_id: None }))
}

/// Revokes the tokens. Returns `false` if the network has no call for that.
///
/// # Errors
/// The network did not revoke them.
pub async fn revoke(oauth: &Oauth, session: &Session) -> Result<bool> {
    let Some(endpoint) = oauth.revoke else { return Ok(false) };
    // Revoking the refresh token also revokes its access tokens; without one, only the access token is revoked.
    let name =
        if session.secrets.get(REFRESH_TOKEN).is_some() { REFRESH_TOKEN } else { ACCESS_TOKEN };
    let token = session.secrets.require(name)?;
    let fields = [("token", token.expose_secret()), ("token_type_hint", name)];
    let request = app_request(oauth, session, endpoint, &fields, TokenCall::Form)?;
    let reply = request.send().await?;
    if reply.is_success() {
        return Ok(true);
    }
    Err(token_response::token_error(&reply, session))
}

/// Calls the token endpoint.
async fn request_tokens(
    oauth: &Oauth,
    session: &Session,
    fields: &[(&str, &str)],
) -> Result<TokenResponse> {
    let request = app_request(oauth, session, oauth.token, fields, oauth.token_call)?;
    token_response::read(request, session).await
}

/// Builds a request that authenticates as the app.
fn app_request(
    oauth: &Oauth,
    session: &Session,
    endpoint: Endpoint,
    fields: &[(&str, &str)],
    call: TokenCall,
) -> Result<Request> {
    let (app, url) = (session.app()?, endpoint_url(session, endpoint)?);
    let App { client_id, client_secret } = &app;
    let mut fields = fields.to_vec();
    fields.push((oauth.client_id_name, client_id));
    if oauth.client_auth == ClientAuth::Body {
        fields.push(("client_secret", client_secret.expose_secret()));
    }
    let request = match call {
        TokenCall::Form => session.http.post(url).form(&fields),
        TokenCall::Query => session.http.get(url).query(&fields),
    };
    let request = match oauth.client_auth {
        ClientAuth::Body => request,
        ClientAuth::Basic => request.basic(client_id, client_secret),
    };
    Ok(request.header("accept", "application/json").deadline(DEADLINE))
}

async fn exchange_token(
    way: &TokenExchange,
    oauth: &Oauth,
    session: &Session,
) -> Result<TokenResponse> {
    let token = session.secrets.require(ACCESS_TOKEN)?.expose_secret();
    let mut query = vec![("grant_type", way.grant_type), (way.token_name, token)];
    // An exchange that does not name the app works without one, so a missing app is not an error then.
    let app =
        if way.with_client_id || way.with_client_secret { Some(session.app()?) } else { None };
    if let Some(app) = app.as_ref().filter(|_| way.with_client_id) {
        query.push((oauth.client_id_name, &app.client_id));
    }
    if let Some(app) = app.as_ref().filter(|_| way.with_client_secret) {
        query.push(("client_secret", app.client_secret.expose_secret()));
    }
    let request =
        session.http.get(endpoint_url(session, way.endpoint)?).query(&query).deadline(DEADLINE);
    token_response::read(request, session).await
}

/// Returns an endpoint's address: on the network, on the account's own server, or below a configured base.
fn endpoint_url(session: &Session, endpoint: Endpoint) -> Result<Url> {
    if !endpoint.host.is_empty() || session.base.is_some() {
        let path = endpoint.path.replace("{graph_version}", graph::version());
        return session.url(endpoint.host, &path);
    }
    let home = server_origin(session.secrets.expose(INSTANCE))?;
    session.url(&home, endpoint.path)
}

/// Returns the origin of the server that the user entered, with or without a scheme.
fn server_origin(named: &str) -> Result<String> {
    let named = &text::clean_identifier(named);
    let full = if named.contains("://") { named.clone() } else { format!("https://{named}") };
    let url = Url::parse(&full).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.filter(|url| url.username().is_empty() && url.password().is_none());
    url.map(|url| url.origin().ascii_serialization()).ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidCredentials,
            format!("{named:?} is not the address of a server."),
        )
        .with_remedy("Give a name like social.example.")
    })
}
