//! The HTTP API and the pages of the service.
//!
//! [`routes`] lists every route of `/api/v1` with its requirements: scope, role, plan, workspace, rate limit. The
//! router, the policy and the OpenAPI document are all made from that one table, so no route can exist without a
//! policy. `endpoint.rs` checks each request against its row, always in the same order, so that a handler only reads
//! its input, calls the domain and returns the reply.
//!
//! This crate contains no SQL, no calls to platforms and no rules about posts. All of that is in the domain.

mod accounts;
mod activity;
pub mod address;
mod ai;
mod analytics;
mod api_keys;
mod billing;
pub mod body;
mod brands;
mod business;
mod call;
mod connect;
mod connections;
mod detached_task;
mod discovery;
pub mod docs;
pub mod endpoint;
mod feedback;
mod handler;
mod health;
mod hints;
mod inbox;
mod json;
mod keys;
pub mod mcp;
pub mod media;
pub mod middleware;
mod multipart;
pub mod oauth;
mod older_names;
mod openapi;
mod path;
mod platform_tools;
mod post_sets;
mod posting_schedule;
mod posts;
mod progress;
pub mod query;
pub mod reply;
pub mod request_id;
mod route;
mod router;
pub mod router_ext;
pub mod routes;
mod sandbox;
mod schema;
mod serve;
mod signup;
pub mod static_page;
mod support;
mod updates;
mod wait;
mod webhooks;
mod words;
mod workspace_scope;
mod workspaces;

pub use call::Call;
pub use endpoint::PublicCall;
pub use handler::{Handler, IntoReply};
pub use middleware::rate_limit::Bucket;
pub use route::{BelongsTo, Body, Drafts, Method, Policy, Query, RaisedRole, Route, Success};
pub use router::service;
pub use serve::serve;
pub use workspace_scope::WorkspaceScope;

/// An example of an operation: its request, and its successful replies by status.
#[derive(Debug, Clone)]
pub struct Example {
    /// The operation.
    pub name: &'static str,
    /// HTTP method.
    pub method: &'static str,
    /// Path and query.
    pub address: String,
    /// The body, if it has one.
    pub body: Option<serde_json::Value>,
    /// The equivalent command line.
    pub command: String,
    /// The replies.
    pub replies: Vec<(u16, serde_json::Value)>,
}

/// Returns the examples that the reference shows.
#[must_use]
pub fn examples(base_url: &str) -> Vec<Example> {
    let document = document(base_url);
    let one = |route: &Route| Example {
        name: route.name,
        method: route.method.as_str(),
        address: docs::example::address(route),
        body: docs::example::body(route),
        command: docs::example::command(route),
        replies: docs::reply_examples(&document, route)
            .into_iter()
            .map(|answer| (answer.success.status, answer.body))
            .collect(),
    };
    routes::ROUTES.iter().map(one).collect()
}

/// Returns the OpenAPI document of the service at this origin.
#[must_use]
pub fn document(base_url: &str) -> serde_json::Value {
    openapi::document(base_url, routes::ROUTES)
}
