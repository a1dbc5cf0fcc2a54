//! Brands: their accounts are counted, and their profile is what was written down.

use fanfare_core::{WorkspaceId, access::Scope};
use fanfare_publishing::brands::voice::{self, Voice};
use fanfare_tests::{Options, TestApp};
use serde_json::{Value, json};

#[tokio::test]
async fn a_brand_has_its_accounts_and_its_profile() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("owner@example.com").await;
    let workspace: WorkspaceId = app.workspace(owner).await;
    let user = app.key(owner, Some(workspace), &Scope::ALL).await;
    let (full, empty) = (app.brand(workspace, &[]).await, app.brand(workspace, &[]).await);
    let account = json!({"platform": "bluesky", "workspace_client_id": full});
    let _ = user.post("/api/v1/sandbox/accounts", account).await.expect(201);
    let listed = user.get("/api/v1/brands").await.expect(200).body;
    let listed = listed["brands"].as_array().unwrap();
    let count = |id: fanfare_core::BrandId| {
        let of = listed.iter().find(|brand| brand["id"] == json!(id)).unwrap();
        (of["source"].clone(), of["account_count"].clone())
    };
    assert_eq!(count(full), (json!("canonical"), json!(1)));
    assert_eq!(count(empty), (json!("canonical"), json!(0)));
    let path = format!("/api/v1/brands/{full}");
    assert_eq!(user.get(&path).await.expect(200).body["brand"]["account_count"], 1);
    let profile =
        async || user.get(&format!("{path}/profile")).await.expect(200).body["profile"].clone();
    let before = profile().await;
    assert_eq!((&before["voice"], &before["keywords"]), (&Value::Null, &json!([])));
    let written =
        json!({"voice": "Warm", "keywords": ["paper", "ink"], "topics_to_avoid": ["politics"]});
    let written: Voice = serde_json::from_value(written).unwrap();
    let id = full.to_string();
    let same = voice::set_named(&app.domain, workspace, &id, written).await.unwrap();
    assert_eq!(same, full);
    let after = profile().await;
    assert_eq!((&after["voice"], &after["tone"]), (&json!("Warm"), &Value::Null));
    assert_eq!(after["keywords"], json!(["paper", "ink"]));
    assert_eq!(
        (&after["brand_id"], &after["topics_to_avoid"]),
        (&json!(full), &json!(["politics"]))
    );
    let long: Voice = serde_json::from_value(json!({"voice": "x".repeat(2_001)})).unwrap();
    let refused = voice::set_named(&app.domain, workspace, &id, long).await.unwrap_err();
    assert_eq!(refused.code(), fanfare_core::Code::InvalidField);
    assert_eq!(profile().await, after, "what is refused changes nothing");
    let stranger = app.user().await;
    let _ = stranger.get(&format!("{path}/profile")).await.refused(404, "brand_not_found");
}
