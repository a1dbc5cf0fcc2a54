//! Examples of a request: with `curl`, as a command and as a tool call.

use serde_json::{Map, Value, json};

use crate::{Route, openapi};

const UUID: &str = "0192f0c1-2d3e-7a4b-8c5d-6e7f8a9b0c1d";

/// The id of a signup: 256 bits in base64.
const SIGNUP: &str = "3q2-7wAAESIzRFVmd4iZqrvM3e7_ABEiM0RVZneImao";

/// Operations of the simulated networks whose example is about an inbox or a day.
const INBOX: [&str; 5] = [
    "create_sandbox_item",
    "list_sandbox_inbox",
    "update_sandbox_item",
    "delete_sandbox_item",
    "set_sandbox_metrics",
];

/// Returns the `curl` command, for a shell with `FANFARE_API_KEY`.
pub fn curl(base_url: &str, route: &Route) -> String {
    let method = match route.method {
        crate::Method::Get => String::new(),
        other => format!("-X {} ", other.as_str()),
    };
    let address = format!("{base_url}{}", address(route));
    let mut line = format!("curl {method}{}", quoted(&address));
    if route.public.is_none() {
        line += " \\\n  -H \"Authorization: Bearer $FANFARE_API_KEY\"";
    }
    if let Some(body) = route.body {
        line += " \\\n  -H \"Content-Type: application/json\"";
        line += &format!(" \\\n  -d {}", quoted(body.example));
    }
    line
}

/// Returns the `fanfare` command.
pub fn command(route: &Route) -> String {
    let mut line = route.command();
    for name in route.path_parameters() {
        line += &format!(" {}", value(route, name));
    }
    for (name, value) in query(route) {
        line += &format!(" --{} {value}", name.replace('_', "-"));
    }
    match route.body {
        Some(body) => format!("echo {} \\\n  | {line} --input -", quoted(body.example)),
        None => line,
    }
}

/// Returns the MCP tool call.
pub fn tool_call(route: &Route) -> String {
    let mut arguments = Map::new();
    for name in route.path_parameters() {
        let text = value(route, name);
        let number = text.parse::<i64>().map(Value::from);
        arguments.insert(name.to_owned(), number.unwrap_or_else(|_| text.into()));
    }
    for (name, value) in query(route) {
        arguments.insert((*name).to_owned(), Value::from(*value));
    }
    if let Some(Value::Object(body)) = body(route) {
        arguments.extend(body);
    }
    pretty(&json!({"name": route.name, "arguments": arguments}))
}

/// Returns a value as indented JSON.
pub fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Returns the body of the example.
pub fn body(route: &Route) -> Option<Value> {
    route.body.and_then(|body| serde_json::from_str(body.example).ok())
}

/// Returns path and query of the example.
pub fn address(route: &Route) -> String {
    let mut address = route.path.to_owned();
    for name in route.path_parameters() {
        address = address.replace(&format!("{{{name}}}"), value(route, name));
    }
    let query = query(route).iter().map(|(name, value)| format!("{name}={value}"));
    let query = query.collect::<Vec<_>>().join("&");
    if query.is_empty() { address } else { format!("{address}?{query}") }
}

fn value(route: &Route, parameter: &str) -> &'static str {
    let is_numbered = openapi::path_schema(route, "id")["type"] == "integer";
    match parameter {
        "id" if is_numbered => "42",
        // Messages, comments and numbers of days are not there on every network.
        "platform" if route.name == "set_sandbox_reviews" => "google_business",
        "platform" if INBOX.contains(&route.name) => "instagram",
        "client_id" => "app_0123456789abcdefghijABCD",
        "platform" => "bluesky",
        "session_id" => SIGNUP,
        "group" => "launch",
        _ => UUID,
    }
}

/// Returns the query parameters without which the example would fail.
fn query(route: &Route) -> &'static [(&'static str, &'static str)] {
    match route.name {
        "delete_post_group" => &[("confirm", "true")],
        "delete_workspace" => &[("name", "Bakery")],
        "list_sandbox_posts"
        | "list_sandbox_inbox"
        | "list_sandbox_faults"
        | "reset_sandbox_faults"
        | "delete_sandbox_item"
        | "delete_sandbox_post" => &[("account_id", "7")],
        "delete_review_reply" => &[("review_id", "42")],
        "delete_business_media" => &[("media_name", "accounts/1/locations/2/media/3")],
        "find_available_slot" => &[("account_id", "7")],
        _ => &[],
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn no_example_has_a_hole() {
        for route in ROUTES {
            let line = curl("https://f.example", route);
            let first = line.lines().next().unwrap();
            assert!(!first.contains('{'), "{line}");
            assert_eq!(line.contains("$FANFARE_API_KEY"), route.public.is_none(), "{line}");
            assert_eq!(line.contains("-d '"), route.body.is_some(), "{line}");
            let call: Value = serde_json::from_str(&tool_call(route)).unwrap();
            assert_eq!(call["name"], route.name);
        }
    }

    #[test]
    fn a_request_has_its_three_forms() {
        let route = ROUTES.iter().find(|route| route.name == "get_post").unwrap();
        assert_eq!(command(route), "fanfare posts get 42");
        assert!(tool_call(route).contains("\"id\": 42"));
        assert_eq!(address(route), "/api/v1/posts/42");
        let route = ROUTES.iter().find(|route| route.name == "update_post_status").unwrap();
        assert!(command(route).ends_with("| fanfare posts update-status 42 --input -"));
    }
}
