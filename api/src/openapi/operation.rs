//! The OpenAPI operation of a route.

use fanfare_domain::{
    Code,
    access::{plan_name, role_name},
    media::Media,
};
use schemars::Schema;
use serde_json::{Map, Value, json};

use super::{Schemas, headers, parameters, refusals};
use crate::{Route, Success, health::Health, hints::Hints, multipart};

/// Returns the operation of a route; named types of its bodies are added to the schemas.
pub fn of(route: &Route, schemas: &mut Schemas) -> Value {
    let bodies = route.bodies(&mut schemas.replies);
    let last = bodies.last().cloned();
    let replies =
        route.replies.iter().flatten().zip(bodies.into_iter().chain(last.into_iter().cycle()));
    let mut responses: Map<String, Value> = replies.map(response).collect();
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
        "x-role": role_name(route.policy.role),
    });
    if route.public.is_some() {
        operation["security"] = json!([]);
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

/// Returns the body of a file sent as `multipart/form-data`.
fn form() -> Value {
    let optional = |doc: &str| json!({"type": "string", "description": doc});
    json!({
        "type": "object",
        "required": [multipart::FILE],
        "properties": {
            (multipart::FILE): {"type": "string", "format": "binary", "description": "The file."},
            "filename": optional("Name for people; that of the part if left out."),
            "content_type": optional("Media type; that of the part, or of the bytes, if left out."),
            "workspace_id": optional("The workspace, for a key without one."),
        },
    })
}

fn response((success, schema): (&Success, Schema)) -> (String, Value) {
    let body = json!({
        "description": success.doc,
        "headers": headers::api(),
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
    json!({"put": {
        "operationId": "send_upload",
        "summary": "Send an announced file: exactly its bytes, with the headers of the announcement, once",
        "description": "The whole address is `upload_url` of the announcement. Needs no key.",
        "tags": ["media"],
        "security": [],
        "parameters": [{"name": "token", "in": "path", "required": true, "schema": {"type": "string"}}],
        "requestBody": {"required": true, "content": {"*/*": file}},
        "responses": responses,
    }})
}

/// Returns the operation of a health check, which needs no key.
pub fn health(name: &str, summary: &str, ill: bool, schemas: &mut Schemas) -> Value {
    let status = json!({"schema": schemas.replies.subschema_for::<Health>()});
    let mut responses = Map::new();
    let well = json!({"description": "Yes.", "content": {"application/json": status}});
    responses.insert("200".to_owned(), well);
    if ill {
        responses.extend(refusals::responses(&[Code::Unavailable], &headers::common()));
    }
    json!({"get": {
        "operationId": name, "summary": summary, "tags": ["discovery"], "security": [],
        "responses": responses,
    }})
}
