//! Schemathesis, a program that other people wrote: it reads `/openapi.json` alone, sends what fits it and what does not, and holds
//! each answer to it.

use fanfare_tests::{Options, TestApp};
use tokio::process::Command;

/// Requests of random content for each operation, beside those that its examples and the edges of its schemas give.
const EXAMPLES: &str = "20";

#[tokio::test]
async fn the_document_holds_for_whatever_is_sent() {
    // Simulated networks stand in for the real ones, which nothing random may reach.
    let app = TestApp::with(Options { stand_ins: true, ..Options::default() }).await;
    let user = app.user().await;
    for platform in ["bluesky", "mastodon", "x", "instagram"] {
        user.connect(platform).await;
    }
    let root = env!("CARGO_MANIFEST_DIR");
    let run = Command::new(format!("{root}/tests/peers/schemathesis.sh"))
        .args([app.origin.as_str(), &user.key, EXAMPLES])
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let report = String::from_utf8_lossy(&run.stdout);
    let complaints = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{report}\n{complaints}");
}
