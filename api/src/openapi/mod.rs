//! The OpenAPI 3.1 document, made from the table of routes and the catalogue of errors.

mod events;
mod headers;
mod operation;
mod parameters;
mod part;
mod refusals;
mod unions;

use std::collections::BTreeSet;

use fanfare_core::{Code, activity::Event};
use fanfare_publishing::posts::sets::PostSetState;
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::{Route, older_names, schema};

pub use operation::needs;
pub use parameters::in_path as path_schema;
pub use part::part;
pub use refusals::codes;

const DESCRIPTION: &str = "Publishes posts on social networks at their time, once, and proves what was sent.\n\n\
    Every request body and query string is strict: an unknown field is refused and the nearest known one named. \
    Every reply carries `X-Request-Id`, and every reply \
    of `/api/v1` says in `X-RateLimit-*` where the limit stands that is nearest to its end. \
    `HEAD` is answered wherever `GET` is. Fields may be added to replies at any time. \
    Where an address fits two paths, the one that is written out further wins: `/posts/group/status` is the group `status`.";

/// The tag of what is sent to webhooks.
const SENT_EVENTS: (&str, &str) = ("sent events", "What is sent to the addresses of webhooks.");

/// The chapters, in their order.
pub const TAGS: [(&str, &str); 22] = [
    ("signup", "Signing up and paying; needs no key."),
    ("billing", "The key owner's subscription."),
    ("discovery", "Who am I, and what can be done."),
    ("accounts", "Connected social accounts."),
    ("connect", "Connecting accounts."),
    ("posts", "Creating, scheduling, changing and following posts."),
    ("post sets", "One message for several accounts: all of its posts are made, or none."),
    ("media", "Files for posts: every way in, and what there is."),
    ("brands", "Groups of accounts inside a workspace."),
    ("inbox", "Messages and comments that people wrote to accounts, and their answers."),
    ("google-business", "Business profiles: reviews, media and the audit."),
    ("analytics", "Numbers of accounts and posts, and what follows from them."),
    ("ai", "Captions, images and videos made by models, paid with credits."),
    ("webhooks", "Deliveries of events to your addresses."),
    ("activity", "Polling what happened."),
    ("feedback", "Feedback for the operators, questions about the service, and a public board."),
    ("updates", "What is new in the service."),
    ("keys", "API keys of your own."),
    ("workspaces", "Leaving: the deletion of a workspace."),
    ("oauth clients", "OAuth apps of your own, which other people let in."),
    ("oauth grants", "The tools that you have let in."),
    ("sandbox", "Simulated networks, to try everything without posting in public."),
];

/// Returns the document; `base_url` is the origin of the service.
#[must_use]
pub fn document(base_url: &str, routes: &[Route]) -> Value {
    let mut schemas = Schemas::default();
    let paths = paths(routes, &mut schemas);
    let webhooks = sent_event(&mut schemas);
    let mut components = components(schemas);
    components["pathItems"] = json!({"SentEvent": webhooks});
    add_older_names(routes, &paths, &mut components);
    let tags = TAGS.iter().chain([&SENT_EVENTS]);
    let tags: Vec<_> = tags.map(|(name, doc)| json!({"name": name, "description": doc})).collect();
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Fanfare",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "contact": {"name": "The operators of this service", "url": base_url},
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base_url}],
        "security": [{"bearer": []}],
        "tags": tags,
        "externalDocs": {"url": format!("{base_url}/docs"), "description": "The same, for people"},
        "paths": paths,
        // By reference: generators of TypeScript do not import the schemas of an operation that stands here itself.
        "webhooks": {"event": {"$ref": "#/components/pathItems/SentEvent"}},
        "components": components,
    });
    schema::simplify(&mut document);
    unions::discriminate(&mut document);
    events::describe(&mut document["components"]["schemas"]["Event"]);
    document
}

/// Returns every name in a document or a description that means something: fields and choices.
#[must_use]
pub fn words(document: &Value) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    collect_words(document, &mut words);
    words
}

fn collect_words(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                words.extend(properties.keys().cloned());
            }
            let choices = fields.get("enum").and_then(Value::as_array).into_iter().flatten();
            words.extend(choices.filter_map(Value::as_str).map(str::to_owned));
            if let (Some(Value::String(name)), Some("query")) =
                (fields.get("name"), fields.get("in").and_then(Value::as_str))
            {
                words.insert(name.clone());
            }
            fields.values().for_each(|inner| collect_words(inner, words));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_words(item, words)),
        _ => {}
    }
}

