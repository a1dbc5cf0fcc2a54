//! Money per customer: each entry of the ledger says for whom it was spent, sums agree with the entries, and nothing costs
//! more than its caller allows.

use std::collections::BTreeMap;

use fanfare_core::access::{Role, Scope};
use fanfare_tests::{TestApp, User};
use serde_json::{Value, json};

async fn spend(user: &User, path: &str, mut body: Value, more: &Value) -> fanfare_tests::ApiReply {
    let more = more.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(more);
    user.post(path, body).await
}

/// The requests that spend, each with its price in credits.
fn spenders() -> [(&'static str, Value); 3] {
    [
        (
            "/api/v1/ai/generate-captions",
            json!({"brief": "Brunch every Sunday", "platforms": ["bluesky"]}),
        ),
        ("/api/v1/ai/generate-image", json!({"prompt": "a harbour"})),
        ("/api/v1/ai/generate-video", json!({"prompt": "a harbour"})),
    ]
}

async fn available(user: &User) -> i64 {
    user.get("/api/v1/credits").await.expect(200).body["wallet"]["available"].as_i64().unwrap()
}

async fn sums(user: &User, query: &str, name: &str) -> BTreeMap<String, i64> {
    let all = user.get(&format!("/api/v1/credits/usage?{query}")).await.expect(200).body;
    let rows = all["usage"].as_array().unwrap().iter();
    let rows: BTreeMap<_, _> = rows
        .map(|row| {
            let key = row[name].as_str().unwrap_or("-").to_owned();
            (key, row["credits"].as_i64().unwrap())
        })
        .collect();
    assert_eq!(all["total"].as_i64().unwrap(), rows.values().sum::<i64>(), "{all}");
    rows
}

#[tokio::test]
async fn nothing_costs_more_than_the_caller_allows() {
    let app = TestApp::start().await;
    let user = app.user().await;
    for (path, body) in spenders() {
        let price = spend(&user, path, body.clone(), &json!({"dry_run": true})).await.expect(200);
        let price = price.body["credits"].as_i64().unwrap();
        assert!(price > 0, "{path}");
        let before = available(&user).await;
        let refused = spend(&user, path, body.clone(), &json!({"max_credits": price - 1})).await;
        let refused = refused.refused(400, "invalid_field");
        let flaw = &refused.body["validation_errors"][0];
        assert_eq!(
            (&flaw["field"], &flaw["limit"], &flaw["actual"]),
            (&json!("max_credits"), &json!(price - 1), &json!(price)),
            "{path}"
        );
        assert_eq!(available(&user).await, before, "{path}");
        let made = spend(&user, path, body.clone(), &json!({"max_credits": price})).await;
        assert!([200, 201, 202].contains(&made.status), "{path}: {}", made.text);
        for flawed in [json!({"max_credits": -1}), json!({"reference": "x".repeat(201)})] {
            spend(&user, path, body.clone(), &flawed).await.refused(400, "invalid_field");
        }
    }
}

#[tokio::test]
async fn the_ledger_and_its_sums_say_for_whom_credits_went() {
    let app = TestApp::start().await;
    let owner = app.person("owner@example.com").await;
    let free = app.key(owner, None, &Scope::ALL).await;
    let team = app.workspace(owner).await;
    let bound = app.key(owner, Some(team), &Scope::ALL).await;
    let (_, colleague) = app.member(team, Role::Publisher).await;
    let (path, body) = (spenders()[0].0, spenders()[0].1.clone());
    let mut wanted: BTreeMap<&str, BTreeMap<String, i64>> = BTreeMap::new();
    let own = free.get("/api/v1/whoami").await.expect(200).body["default_workspace"]["id"].clone();
    for (user, place, customer) in [
        (&free, own.as_str().unwrap(), Some("customer 1")),
        (&free, own.as_str().unwrap(), None),
        (&bound, &*team.to_string(), Some("customer 2")),
        (&bound, &*team.to_string(), Some("customer 1")),
        (&colleague, &*team.to_string(), Some("customer 2")),
    ] {
        let key = user.get("/api/v1/whoami").await.expect(200).body["key"]["id"].clone();
        let made =
            spend(user, path, body.clone(), &json!({"reference": customer})).await.expect(200);
        let spent = made.body["credits_spent"].as_i64().unwrap();
        for (by, name) in [
            ("workspace", place),
            ("key", key.as_str().unwrap()),
            ("reference", customer.unwrap_or("-")),
        ] {
            *wanted.entry(by).or_default().entry(name.to_owned()).or_default() += spent;
        }
        let ledger = user.get("/api/v1/credits/ledger").await.expect(200).body["ledger"].clone();
        for entry in &ledger.as_array().unwrap()[..2] {
            assert_eq!(
                (&entry["key_id"], &entry["reference"], &entry["workspace_id"]),
                (&key, &json!(customer), &json!(place)),
                "{entry}"
            );
        }
    }
    assert_eq!(sums(&free, "", "workspace_id").await, wanted["workspace"]);
    assert_eq!(sums(&free, "by=key", "key_id").await, wanted["key"]);
    assert_eq!(sums(&free, "by=reference", "reference").await, wanted["reference"]);
    // A credential of one workspace sees the sums of that workspace alone.
    for user in [&bound, &colleague] {
        let seen = sums(user, "by=workspace", "workspace_id").await;
        assert_eq!(seen.into_keys().collect::<Vec<_>>(), [team.to_string()]);
        let seen = sums(user, "by=reference", "reference").await;
        assert_eq!(seen.into_values().sum::<i64>(), wanted["workspace"][&team.to_string()]);
    }
    let later = app.at(3_600).replace('+', "%2B");
    assert_eq!(sums(&free, &format!("since={later}"), "workspace_id").await, BTreeMap::new());
    assert_eq!(sums(&free, &format!("until={later}"), "workspace_id").await, wanted["workspace"]);
    free.get("/api/v1/credits/usage?since=yesterday").await.expect(400);
    free.get("/api/v1/credits/usage?by=colour").await.refused(400, "invalid_field");
}
