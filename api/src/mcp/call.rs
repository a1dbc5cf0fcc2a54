//! Runs a tool call as a request to its route.

use fanfare_core::{Code, Error, Result, input::text, page};
use salvo::http::{HeaderValue, ReqBody, Request, ResBody, Response, header::CONTENT_TYPE};
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::{
    admission::OuterRequest,
    arguments,
    schema::{ArgumentLocation, ToolInput},
    shrink,
};
use crate::{
    Route,
    endpoint::{Admitted, CountedBefore, Endpoint},
    oauth,
    progress::Progress,
    query, request_id,
};

/// The longest result, in bytes of text: a share of an agent's context.
const LONGEST: usize = 40_000;

/// The result of a tool call.
pub struct ToolOutcome {
    /// HTTP status.
    pub status: u16,
    /// The body.
    pub body: Value,
}

/// Runs a tool call.
///
/// # Errors
/// All violations of the tool's schema, outside of the body.
pub async fn run(
    endpoint: &Endpoint,
    input: &ToolInput,
    outer: &OuterRequest,
    mut arguments: Map<String, Value>,
    progress: Progress,
) -> Result<ToolOutcome> {
    arguments::check(endpoint.route(), input, &arguments)?;
    let chosen = match input.location(arguments::FIELDS) {
        Some(ArgumentLocation::Reply) => arguments.remove(arguments::FIELDS),
        _ => None,
    };
    let is_read = !endpoint.route().method.writes();
    let mut page_bytes = LONGEST;
    loop {
        let mut req = request(endpoint.route(), input, arguments.clone())?;
        req.extensions_mut().insert(progress.clone());
        if page_bytes < LONGEST {
            req.extensions_mut().insert(CountedBefore);
        }
        let mut outcome = page::limited_to(page_bytes, answer(endpoint, outer, req)).await?;
        if outcome.status >= 400 {
            return Ok(outcome);
        }
        if let Some(Value::String(chosen)) = &chosen {
            shrink::select(&mut outcome.body, chosen)?;
        }
        // Lists are read again with fewer entries, so that their cursor goes on where they end.
        let has_more = is_read && outcome.body.get("next_cursor").is_some() && page_bytes > 1;
        if has_more && outcome.body.to_string().len() > LONGEST {
            page_bytes /= 2;
            continue;
        }
        shrink::fit(&mut outcome.body, LONGEST);
        return Ok(outcome);
    }
}

/// Sends the request to the route.
async fn answer(
    endpoint: &Endpoint,
    outer: &OuterRequest,
    mut req: Request,
) -> Result<ToolOutcome> {
    if let Some(caller) = &outer.caller {
        req.extensions_mut().insert(Admitted(caller.clone()));
    }
    req.extensions_mut().insert(outer.meter.clone());
    req.extensions_mut().insert(outer.address.clone());
    request_id::set(&mut req, &outer.request_id);
    let mut res = Response::new();
    endpoint.respond(&mut req, &mut res).await;
    if let Some(scope) = oauth::missing_scope(&req) {
        let _ = outer.missing_scope.set(scope);
    }
    let status = res.status_code.map_or(200, |status| status.as_u16());
    let text = match res.take_body() {
        ResBody::Once(bytes) => bytes,
        _ => return Err(Error::internal("a reply is not in one piece")),
    };
    let body = serde_json::from_slice(&text).map_err(Error::internal)?;
    Ok(ToolOutcome { status, body })
}

