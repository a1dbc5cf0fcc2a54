//! The metadata documents of the authorization server and its resources (RFC 8414, RFC 9728).

use fanfare_core::{Domain, Reply, access::Scope};
use fanfare_people::oauth_provider::{MCP_PATHS, join_scopes};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, async_trait};
use serde_json::{Value, json};

use super::requested_origin;
use crate::{middleware::request::LogFields, reply, request_id};

const SERVER: &str = "/.well-known/oauth-authorization-server";
const RESOURCE: &str = "/.well-known/oauth-protected-resource";

/// The paths of the documents.
pub(super) const PATHS: [&str; 4] = [
    SERVER,
    RESOURCE,
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-protected-resource/api/mcp",
];

/// Serves the document at a path.
pub(super) struct Discovery(pub Domain, pub &'static str);

#[async_trait]
impl Handler for Discovery {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        let Self(cx, path) = self;
        LogFields::set_route(req, path);
        let base = requested_origin(&cx.settings, req);
        let document = match path.strip_prefix(RESOURCE) {
            Some(resource) => protected_resource(&base, resource),
            None => authorization_server(&base),
        };
        reply::write(res, Reply::ok(&document), &request_id::get(req), &base);
    }
}

fn authorization_server(base: &str) -> Value {
    let resources: Vec<_> =
        [""].iter().chain(&MCP_PATHS).map(|path| format!("{base}{path}")).collect();
    json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/api/oauth/authorize"),
        "token_endpoint": format!("{base}/api/oauth/token"),
        "registration_endpoint": format!("{base}/api/oauth/register"),
        "revocation_endpoint": format!("{base}/api/oauth/revoke"),
        "scopes_supported": names(&Scope::ALL),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
        "protected_resources": resources,
        "service_documentation": format!("{base}/docs"),
    })
}

fn protected_resource(base: &str, resource: &str) -> Value {
    json!({
        "resource": format!("{base}{resource}"),
        "authorization_servers": [base],
        "scopes_supported": names(&Scope::default_set()),
        "bearer_methods_supported": ["header"],
        "resource_name": "Fanfare",
        "resource_documentation": format!("{base}/docs"),
    })
}

fn names(scopes: &[Scope]) -> Vec<String> {
    join_scopes(scopes).split(' ').map(str::to_owned).collect()
}
