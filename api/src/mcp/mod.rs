//! The MCP server: every operation of the route table as a tool for agents, over Streamable HTTP without sessions.
//!
//! A tool call is a request to the route of the same name. It goes through the same pipeline (`endpoint.rs`), so that
//! limits, scopes, roles and idempotency are those of the API.

mod admission;
mod arguments;
mod call;
mod finder;
mod guide;
mod listed;
mod progress;
mod schema;
mod server;
mod shrink;
mod toolbox;

use std::sync::Arc;

use fanfare_core::Domain;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use salvo::{Router, http::ReqBody, prelude::TowerServiceCompat};
use serde_json::{Value, json};

use crate::{router_ext::RouterExt as _, static_page::StaticPage};
use admission::{AdmissionMiddleware, Audience};
pub use call::request;
pub use schema::ToolInput;
use server::Server;
use toolbox::LazyToolbox;

/// The largest message, in bytes: a small file in base64 fits.
const LARGEST: usize = 7 << 20;

/// The tools that need no key.
const SIGNUP: [&str; 2] = ["start_signup", "get_signup_session"];

/// Returns the router of the server.
pub fn router(domain: &Domain) -> Router {
    let base_url = &domain.settings.base_url;
    let toolbox = Arc::new(LazyToolbox::new(domain));
    let card = {
        let base_url = base_url.clone();
        StaticPage::json("/.well-known/mcp/server-card.json", move || card(&base_url).to_string())
    };
    let at = |path: &str, audience: Audience| {
        let server = Server::new(Arc::clone(&toolbox), audience, base_url.clone());
        Router::with_path(path)
            .hoop(AdmissionMiddleware::new(domain.clone(), audience, card.clone()))
            .goal(TowerServiceCompat::<ReqBody, _, _, _>::compat(service(server)))
    };
    Router::new()
        .push(at("mcp", Audience::Members))
        .push(at("api/mcp", Audience::Members))
        .push(at("mcp/signup", Audience::Anybody))
        .push(Router::with_path(".well-known/mcp/server-card.json").get_and_head(card))
}

fn service(server: Server) -> StreamableHttpService<Server, NeverSessionManager> {
    // `admission.rs` has checked host and origin.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(LARGEST);
    StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config)
}

/// Returns a description of the server and how to connect, for people and programs that open its address.
fn card(base_url: &str) -> Value {
    json!({
        "name": "fanfare",
        "title": "Fanfare",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Schedules and publishes posts on social networks at their time, once.",
        "url": format!("{base_url}/mcp"),
        "transport": "streamable-http",
        "authentication": {
            "schemes": ["bearer", "oauth2"],
            "how": "Send an API key as Authorization: Bearer, or let your client log the user in.",
        },
        "signup_url": format!("{base_url}/mcp/signup"),
        "documentation": format!("{base_url}/docs"),
    })
}
