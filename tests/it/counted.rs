//! A refusal of a number, a text or a list that is too long says its bound and what was sent as data, wherever it is refused.

use std::collections::BTreeSet;

use fanfare_tests::{Options, TestApp};
use serde_json::{Value, json};

/// The operations of the document that read, need nothing in their path, and take whole numbers, with the names of these.
fn numbers_in_queries() -> Vec<(String, Vec<String>)> {
    let document: Value = serde_json::from_str(include_str!("../../docs/openapi.json")).unwrap();
    let paths = document["paths"].as_object().unwrap().iter();
    let reads = paths.filter(|(path, _)| !path.contains('{') && path.starts_with("/api/"));
    let named = reads.map(|(path, operations)| {
        let parameters = operations["get"]["parameters"].as_array().cloned().unwrap_or_default();
        let is_whole = |one: &&Value| {
            let kind = &one["schema"]["type"];
            kind == "integer" || kind == &json!(["integer", "null"])
        };
        let names = parameters.iter().filter(is_whole).filter_map(|one| one["name"].as_str());
        (path.clone(), names.map(str::to_owned).collect())
    });
    named.filter(|(_, names): &(_, Vec<_>)| !names.is_empty()).collect()
}

#[tokio::test]
async fn a_number_out_of_its_range_is_refused_with_the_bound() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let mut seen = BTreeSet::new();
    for (path, names) in numbers_in_queries() {
        for name in names {
            for sent in [-7_i64, 1_000_000] {
                let reply = user.get(&format!("{path}?{name}={sent}")).await;
                let broken =
                    reply.body["validation_errors"].as_array().cloned().unwrap_or_default();
                let Some(one) = broken.iter().find(|one| one["field"] == name.as_str()) else {
                    continue;
                };
                // A number of a thing that there is not is no number out of a range.
                if one["code"] != "invalid_field" || name == "after" || name.ends_with("_id") {
                    continue;
                }
                let what = format!("{path}?{name}={sent}: {one:#}");
                assert_eq!(one["actual"], sent, "{what}");
                let limit = one["limit"].as_i64().unwrap_or_else(|| panic!("{what}"));
                assert_eq!(limit > sent, sent < 0, "{what}");
                assert!(one["remedy"].as_str().unwrap().contains(&limit.to_string()), "{what}");
                seen.insert((path.clone(), name.clone()));
            }
        }
    }
    let limits = seen.iter().filter(|(_, name)| name == "limit").count();
    assert!(limits > 12, "{seen:?}");
    for name in ["offset", "count", "wait"] {
        assert!(seen.iter().any(|(_, seen)| seen == name), "{name}: {seen:?}");
    }
}

#[tokio::test]
async fn a_text_or_a_list_that_is_too_long_is_refused_with_its_bound_and_unit() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let many = |count: usize| vec!["https://example.com/x"; count];
    let feedback = json!({"category": "bug", "title": "ab", "description": "Long enough to read", "confirm": true});
    let table = [
        ("POST", "/api/v1/feedback", feedback, ("title", 3, 2, "characters")),
        (
            "POST",
            "/api/v1/media/upload",
            json!({"filename": "x".repeat(1_000), "content_type": "image/png", "data": ""}),
            ("filename", 255, 1_000, "characters"),
        ),
        (
            "POST",
            "/api/v1/media/drop-sessions",
            json!({"filename": "x".repeat(200)}),
            ("filename", 120, 200, "characters"),
        ),
        (
            "PATCH",
            "/api/v1/connect/settings",
            json!({"return_urls": many(11)}),
            ("return_urls", 10, 11, "entries"),
        ),
    ];
    for (method, path, body, (field, limit, actual, unit)) in table {
        let method = method.parse().unwrap();
        let refused = user.send(method, path, &[], Some(&body)).await.expect(400).body;
        let all = refused["validation_errors"].as_array().unwrap();
        let one = all.iter().find(|one| one["field"] == field);
        let one = one.unwrap_or_else(|| panic!("{path}: {refused:#}"));
        assert_eq!(
            (&one["limit"], &one["actual"], &one["unit"]),
            (&json!(limit), &json!(actual), &json!(unit)),
            "{path}: {one:#}"
        );
    }
    user.connect("threads").await;
    let days = user.get("/api/v1/analytics/accounts?from=2024-01-01&to=2025-12-31").await;
    let one = &days.expect(400).body["validation_errors"][0];
    assert_eq!(
        (&one["limit"], &one["actual"], &one["unit"]),
        (&json!(366), &json!(731), &json!("days"))
    );
}
