use std::collections::HashSet;

use fanfare_core::access::{Role, Scope};
use schemars::SchemaGenerator;
use serde_json::Value;

use super::*;
use crate::WorkspaceScope;

fn properties(schema: &Value) -> HashSet<String> {
    let properties = schema["properties"].as_object();
    properties.map(|all| all.keys().cloned().collect()).unwrap_or_default()
}

fn of_query(route: &Route) -> HashSet<String> {
    let schema = route.query.map(|query| (query.schema)(&mut SchemaGenerator::default()));
    schema.map(|schema| properties(schema.as_value())).unwrap_or_default()
}

fn of_body(route: &Route) -> HashSet<String> {
    let Some(body) = route.body else { return HashSet::new() };
    let mut generator = SchemaGenerator::default();
    let reference = (body.schema)(&mut generator);
    let name = reference.get("$ref").and_then(Value::as_str).unwrap();
    let name = name.rsplit('/').next().unwrap();
    properties(&generator.definitions()[name])
}

#[test]
fn no_route_and_no_name_stands_twice() {
    let routes: HashSet<_> = ROUTES.iter().map(|route| (route.method, route.path)).collect();
    let names: HashSet<_> = ROUTES.iter().map(|route| route.name).collect();
    assert_eq!((routes.len(), names.len()), (ROUTES.len(), ROUTES.len()));
}

#[test]
fn every_route_is_documented() {
    for route in ROUTES {
        assert!(route.path.starts_with("/api/v1/"), "{}", route.path);
        assert!(!route.tag.is_empty() && !route.summary.is_empty(), "{}", route.name);
        assert!(route.replies[0].is_some(), "{} has no answer", route.name);
        let sentence = route.when.ends_with('.') && route.when.starts_with("Use it ");
        assert!(sentence && route.when.len() < 160, "{}: {}", route.name, route.when);
    }
}

#[test]
fn the_workspace_of_a_request_can_be_named_in_it() {
    for route in ROUTES {
        let in_path: Vec<_> = route.path_parameters().collect();
        let (query, body) = (of_query(route), of_body(route));
        let named = match route.policy.workspace {
            WorkspaceScope::Home => !query.contains("workspace_id"),
            WorkspaceScope::Query => query.contains("workspace_id"),
            WorkspaceScope::Body => body.contains("workspace_id"),
            WorkspaceScope::AccountInQuery | WorkspaceScope::AccountFilter => {
                query.contains("account_id")
            }
            WorkspaceScope::Targets => body.contains("targets"),
            WorkspaceScope::AccountInBody => body.contains("account_id"),
            WorkspaceScope::Post
            | WorkspaceScope::PostSet
            | WorkspaceScope::Account
            | WorkspaceScope::Webhook
            | WorkspaceScope::Brand
            | WorkspaceScope::Media
            | WorkspaceScope::ConnectSession
            | WorkspaceScope::Conversation
            | WorkspaceScope::Comment
            | WorkspaceScope::Suggestion
            | WorkspaceScope::VideoJob => {
                in_path.contains(&"id")
                    && !query.contains("workspace_id")
                    && !body.contains("workspace_id")
            }
        };
        assert!(named, "{}", route.name);
        if let Some(raised) = route.policy.raised {
            assert!(raised.fields.iter().all(|field| body.contains(*field)), "{}", route.name);
        }
    }
}

