//! Calls that a network carries out in part before it refuses them, and chains that stop in the middle: what went out is
//! told, and a retry sends the rest.

use fanfare_tests::{Picture, TestApp, User, networks};
use serde_json::{Value, json};

/// The number of files of an album, and of texts of a chain.
const ALL: usize = 4;

async fn files_on(user: &User, network: &str, account: i64) -> usize {
    let held = user.on_network(network, account).await;
    held.iter().filter_map(|one| one["media"].as_array()).map(Vec::len).sum()
}

fn album(account: i64) -> Value {
    let files: Vec<_> =
        (0..ALL).map(|place| Picture::lasting().file("image/jpeg", place)).collect();
    json!({"account_id": account, "caption": "All of it", "media_urls": files})
}

fn parts(post: &Value) -> Vec<&str> {
    post["parts"].as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap()).collect()
}

/// `failed to send message #3 with the error message "Too Many Requests: retry after 8"`.
#[tokio::test]
async fn an_album_that_stops_at_a_limit_goes_on_after_it() {
    let app = TestApp::start().await;
    for sent in 0..ALL {
        let user = app.user().await;
        let account = user.connect("telegram").await;
        let fault =
            json!({"on": "commit", "kind": "status", "status": 429, "ms": 8_000, "effect": sent});
        user.faults("telegram", account, json!([fault])).await;
        let post = networks::publish(&app, &user, album(account)).await;
        assert_eq!(post["status"], "published", "{sent}: {post:#}");
        assert_eq!(files_on(&user, "telegram", account).await, ALL, "{sent}: {post:#}");
        // The post itself is the first message whose id is known.
        assert_eq!(parts(&post).len(), ALL - 1, "{sent}: {post:#}");
        let untold = post["parts"].as_array().unwrap().iter();
        let untold = untold.filter(|part| part["platform_post_id"].is_null()).count();
        assert_eq!(untold, sent, "{sent}: {post:#}");
    }
}

#[tokio::test]
async fn an_album_that_is_refused_in_the_middle_is_told_in_part_and_a_retry_sends_the_rest() {
    let app = TestApp::start().await;
    for sent in 1..ALL {
        let user = app.user().await;
        let account = user.connect("telegram").await;
        let fault =
            |sent: usize| json!({"on": "commit", "kind": "status", "status": 400, "effect": sent});
        // The last file alone is no album.
        let again = if sent + 1 == ALL {
            json!({"on": "commit", "kind": "status", "status": 400, "body": r#"{"ok":false,"error_code":400,"description":"Bad Request: WEBPAGE_CURL_FAILED"}"#})
        } else {
            fault(0)
        };
        user.faults("telegram", account, json!([fault(sent), again])).await;
        let post = networks::publish(&app, &user, album(account)).await;
        assert_eq!(post["status"], "failed", "{sent}: {post:#}");
        assert_eq!(post["error"]["code"], "media_rejected", "{sent}: {post:#}");
        let said = post["error"]["message"].as_str().unwrap();
        assert!(said.contains(&format!("{sent} of {ALL} files are public")), "{said}");
        assert_eq!(parts(&post).len(), sent, "{sent}: {post:#}");
        assert_eq!(files_on(&user, "telegram", account).await, sent, "{sent}");
        let path = format!("/api/v1/posts/{}/retry", post["id"]);
        let _ = user.post(&path, json!({})).await.expect(200);
        let post = networks::ended(&app, &user, &post["id"]).await;
        assert_eq!(post["status"], "published", "{sent}: {post:#}");
        assert_eq!(files_on(&user, "telegram", account).await, ALL, "{sent}: {post:#}");
    }
}

#[tokio::test]
async fn a_message_with_some_of_its_files_is_the_message() {
    let app = TestApp::start().await;
    for sent in 0..=ALL {
        let user = app.user().await;
        let account = user.connect("slack").await;
        let fault = json!({"on": "commit", "kind": "status", "status": 500, "effect": sent});
        user.faults("slack", account, json!([fault])).await;
        let post = networks::publish(&app, &user, album(account)).await;
        let held = user.on_network("slack", account).await.len();
        assert!(held <= 1, "{sent}: {post:#}");
        assert_eq!(post["status"] == "published", held == 1, "{sent}: {post:#}");
    }
}

#[tokio::test]
async fn a_chain_that_stops_tells_what_is_out_and_goes_on_with_a_retry() {
    let app = TestApp::start().await;
    for (network, field) in [("x", "x_thread_tweets"), ("threads", "threads_thread_posts")] {
        for out in 1..ALL {
            let user = app.user().await;
            let account = user.connect(network).await;
            let faults = json!([
                {"on": "commit", "kind": "delay", "ms": 0, "times": out},
                {"on": "commit", "kind": "status", "status": 400, "times": 1},
            ]);
            user.faults(network, account, faults).await;
            let texts: Vec<_> =
                (1..=ALL).map(|number| format!("Part {number} of {network} {out}")).collect();
            let mut body = networks::post(network, account);
            body["post_type"] = json!(format!("{network}_thread"));
            body["metadata"] = json!({ field: texts });
            let post = networks::publish(&app, &user, body).await;
            let story = format!("{network}, {out} of {ALL}");
            if post["status"] == "failed" {
                assert_eq!(parts(&post).len(), out, "{story}: {post:#}");
                assert_eq!(user.on_network(network, account).await.len(), out, "{story}");
                let path = format!("/api/v1/posts/{}/retry", post["id"]);
                let _ = user.post(&path, json!({})).await.expect(200);
            }
            let post = networks::ended(&app, &user, &post["id"]).await;
            assert_eq!(post["status"], "published", "{story}: {post:#}");
            let held = user.on_network(network, account).await;
            assert_eq!(held.len(), ALL, "{story}: {held:#?}");
        }
    }
}
