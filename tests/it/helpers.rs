//! Helper tools, and the allowance for X.

use fanfare_core::access::Scope;
use fanfare_tests::{Options, TestApp};
use serde_json::json;

use crate::connecting;

#[tokio::test]
async fn a_tool_that_nobody_has_is_refused_with_the_reason() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let id = user.connect("bluesky").await;
    let run = |body| user.post("/api/v1/platforms/trigger", body);
    let unknown = run(json!({"tool": "bluesky.magic", "account_id": id}))
        .await
        .refused(404, "tool_not_found");
    assert!(unknown.body["error"].as_str().unwrap().contains("bluesky.magic"));
    let _ = run(json!({"account_id": id})).await.refused(400, "field_required");
    let _ = run(json!({"tool": "x", "account": id})).await.refused(400, "unknown_field");
    let _ = app
        .user()
        .await
        .post("/api/v1/platforms/trigger", json!({"tool": "x", "account_id": id}))
        .await
        .refused(404, "account_not_found");
    // The descriptors list exactly the tools that there are.
    let platforms = user.get("/api/v1/platforms").await.expect(200);
    for platform in platforms.body["platforms"].as_array().unwrap() {
        for tool in platform["helper_tools"].as_array().unwrap() {
            let answer = run(json!({"tool": tool, "account_id": id})).await;
            assert_ne!(answer.body["code"], "tool_not_found", "{tool}");
        }
    }
}

#[tokio::test]
async fn the_allowance_for_x_is_the_workspaces_own() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let quota = user.get("/api/v1/x-posting/quota").await.expect(200).body["quota"].clone();
    assert_eq!((quota["used"].as_i64(), quota["url_blocked"].as_bool()), (Some(0), Some(false)));
    assert_eq!(quota["remaining"], quota["limit"]);
    assert_eq!(quota["plans"].as_array().unwrap().len(), 4);
    let (start, end) =
        (quota["period"]["start"].as_str().unwrap(), quota["period"]["end"].as_str().unwrap());
    assert!(start <= app.at(0).as_str() && app.at(0).as_str() < end);
    let owner = app.person("owner@example.com").await;
    let writer = app.key(owner, None, &[Scope::PostsWrite]).await;
    let _ = writer.get("/api/v1/x-posting/quota").await.refused(403, "insufficient_scope");
}

#[tokio::test]
async fn every_post_of_a_thread_counts_and_a_link_counts_thirteen_times() {
    let app = TestApp::with(Options { stand_ins: true, ..Options::default() }).await;
    let (mut ada, user) = connecting::person(&app).await;
    let simulated = user.connect("x").await;
    app.simulator.stand_in("x").await;
    let made = connecting::session(&user, "x", json!({})).await;
    let network = ada.leave(&connecting::page(&made)).await;
    let back = ada.answer(&network, None).await;
    let _ = ada.get(&back).await.expect(303);
    let done = connecting::poll(&app, &user, &made).await;
    let id = done["accounts"][0]["id"].as_i64().unwrap();
    let thread = json!({"x_thread_tweets": ["One", "Two", "Three"]});
    for post in [
        json!({"account_id": simulated, "caption": "It costs nothing here"}),
        json!({"account_id": id, "caption": "Plain"}),
        json!({"account_id": id, "caption": "See https://example.org"}),
        json!({"account_id": id, "post_type": "x_thread", "metadata": thread}),
    ] {
        let post = user.publish(post).await;
        app.wait_until_published(&user, &post).await;
    }
    let quota = user.get("/api/v1/x-posting/quota").await.expect(200).body["quota"].clone();
    assert_eq!(quota["used"], 1 + 13 + 3, "{quota}");
    let limit = quota["limit"].as_i64().unwrap();
    assert_eq!(quota["remaining"].as_i64(), Some(limit - 17));
    let run = json!({"tool": "x.quota"});
    let told = user.post("/api/v1/platforms/trigger", run).await.expect(200);
    assert_eq!(told.body["result"], quota, "the helper says the same");
}