/// Schemas of requests and replies. They differ: a field that may be left out of a request is always present in a
/// reply.
pub struct Schemas {
    /// Schemas of requests.
    pub requests: SchemaGenerator,
    /// Schemas of replies.
    pub replies: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self {
            requests: settings.clone().into_generator(),
            replies: settings.for_serialize().into_generator(),
        }
    }
}

fn paths(routes: &[Route], schemas: &mut Schemas) -> Map<String, Value> {
    let mut paths = Map::new();
    for route in routes {
        let operation = operation::of(route, schemas);
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        methods[route.method.as_str().to_lowercase()] = operation;
    }
    paths.insert("/upload/{token}".to_owned(), operation::upload(schemas));
    for (path, name, summary, codes) in [
        ("/healthz", "get_health", "Is the process alive?", &[Code::RateLimited][..]),
        (
            "/readyz",
            "get_readiness",
            "Can it do its work?",
            &[Code::RateLimited, Code::Unavailable],
        ),
    ] {
        paths.insert(path.to_owned(), operation::health(name, summary, codes, schemas));
    }
    paths
}

fn components(mut schemas: Schemas) -> Value {
    let _ = schemas.replies.subschema_for::<refusals::Error>();
    let mut all = schemas.replies.take_definitions(true);
    all.extend(schemas.requests.take_definitions(true));
    json!({
        "schemas": all,
        "parameters": parameters::shared(),
        "headers": headers::all(),
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer", "description": "An API key (`fan_…`), or the access token of an OAuth client that a person let in (`fat_…`)."},
        },
    })
}

/// Adds the older names of fields to the bodies that accept them.
fn add_older_names(routes: &[Route], paths: &Map<String, Value>, components: &mut Value) {
    for route in routes {
        let method = route.method.as_str().to_lowercase();
        let body =
            &paths[route.path][method]["requestBody"]["content"]["application/json"]["schema"];
        let name =
            body["$ref"].as_str().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        let Some(schema) = components["schemas"].get_mut(name) else { continue };
        for (older, today) in older_names::fields(route.name) {
            // The older names of a batch are those of its items.
            if schema["properties"].get("posts").is_some() {
                continue;
            }
            if schema["properties"].get(older).is_some() {
                continue;
            }
            let doc = match today {
                "" => "Ignored; clients of other services send it.".to_owned(),
                today => format!("Older name, taken over into `{today}`."),
            };
            let mut property = older_names::schema(&schema["properties"], older);
            property["deprecated"] = true.into();
            property["description"] = doc.into();
            schema["properties"][older] = property;
        }
    }
}

/// Returns the description of the event that is sent to webhooks.
fn sent_event(schemas: &mut Schemas) -> Value {
    let event = schemas.replies.subschema_for::<Event>();
    // No reply shows it, so that nothing else describes it.
    schemas.replies.subschema_for::<PostSetState>();
    json!({"post": {
        "operationId": "receive_event",
        "summary": "Sent to a webhook when something happened that it asked for",
        "description": "Signed in `X-Fanfare-Signature`: `t=<unix seconds>,v1=<hex>`, the HMAC-SHA-256 of \
            `<t>.<raw body>` with the webhook's whole secret. While secrets are being rotated there are several `v1`. \
            Refuse a `t` that is more than five minutes old. An event may arrive more than once (its `id` tells) and \
            in another order (`sequence`). What is not answered with 2xx within 10 seconds is sent again after 5 \
            seconds, 5 minutes, 30 minutes, 2, 5, 10 and 10 hours. `/docs/guides/webhooks` has programs.",
        "parameters": [
            sent_header("X-Fanfare-Signature", "The signature of time and body."),
            sent_header("X-Fanfare-Event", "The type of the event."),
            sent_header("X-Fanfare-Delivery", "The id of the delivery, the same for all of its attempts."),
        ],
        "tags": [SENT_EVENTS.0],
        "security": [],
        "requestBody": {"required": true, "content": {"application/json": {"schema": event}}},
        "responses": {
            "2XX": {"description": "Received."},
            "410": {"description": "Gone: the webhook is disabled at once."},
        },
    }})
}

fn sent_header(name: &str, doc: &str) -> Value {
    json!({"name": name, "in": "header", "required": true, "description": doc, "schema": {"type": "string"}})
}

#[cfg(test)]
mod tests;