/// Returns the request to a route with these arguments in its path, query and body.
///
/// # Errors
/// [`Code::InvalidField`] for an argument that cannot be part of a path.
pub fn request(
    route: &Route,
    input: &ToolInput,
    mut arguments: Map<String, Value>,
) -> Result<Request> {
    let mut req = Request::new();
    let key = arguments.remove(arguments::KEY).filter(|_| route.method.writes());
    let version = match route.takes_if_match() {
        true => arguments.remove(arguments::IF_MATCH).filter(|version| !version.is_null()),
        false => None,
    };
    let (mut path, mut query) =
        (route.path.to_owned(), form_urlencoded::Serializer::new(String::new()));
    let (mut body, mut has_query) = (Map::new(), false);
    let waits = arguments.contains_key("wait") && !arguments.contains_key("wait_for");
    for (name, value) in arguments {
        match input.location(&name) {
            Some(ArgumentLocation::Path) => {
                let text = in_path(&name, &value)?;
                path = path.replace(&format!("{{{name}}}"), &encoded(&text));
                req.params_mut().insert(&name, text);
            }
            // The route itself refuses an unknown argument, and suggests the nearest known name.
            None if !route.method.writes() => {
                has_query = true;
                query.append_pair(&name, &as_text(&value));
            }
            Some(ArgumentLocation::Query) => {
                if !value.is_null() {
                    has_query = true;
                    query.append_pair(&name, &as_text(&value));
                }
            }
            Some(ArgumentLocation::Reply) => {}
            Some(ArgumentLocation::Body | ArgumentLocation::Header) | None => {
                body.insert(name, value);
            }
        }
    }
    if waits && input.location("wait_for") == Some(ArgumentLocation::Query) {
        // An agent that waits wants to know what became of it.
        query.append_pair("wait_for", "final");
    }
    let uri = if has_query { format!("{path}?{}", query.finish()) } else { path };
    *req.uri_mut() =
        uri.parse().map_err(|_| Error::new(Code::NotFound, "There is no such path."))?;
    *req.method_mut() = route.method.as_str().parse().map_err(Error::internal)?;
    if let Some(key) = key.as_ref().filter(|key| !key.is_null()) {
        let value = HeaderValue::from_str(&as_text(key)).unwrap_or(HeaderValue::from_static(""));
        req.headers_mut().insert("idempotency-key", value);
    }
    if let Some(version) = version {
        let value = HeaderValue::from_str(&as_text(&version));
        req.headers_mut().insert("if-match", value.unwrap_or(HeaderValue::from_static("")));
    }
    if route.method.writes() && (route.body.is_some() || !body.is_empty()) {
        req.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        req.replace_body(ReqBody::Once(Value::Object(body).to_string().into()));
    }
    Ok(req)
}

/// Returns an argument as a segment of the path.
fn in_path(name: &str, value: &Value) -> Result<String> {
    let text = match value {
        Value::String(text) if is_step(text) => Some(text.clone()),
        Value::Number(number) => query::number(&number.to_string()).map(|read| read.to_string()),
        _ => None,
    };
    text.ok_or_else(|| {
        let message =
            format!("{name} must be a number or a text of at most 300 bytes on one line.");
        Error::field(Code::InvalidField, name, message, "Send the id as a reply showed it.")
    })
}

/// Returns true if a text can be a segment of a path. A path by HTTP holds no control characters either.
fn is_step(text: &str) -> bool {
    (1..=300).contains(&text.len()) && text::is_clean(text)
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::routes::ROUTES;

    fn made(name: &str, arguments: Value) -> Request {
        let route = ROUTES.iter().find(|route| route.name == name).unwrap();
        let Value::Object(arguments) = arguments else { panic!("no object") };
        request(route, &ToolInput::of(route), arguments).unwrap()
    }

    #[test]
    fn arguments_go_where_the_route_wants_them() {
        let req = made("update_post", json!({"id": 7, "caption": "x", "idempotency_key": "k"}));
        assert_eq!(req.uri().path(), "/api/v1/posts/7");
        assert_eq!(req.params().get("id").map(String::as_str), Some("7"));
        assert_eq!(req.headers()["idempotency-key"], "k");
        let listed = made("list_posts", json!({"limit": 5, "status": "failed", "cursor": null}));
        assert_eq!(listed.uri().query(), Some("limit=5&status=failed"));
        let foreign = made("get_post", json!({"id": "a/b?c"}));
        assert_eq!(foreign.uri().path(), "/api/v1/posts/a%2Fb%3Fc");
        let route = ROUTES.iter().find(|route| route.name == "delete_post_group").unwrap();
        for odd in ["a\0b", "a\nb", "", &"x".repeat(301)] {
            let sent = Map::from_iter([("group".to_owned(), json!(odd))]);
            let refused = request(route, &ToolInput::of(route), sent).unwrap_err();
            assert_eq!(refused.code(), Code::InvalidField, "{odd:?}");
        }
    }
}