#[test]
fn whoever_changes_something_is_more_than_a_viewer_and_needs_a_scope() {
    // A public route has no policy, and every role may use support and feedback.
    let with_policy =
        ROUTES.iter().filter(|route| route.public.is_none() && route.tag != "feedback");
    for route in with_policy {
        let scope = route.policy.scope.map(Scope::as_str).unwrap_or_default();
        // This one only answers questions, in a body for their length.
        if route.method.writes() && route.name != "run_video_function" {
            // A person's own subscription, keys and apps are no workspace's affair, so no role in one counts. The
            // domain asks for more where a key is for a workspace.
            let is_own = scope == "billing:write" || !route.policy.allows_tokens;
            let needs_role = !is_own;
            assert!(!needs_role || route.policy.role > Role::Viewer, "{}", route.name);
            assert!(scope.ends_with(":write"), "{}", route.name);
        } else {
            assert!(route.body.is_none() || route.name == "run_video_function", "{}", route.name);
            // Files have one scope for both.
            let is_reading =
                scope.ends_with(":read") || scope == "media:write" || route.tag == "sandbox";
            // Every key may know this of itself.
            let is_of_any_key = ["whoami", "list_rate_limits"].contains(&route.name);
            assert!(is_reading || is_of_any_key, "{}", route.name);
        }
    }
}

#[test]
fn an_account_decides_the_workspace_wherever_it_is_named() {
    for route in ROUTES {
        let scope = route.policy.workspace;
        let in_query = of_query(route).contains("account_id");
        let in_body = of_body(route).contains("account_id") && route.name != "update_post";
        let decides = match scope {
            WorkspaceScope::AccountInQuery | WorkspaceScope::AccountFilter => in_query,
            WorkspaceScope::AccountInBody => in_body,
            _ => !in_query && !in_body,
        };
        assert!(decides, "{}: {scope:?}", route.name);
    }
}

#[test]
fn every_example_is_a_body_of_its_route() {
    for route in ROUTES {
        let Some(body) = route.body else { continue };
        let example = crate::json::parse(body.example.as_bytes()).unwrap();
        (body.check)(example).unwrap_or_else(|error| panic!("{}: {error}", route.name));
    }
}

/// The texts of a schema's fields that have no end.
fn endless(schema: &serde_json::Value) -> Vec<String> {
    let is = |schema: &serde_json::Value, kind: &str| match &schema["type"] {
        serde_json::Value::String(one) => one == kind,
        serde_json::Value::Array(several) => several.iter().any(|one| one == kind),
        _ => false,
    };
    let fields = schema["properties"].as_object().into_iter().flatten();
    let texts = fields.map(|(name, schema)| {
        let of = if is(schema, "array") { &schema["items"] } else { schema };
        (name, of)
    });
    let endless = texts.filter(|(_, schema)| {
        let known = schema["maxLength"].is_u64() || !schema["enum"].is_null();
        is(schema, "string") && !known && schema["format"] != "uuid"
    });
    endless.map(|(name, _)| name.clone()).collect()
}

#[test]
fn every_text_of_every_route_has_a_length() {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let mut generator =
        settings.with(|settings| settings.inline_subschemas = true).into_generator();
    for route in ROUTES {
        let body = route.body.map(|body| (body.schema)(&mut generator));
        let query = route.query.map(|query| (query.schema)(&mut generator));
        for schema in body.into_iter().chain(query) {
            assert_eq!(endless(&schema.to_value()), Vec::<String>::new(), "{}", route.name);
        }
    }
    let open = serde_json::json!({"properties": {"a": {"type": ["string", "null"]}}});
    assert_eq!(endless(&open), ["a"]);
}

#[test]
fn what_leads_out_of_a_refusal_is_an_operation() {
    for lead in fanfare_core::remedies::OPERATIONS {
        let route = ROUTES.iter().find(|route| route.name == lead.name);
        let found = route.map(|route| (route.method.as_str(), route.path));
        assert_eq!(found, Some((lead.method, lead.path)), "{}", lead.name);
        // A call needs exactly what the route needs.
        let policy = &route.unwrap().policy;
        assert_eq!(
            (policy.scope, policy.role, policy.plan),
            (lead.scope, lead.role, lead.plan),
            "{}",
            lead.name
        );
        let takes = |field: &str| {
            of_query(route.unwrap()).contains(field) || of_body(route.unwrap()).contains(field)
        };
        // An account or a post that is named decides the workspace.
        let is_found = lead.path.contains("{id}") || takes("account_id") && lead.method != "GET";
        assert_eq!(lead.in_workspace, takes("workspace_id") && !is_found, "{}", lead.name);
    }
}
