//! Connections cut in the middle of the publishing call, on a network of each class: a call that the network has whole
//! is never taken for one that was not sent, and no cut makes a second post.

use std::time::Duration;

use fanfare_tests::{Cut, Options, TestApp, User};
use serde_json::{Value, json};

/// The publishing call of each network, as its first line shows it, and whether the network can be asked afterwards.
const CALLS: &[(&str, &str, bool)] = &[
    ("bluesky", "com.atproto.repo.applyWrites", true),
    ("threads", "/threads_publish", true),
    ("wordpress", "/wp/v2/posts", true),
    ("discord", "/webhooks/", false),
    ("telegram", "/sendMessage", false),
];

/// Where it is cut: in the first line, in the head, in the body, before the last byte, and after it.
const REQUEST: &[Cut] =
    &[Cut::After(0), Cut::After(1), Cut::After(120), Cut::Before(20), Cut::Before(1), Cut::Whole];

/// After how many bytes of its body an answer is cut; 0: before its head.
const ANSWER: &[u64] = &[0, 1, 12, 60];

async fn ended(app: &TestApp, user: &User, id: i64) -> Value {
    app.eventually("the post ends", || async {
        app.pass(Duration::from_secs(20)).await;
        let post = user.get(&format!("/api/v1/posts/{id}")).await.body["post"].clone();
        (post["status"] == "published" || post["status"] == "failed").then_some(post)
    })
    .await
}

async fn publish(app: &TestApp, user: &User, account: i64) -> Value {
    let post = user.publish(json!({"account_id": account, "caption": "Only once"})).await;
    ended(app, user, post["id"].as_i64().unwrap()).await
}

/// What must hold after a cut: `whole` says that the network had the whole request.
fn judge(story: &str, post: &Value, held: usize, asked: bool, whole: bool) {
    if asked {
        assert_eq!((post["status"].as_str(), held), (Some("published"), 1), "{story}: {post:#}");
    } else if whole {
        assert_eq!(post["error"]["code"], "outcome_unknown", "{story}: {post:#}");
        assert!(held <= 1, "{story}: {held}");
    } else {
        // Not carried out: either known not to have been sent, and sent again, or in doubt.
        let in_doubt = post["error"]["code"] == "outcome_unknown" && held == 0;
        assert!(in_doubt || (post["status"] == "published" && held == 1), "{story}: {post:#}");
    }
}

#[tokio::test]
async fn a_request_cut_anywhere_makes_no_second_post() {
    let app = TestApp::with(Options { cut: true, ..Options::default() }).await;
    let user = app.user().await;
    let cutter = app.cutter.clone().unwrap();
    for (platform, call, asked) in CALLS {
        for cut in REQUEST {
            let account = user.connect(platform).await;
            cutter.cut(call, *cut);
            let post = publish(&app, &user, account).await;
            let story = format!("{platform} cut at {cut:?}");
            assert!(cutter.is_done(), "{story}: the call was never made");
            let held = user.on_network(platform, account).await.len();
            judge(&story, &post, held, *asked, *cut == Cut::Whole);
        }
    }
}

#[tokio::test]
async fn an_answer_cut_anywhere_makes_no_second_post() {
    let app = TestApp::start().await;
    let user = app.user().await;
    for (platform, _, asked) in CALLS {
        for kind in ["drop_after_change", "reset"] {
            for byte in ANSWER {
                let account = user.connect(platform).await;
                let fault = json!([{"on": "commit", "kind": kind, "at_byte": byte}]);
                user.faults(platform, account, fault).await;
                let post = publish(&app, &user, account).await;
                let held = user.on_network(platform, account).await.len();
                let story = format!("{platform} {kind} at byte {byte} of the answer");
                judge(&story, &post, held, *asked, true);
            }
        }
    }
}
