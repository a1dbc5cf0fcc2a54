//! The OpenAPI 3.1 document, made from the table of routes and the catalogue of errors.

mod connecting;
mod headers;
mod kinds;
mod operation;
mod parameters;
mod records;
mod refusals;

use fanfare_domain::Code;
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::Route;

pub use operation::needs;

const DESCRIPTION: &str = "Publishes posts on social networks at their time, once, and proves what was sent.\n\n\
    Every request body and query string is strict: an unknown field is refused and the nearest known one named. \
    Every reply carries `X-Request-Id`, and every reply \
    of `/api/v1` says in `X-RateLimit-*` where the limit stands that is nearest to its end. Fields may be added to replies at any time.";

/// The chapters, in their order.
pub const TAGS: [(&str, &str); 11] = [
    ("signup", "Signing up and paying; needs no key."),
    ("billing", "The key owner's subscription."),
    ("discovery", "Who am I, and what can be done."),
    ("accounts", "Connected social accounts."),
    ("connect", "Connecting accounts."),
    ("posts", "Creating, scheduling, changing and following posts."),
    ("media", "Files for posts: every way in, and what there is."),
    ("brands", "Groups of accounts inside a workspace."),
    ("webhooks", "Deliveries of events to your addresses."),
    ("activity", "Polling what happened."),
    ("sandbox", "Simulated networks, to try everything without posting in public."),
];

/// The document. `base_url` is the origin under which the service is reached.
#[must_use]
pub fn document(base_url: &str, routes: &[Route]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let paths = paths(routes, &mut generator);
    let tags: Vec<_> =
        TAGS.iter().map(|(name, doc)| json!({"name": name, "description": doc})).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Fanfare",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base_url}],
        "security": [{"bearer": []}],
        "tags": tags,
        "externalDocs": {"url": format!("{base_url}/docs"), "description": "The same, for people"},
        "paths": paths,
        "webhooks": webhooks(),
        "components": components(generator),
    })
}

fn paths(routes: &[Route], generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut paths = Map::new();
    for route in routes {
        let operation = operation::of(route, generator);
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        methods[route.method.as_str().to_lowercase()] = operation;
    }
    paths.insert("/upload/{token}".to_owned(), operation::upload());
    for (path, name, summary, ill) in [
        ("/healthz", "get_health", "Is the process alive?", false),
        ("/readyz", "get_readiness", "Can it do its work?", true),
    ] {
        paths.insert(path.to_owned(), operation::health(name, summary, ill));
    }
    paths
}

fn components(mut generator: SchemaGenerator) -> Value {
    let mut schemas = records::all();
    schemas.insert("Error".to_owned(), error());
    schemas.insert("Violation".to_owned(), violation());
    schemas.extend(generator.take_definitions(true));
    json!({
        "schemas": schemas,
        "parameters": parameters::shared(),
        "headers": headers::all(),
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer", "description": "An API key: `fan_…`."},
        },
    })
}

/// The event that is sent to webhooks.
fn webhooks() -> Value {
    json!({"event": {"post": {
        "operationId": "receive_event",
        "summary": "Sent to a webhook when something happened that it asked for",
        "description": "Signed in `X-Fanfare-Signature`: `t=<unix seconds>,v1=<hex>`, the HMAC-SHA-256 of \
            `<t>.<raw body>` with the webhook's whole secret. While a secret is being rotated there are two `v1`.",
        "tags": ["webhooks"],
        "security": [],
        "requestBody": {"required": true, "content": {"application/json": {"schema": kinds::reference("Event")}}},
        "responses": {
            "2XX": {"description": "Received."},
            "410": {"description": "Gone: the webhook is disabled at once."},
        },
    }}})
}

fn error() -> Value {
    let codes: Vec<_> = Code::ALL.iter().map(|code| code.entry().code).collect();
    json!({
        "type": "object",
        "description": "Why a request was refused. Some codes bring fields of their own; `/docs/errors` explains each.",
        "required": ["error", "code", "request_id", "retryable", "doc_url"],
        "properties": {
            "error": {"type": "string", "description": "For people."},
            "code": {"type": "string", "enum": codes},
            "request_id": {"type": "string"},
            "retryable": {"type": "boolean", "description": "May the same request succeed later?"},
            "doc_url": {"type": "string", "format": "uri"},
            "validation_errors": {
                "type": "array", "items": kinds::reference("Violation"),
                "description": "The broken rules, at most 50 of them.",
            },
            "more_violations": {
                "type": "integer",
                "description": "How many more broken rules there are than `validation_errors` names.",
            },
            "retry_after": {"type": "integer", "description": "Seconds; also in the header `Retry-After`."},
            "limit": {"type": "integer", "description": "With `rate_limited`: what may be done in a window."},
            "remaining": {"type": "integer", "description": "With `rate_limited`: what is left of it."},
            "reset": {"type": "integer", "description": "With `rate_limited`: when it starts anew, in Unix seconds."},
            "required_scope": {"type": "string"},
            "required_role": {"type": "string"},
            "required_plan": {"type": "string"},
            "status": {"type": "string", "description": "With `invalid_transition`: the post's status."},
            "allowed": {
                "type": "array", "items": {"type": "string"},
                "description": "With `invalid_transition`: the statuses it can be brought to.",
            },
            "posts": {
                "type": "array", "items": {"type": "integer"},
                "description": "With `media_in_use`: posts that need the file, at most ten.",
            },
            "remedy": {"type": "string"},
        },
    })
}

fn violation() -> Value {
    let compared = json!({"type": ["integer", "string"]});
    json!({
        "type": "object",
        "description": "One broken rule.",
        "required": ["field", "code", "message", "remedy"],
        "properties": {
            "field": {"type": "string", "description": "Path of the field, such as `settings.poll.options[2]`."},
            "code": {"type": "string"},
            "message": {"type": "string"},
            "limit": compared,
            "actual": compared,
            "remedy": {"type": "string"},
        },
    })
}

#[cfg(test)]
mod tests;
