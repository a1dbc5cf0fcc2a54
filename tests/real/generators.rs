//! Clients that generators of other people make of the OpenAPI document, and linters that judge it.

use fanfare_tests::{Options, TestApp};
use tokio::process::Command;

#[tokio::test]
async fn every_generator_makes_a_client_that_works() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await.to_string();
    let root = env!("CARGO_MANIFEST_DIR");
    let run = Command::new(format!("{root}/tests/peers/generators/run.sh"))
        .args([app.origin.as_str(), &user.key, &account])
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let report = String::from_utf8_lossy(&run.stdout);
    println!("{report}");
    let complaints = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{report}\n{complaints}");
}
