//! The OpenAPI operation of a route.

use fanfare_core::{
    Code,
    access::{Role, plan_name, role_name},
};
use fanfare_publishing::media::{Media, signed::UploadState};
use schemars::Schema;
use serde_json::{Map, Value, json};

use super::{Schemas, headers, parameters, refusals};
use crate::{BelongsTo, Method, Route, Success, health::Health, hints::Hints, multipart};

/// Returns the operation of a route; named types of its bodies are added to the schemas.
pub fn of(route: &Route, schemas: &mut Schemas) -> Value {
    let bodies = route.bodies(&mut schemas.replies);
    let last = bodies.last().cloned();
    let replies =
        route.replies.iter().flatten().zip(bodies.into_iter().chain(last.into_iter().cycle()));
    let mut given = headers::api();
    if route.method.writes() {
        given = headers::with_replayed(&given);
    }
    if route.versioned.is_some() && route.method != Method::Delete {
        given = headers::with_version(&given);
    }
    let mut responses: Map<String, Value> = replies.map(|reply| response(reply, &given)).collect();
    responses.extend(refusals::responses(&refusals::codes(route), &headers::api()));
    let mut operation = json!({
        "operationId": route.name,
        "summary": route.summary,
        "description": needs(route),
        "tags": [route.tag],
        "parameters": parameters::of(route, &mut schemas.requests),
        "responses": responses,
        "x-command": route.command(),
        "x-when": route.when,
        "x-hints": Hints::of(route),
        "x-limit": route.bucket.as_str(),
        "x-belongs-to": route.policy.belongs_to.as_str(),
        "x-role": role_name(route.policy.role),
    });
    if route.public.is_some() {
        operation["security"] = json!([]);
    }
    if !route.shows.is_empty() {
        operation["x-shows"] = route.shows.into();
    }
    if let Some(scope) = route.policy.scope {
        operation["x-scope"] = scope.as_str().into();
    }
    if let Some(body) = route.body {
        let example: Value = serde_json::from_str(body.example).unwrap_or_default();
        let is_required = (body.check)(json!({})).is_err();
        let content = json!({"schema": (body.schema)(&mut schemas.requests), "example": example});
        operation["requestBody"] =
            json!({"required": is_required, "content": {"application/json": content}});
        if route.takes_form {
            operation["requestBody"]["content"]["multipart/form-data"] = json!({"schema": form()});
        }
    }
    operation
}

/// Returns the body of a file sent as `multipart/form-data`. It names its parts in words: generators of TypeScript import
/// the model of a form beside a JSON body, and do not write it.
fn form() -> Value {
    let part = json!({"type": "string", "format": "binary"});
    json!({
        "type": "object",
        "required": [multipart::FILE],
        "additionalProperties": part,
        "description": "The part `file` has the bytes. Optional parts: `filename`, the name for people; `content_type`, \
            the media type, else that of the part or of the bytes; `workspace_id`, for a key without one.",
    })
}

fn response((success, schema): (&Success, Schema), given: &Value) -> (String, Value) {
    let body = json!({
        "description": success.doc,
        "headers": given,
        "content": {"application/json": {"schema": schema}},
    });
    (success.status.to_string(), body)
}

/// Returns the requirements of a route as one sentence.
pub fn needs(route: &Route) -> String {
    let (policy, rule) = (&route.policy, route.bucket.rule());
    if route.public.is_some() {
        return format!("Needs no key. At most {} {}.", rule.limit, rule.what);
    }
    let scope = match policy.scope {
        Some(scope) => match policy.or_scope {
            Some(or) => format!("the scope `{}` or `{}`", scope.as_str(), or.as_str()),
            None => format!("the scope `{}`", scope.as_str()),
        },
        None => "any key".to_owned(),
    };
    let mut text = format!("Needs {scope} and the role {}", role_name(policy.role));
    if let Some(raised) = policy.raised {
        let fields = raised.fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>();
        text += &format!(" ({} with {})", role_name(raised.role), fields.join(" or "));
    }
    if let Some(drafts) = policy.drafts {
        text += &format!(" ({} {})", role_name(Role::Editor), drafts.doc());
    }
    if policy.belongs_to == BelongsTo::Person {
        text += "; a key or token that is bound to one workspace cannot use it";
    }
    if let Some(plan) = policy.plan {
        text += &format!(", on the plan {} or larger", plan_name(plan));
    }
    text + &format!(". At most {} {}.", rule.limit, rule.what)
}

/// Returns the operation that receives an announced file; the token in its path replaces a key.
pub fn upload(schemas: &mut Schemas) -> Value {
    let media = schemas.replies.subschema_for::<Media>();
    let codes = [
        Code::NotFound,
        Code::MediaTypeMismatch,
        Code::MediaTypeUnsupported,
        Code::UploadSizeMismatch,
        Code::UnsupportedMediaType,
        Code::RateLimited,
        Code::InternalError,
        Code::Unavailable,
    ];
    let mut responses = refusals::responses(&codes, &headers::common());
    let taken = json!({
        "description": "The file is stored.",
        "content": {"application/json": {"schema": media}},
    });
    responses.insert("201".to_owned(), taken);
    let file = json!({"schema": {"type": "string", "format": "binary"}});
    let token =
        json!([{"name": "token", "in": "path", "required": true, "schema": {"type": "string"}}]);
    let state = schemas.replies.subschema_for::<UploadState>();
    let codes = [Code::NotFound, Code::RateLimited, Code::InternalError, Code::Unavailable];
    let mut states = refusals::responses(&codes, &headers::common());
    let known = json!({
        "description": "Whether the file is stored, and until when it can be sent.",
        "content": {"application/json": {"schema": state}},
    });
    states.insert("200".to_owned(), known);
    json!({"get": {
        "operationId": "get_upload",
        "summary": "Show whether an announced file is stored, after an answer that was lost",
        "description": "The whole address is `upload_url` of the announcement. Needs no key.",
        "tags": ["media"],
        "security": [],
        "parameters": token,
        "responses": states,
    }, "put": {
        "operationId": "send_upload",
        "summary": "Send an announced file: exactly its bytes, with the headers of the announcement, once",
        "description": "The whole address is `upload_url` of the announcement. Needs no key.",
        "tags": ["media"],
        "security": [],
        "parameters": token,
        "requestBody": {"required": true, "content": {"*/*": file}},
        "responses": responses,
    }})
}

/// Returns the operation of a health check, which needs no key, with these refusals.
pub fn health(name: &str, summary: &str, codes: &[Code], schemas: &mut Schemas) -> Value {
    let status = json!({"schema": schemas.replies.subschema_for::<Health>()});
    let mut responses = refusals::responses(codes, &headers::common());
    let well = json!({"description": "Yes.", "content": {"application/json": status}});
    responses.insert("200".to_owned(), well);
    json!({"get": {
        "operationId": name, "summary": summary, "tags": ["discovery"], "security": [],
        "description": "For load balancers and monitoring. Needs no key.",
        "responses": responses,
    }})
}
