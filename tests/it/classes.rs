//! Lost answers where what can be learned of them depends on the account or on the post, and not on the network alone.

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

/// A post whose publishing call meets a fault: as it ended, and how many the network holds.
async fn after(app: &TestApp, user: &User, body: Value, kind: &str) -> (Value, usize) {
    let account = body["account_id"].as_i64().unwrap();
    let accounts = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
    let row = accounts.as_array().unwrap().iter().find(|row| row["id"] == account).unwrap().clone();
    let platform = row["platform"].as_str().unwrap();
    let before = user.on_network(platform, account).await.len();
    user.faults(platform, account, json!([{"on": "commit", "kind": kind}])).await;
    let post = networks::publish(app, user, body).await;
    (post, user.on_network(platform, account).await.len() - before)
}

#[tokio::test]
async fn the_post_of_a_page_is_looked_for_and_that_of_a_member_is_left_in_doubt() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let new = json!({"platform": "linkedin", "username": "company/acme"});
    let made = user.post("/api/v1/sandbox/accounts", new).await.expect(201).body["account"].clone();
    let page = made["id"].as_i64().unwrap();
    let member = user.connect("linkedin").await;
    for kind in ["drop_after_change", "reset"] {
        let (post, held) = after(&app, &user, networks::post("linkedin", page), kind).await;
        assert_eq!((post["status"].as_str(), held), (Some("published"), 1), "{kind}: {post:#}");
        let (post, held) = after(&app, &user, networks::post("linkedin", member), kind).await;
        assert_eq!(post["error"]["code"], "outcome_unknown", "{kind}: {post:#}");
        assert_eq!(held, usize::from(kind != "reset"), "{kind}");
    }
    let held = user.on_network("linkedin", page).await;
    assert!(held.iter().all(|post| post["author"].as_str().unwrap().contains("organization")));
}

#[tokio::test]
async fn a_slideshow_is_looked_for_among_public_posts_and_never_sent_twice() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("tiktok").await;
    let picture = fanfare_tests::Picture::lasting().file("image/jpeg", 0);
    for (kind, settings, known) in [
        ("drop_after_change", json!({}), true),
        ("reset", json!({}), false),
        ("drop_after_change", json!({"privacy_level": "SELF_ONLY"}), false),
    ] {
        let mut body = networks::post("tiktok", account);
        (body["media_urls"], body["settings"]) = (json!([picture]), settings.clone());
        let (post, held) = after(&app, &user, body, kind).await;
        let story = format!("{kind} {settings}: {post:#}");
        assert_eq!(held, usize::from(kind != "reset"), "{story}");
        if known {
            assert_eq!(post["status"], "published", "{story}");
        } else {
            assert_eq!(post["error"]["code"], "outcome_unknown", "{story}");
        }
    }
}
