//! Connections cut at the first, a middle and the last byte of head and body of the publishing call and its answer: a
//! call that the network has whole is never taken for one that was not sent, and no cut makes a second post.

use fanfare_tests::{Cut, Options, TestApp, networks};
use serde_json::Value;

/// What must hold after a cut.
fn judge(story: &str, post: &Value, held: usize, asked: bool, sent: bool) {
    if asked {
        assert_eq!((post["status"].as_str(), held), (Some("published"), 1), "{story}: {post:#}");
    } else if sent {
        // An answer that says everything in its head is whole without its body.
        let is_told = post["status"] == "published" && post["platform_post_id"].is_string();
        assert!(is_told || post["error"]["code"] == "outcome_unknown", "{story}: {post:#}");
        assert_eq!(held, 1, "{story}");
    } else {
        // Not carried out: either known not to have been sent, and sent again, or in doubt.
        let in_doubt = post["error"]["code"] == "outcome_unknown" && held == 0;
        assert!(in_doubt || (post["status"] == "published" && held == 1), "{story}: {post:#}");
    }
}

async fn cut_everywhere(name: &'static str) {
    let app = TestApp::with(Options { cut: true, ..Options::default() }).await;
    let cutter = app.cutter.clone().unwrap();
    let user = app.user().await;
    let account = user.connect(name).await;
    let since = networks::calls(&app, name).await.len();
    let post = networks::publish(&app, &user, networks::post(name, account)).await;
    assert_eq!(post["status"], "published", "{name}: {post:#}");
    let call = networks::commit_call(&app, name, since).await;
    for cut in Cut::EVERYWHERE {
        let before = user.on_network(name, account).await.len();
        cutter.cut_later(&call.words, call.skip, *cut);
        let post = networks::publish(&app, &user, networks::post(name, account)).await;
        let story = format!("{name} cut at {cut:?}");
        assert!(cutter.is_done(), "{story}: the call was never made");
        let held = user.on_network(name, account).await.len() - before;
        judge(&story, &post, held, networks::can_be_asked(name), cut.is_sent());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_cut_makes_a_second_post() {
    let mut running = tokio::task::JoinSet::new();
    for name in networks::all() {
        running.spawn(cut_everywhere(name));
    }
    while let Some(told) = running.join_next().await {
        told.expect("a network's story");
    }
}
