//! schemathesis, a third-party tester: it reads only `/openapi.json`, sends valid and invalid requests, and checks each
//! reply against it.

use fanfare_tests::{Options, TestApp};
use tokio::process::Command;

/// The number of random requests for each operation, besides those derived from examples and the limits of schemas.
const EXAMPLES: &str = "20";

#[tokio::test]
async fn the_document_holds_for_whatever_is_sent() {
    // Simulated networks replace the real ones, which must not receive random requests.
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
