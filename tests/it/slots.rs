//! The time at which accounts like to post.

use fanfare_core::access::Role;
use fanfare_tests::TestApp;
use serde_json::json;

#[tokio::test]
async fn the_next_slot_is_the_first_at_which_nothing_is_planned() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let id = user.connect("bluesky").await;
    let path = format!("/api/v1/accounts/{id}/slots");
    let usual = user.get(&path).await.expect(200).body["slots"].clone();
    assert_eq!(
        (usual["times"].clone(), usual["timezone"].as_str(), usual["default"].as_bool()),
        (json!(["09:00", "12:00", "17:00"]), Some("UTC"), Some(true))
    );
    let grid = json!({"times": ["18:15", "08:30"], "days": ["monday", "thursday"], "timezone": "Europe/Berlin"});
    let set = user.put(&path, grid).await.expect(200).body["slots"].clone();
    assert_eq!(
        (set["times"].clone(), set["default"].as_bool()),
        (json!(["08:30", "18:15"]), Some(false))
    );
    assert_eq!(user.get(&path).await.expect(200).body["slots"], set);

    let after = "2031-07-14T00:00:00Z";
    let next = || async {
        let path = format!("/api/v1/slots/next?account_id={id}&after={after}");
        user.get(&path).await.expect(200).body["slot"].clone()
    };
    let first = next().await;
    assert_eq!(
        (first["scheduled_at"].as_str(), first["local_time"].as_str()),
        (Some("2031-07-14T06:30:00.000Z"), Some("2031-07-14T08:30:00+02:00"))
    );
    assert!(first["reason"].as_str().unwrap().contains("08:30, 18:15 Europe/Berlin"));
    user.publish(
        json!({"account_id": id, "caption": "Taken", "scheduled_at": first["scheduled_at"]}),
    )
    .await;
    assert_eq!(next().await["scheduled_at"], "2031-07-14T16:15:00.000Z");
    user.publish(json!({"account_id": id, "caption": "Taken", "scheduled_at": "2031-07-14T16:15:00Z", "status": "draft"})).await;
    assert_eq!(next().await["scheduled_at"], "2031-07-17T06:30:00.000Z");
    let zoned = user
        .get(&format!("/api/v1/slots/next?account_id={id}&after={after}&timezone=UTC"))
        .await
        .expect(200);
    assert_eq!(zoned.body["slot"]["scheduled_at"], "2031-07-14T08:30:00.000Z");
}

#[tokio::test]
async fn a_bad_grid_and_a_bad_question_are_refused() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let id = user.connect("bluesky").await;
    let path = format!("/api/v1/accounts/{id}/slots");
    let wrong = json!({"times": ["9", "24:00"], "days": ["someday"], "timezone": "Mars/Base"});
    let refused = user.put(&path, wrong).await.refused(400, "invalid_field");
    assert_eq!(refused.body["validation_errors"].as_array().unwrap().len(), 4);
    let _ = user.put(&path, json!({"times": []})).await.refused(400, "invalid_field");
    let _ = user.put(&path, json!({"time": ["09:00"]})).await.refused(400, "unknown_field");
    let _ = user.get("/api/v1/slots/next?account_id=one").await.refused(400, "invalid_field");
    let _ = user
        .get(&format!("/api/v1/slots/next?account_id={id}&after=tomorrow"))
        .await
        .refused(400, "invalid_timestamp");
    let _ = user
        .get(&format!("/api/v1/slots/next?account_id={id}&timezone=Mars/Base"))
        .await
        .refused(400, "invalid_field");
    let stranger = app.user().await;
    let _ = stranger.get(&path).await.refused(404, "account_not_found");
    let _ = stranger
        .get(&format!("/api/v1/slots/next?account_id={id}"))
        .await
        .refused(404, "account_not_found");
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (_, publisher) = app.member(team, Role::Publisher).await;
    let (_, editor) = app.member(team, Role::Editor).await;
    let shared = publisher.connect("bluesky").await;
    let _ = editor
        .put(&format!("/api/v1/accounts/{shared}/slots"), json!({"times": ["09:00"]}))
        .await
        .refused(403, "insufficient_workspace_permissions");
}
