//! The OAuth provider over HTTP: metadata documents, client registration and tokens. Its pages are those of `web`.

pub mod apps;
pub mod challenge;
mod discovery;
mod endpoints;
mod exchange;

use fanfare_core::{
    Domain, Result, Settings,
    access::{Caller, Scope},
};
use fanfare_people::oauth_provider;
use salvo::{
    Request, Response, Router,
    http::header::{HOST, WWW_AUTHENTICATE},
};

use crate::{keys, router_ext::RouterExt as _};
use discovery::Discovery;
use endpoints::{EndpointKind, OauthEndpoint};

/// Returns the router of the provider.
pub fn router(domain: &Domain) -> Router {
    let endpoint = |path: &str, kind| {
        let path = path.trim_start_matches('/');
        Router::with_path(path).post(OauthEndpoint { cx: domain.clone(), kind })
    };
    discovery::PATHS
        .iter()
        .fold(Router::new(), |router, path| {
            let document = Discovery(domain.clone(), path);
            router.push(Router::with_path(path.trim_start_matches('/')).get_and_head(document))
        })
        .push(endpoint("/api/oauth/register", EndpointKind::Register))
        .push(endpoint("/api/oauth/token", EndpointKind::Token))
        .push(endpoint("/api/oauth/revoke", EndpointKind::Revoke))
}

/// Returns the origin at which the client called this service, which is the issuer.
#[must_use]
pub fn requested_origin(settings: &Settings, req: &Request) -> String {
    let host = req.headers().get(HOST).and_then(|host| host.to_str().ok());
    oauth_provider::issuer(settings, host.or(req.uri().authority().map(|host| host.as_str())))
}

/// Marks a request whose access token lacks this scope.
#[derive(Debug, Clone, Copy)]
struct MissingScope(Scope);

/// Fails unless the caller has the scope `needed`.
///
/// # Errors
/// [`fanfare_core::Code::InsufficientScope`].
pub fn require_scope(req: &mut Request, caller: &Caller, needed: Option<Scope>) -> Result<()> {
    let admitted = keys::require_scope(caller, needed);
    if let (Err(_), Some(scope), Some(_)) = (&admitted, needed, &caller.token) {
        req.extensions_mut().insert(MissingScope(scope));
    }
    admitted
}

/// Returns the scope that the access token of a request lacks, if it was refused for that.
#[must_use]
pub fn missing_scope(req: &Request) -> Option<Scope> {
    req.extensions().get::<MissingScope>().map(|MissingScope(scope)| *scope)
}

/// Sets the `WWW-Authenticate` header that makes a client request a missing scope. `resource` is the path of the
/// protected resource.
pub fn challenge_scope(res: &mut Response, base_url: &str, resource: &str, scope: Scope) {
    let value = challenge::insufficient_scope(base_url, resource, scope.as_str());
    res.headers_mut().insert(WWW_AUTHENTICATE, value);
}
