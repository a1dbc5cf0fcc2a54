//! A post that somebody edits on X has another id from then on, and the numbers of the first one stop.

use std::time::Duration;

use fanfare_tests::{TestApp, networks};
use reqwest::Method;
use serde_json::{Value, json};

use super::{HOUR, idle, posts};

/// Sets the numbers of a post on the network, by its id there.
async fn set(app: &TestApp, remote: &str, post: &Value, likes: u32) {
    let body = json!({"remote_id": remote, "post": post, "metrics": {"likes": likes}});
    let _ = app.simulator.ask(Method::PUT, "x/metrics", &body).await;
}

#[tokio::test]
async fn a_post_that_was_edited_on_the_network_is_counted_once_and_on() {
    let (app, user) = idle().await;
    app.start_workers();
    let account = user.connect("x").await;
    let remote = networks::newest_account(&app, "x").await;
    let edit = json!({"later": [{"after_ms": 60_000, "set": "another_id"}]});
    app.simulator.behave("x", &remote, &edit).await;
    let post =
        networks::publish(&app, &user, json!({"account_id": account, "caption": "Words"})).await;
    let old = post["platform_post_id"].clone();
    set(&app, &remote, &old, 3).await;
    let read = |what: &'static str, likes: u32| {
        let (app, user) = (&app, &user);
        async move {
            app.eventually_in_time(what, Duration::from_secs(60), || async {
                let all = posts(user, account).await;
                assert!(all.len() <= 1, "{all:#?}");
                all.into_iter().find(|one| one["likes"] == likes)
            })
            .await
        }
    };
    app.pass_time(Duration::from_secs(2 * HOUR)).await;
    // The new version is there as soon as somebody looks, and has no likes yet.
    assert_eq!(read("the first version's number is kept", 3).await["post_id"], post["id"]);
    let held = user.on_network("x", account).await;
    assert_eq!((held.len(), held[0]["id"] != old), (1, true), "{held:#?}");
    set(&app, &remote, &held[0]["id"], 8).await;
    app.pass_time(Duration::from_secs(6 * HOUR)).await;
    assert_eq!(read("the new version's number is read", 8).await["post_id"], post["id"]);
}
