//! Third-party clients of MCP and OAuth, and the conformance suites of MCP.

use std::collections::{BTreeMap, BTreeSet};

use fanfare_tests::{Options, TestApp, Visitor};
use serde_json::Value;

use crate::peer::Peer;

/// The Node of the suites, which need a newer one than the other peers.
const NODE: &str = "tests/peers/agents/node.sh";

/// The checks that may fail, with reasons. The test fails if any other check fails, and if one of these no longer does.
const EXPECTED: &str = include_str!("../peers/agents/expected.json");

async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

/// Grants the peer's client access, as the user whom it sends.
async fn let_in(peer: &mut Peer, ada: &mut Visitor) {
    let asked: url::Url = peer.greeting["authorize"].as_str().unwrap().parse().unwrap();
    let page = format!("{}?{}", asked.path(), asked.query().unwrap());
    let back = ada.decide(&page, "allow").await;
    peer.write_line(back.as_str()).await;
}

#[tokio::test]
async fn the_official_clients_find_the_way_in_and_work() {
    for version in ["v1", "v2"] {
        let app = quiet().await;
        let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
        let url = format!("{}/mcp", app.origin);
        let mut peer = Peer::start(&[NODE, "tests/peers/agents/client.mjs", version, &url]).await;
        let_in(&mut peer, &mut ada).await;
        let said = peer.read_line().await;
        assert_eq!(said["email"], "ada@example.com", "{version}: {said}");
        assert_eq!(said["again"], "ada@example.com", "{version}: {said}");
        assert!(said["tools"].as_u64() > Some(20), "{version}: {said}");
    }
}

#[tokio::test]
async fn a_client_by_the_letter_of_the_standards_is_let_in_once_a_code() {
    let app = quiet().await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let url = format!("{}/mcp", app.origin);
    let mut peer = Peer::start(&[NODE, "tests/peers/agents/oauth.mjs", &url]).await;
    let_in(&mut peer, &mut ada).await;
    // The clock of the test stands still, so that a request a moment later is answered with "retry later".
    let said = peer.read_line().await;
    assert_eq!(said["email"], "ada@example.com", "{said}");
    assert_eq!(said["second"], "invalid_grant", "{said}");
}

async fn conforms(suite: &str) {
    let app = quiet().await;
    let user = app.user().await;
    let url = format!("{}/mcp", app.origin);
    let script = "tests/peers/agents/conformance.mjs";
    let peer = Peer::start(&[NODE, script, suite, &url, &user.key]).await;
    let (passed, failed) = (&peer.greeting["passed"], peer.greeting["failed"].as_object().unwrap());
    let all: Value = serde_json::from_str(EXPECTED).unwrap();
    let reasons: BTreeMap<String, Vec<String>> =
        serde_json::from_value(all[suite].clone()).unwrap();
    let expected: BTreeSet<&str> = reasons.values().flatten().map(String::as_str).collect();
    let failing: BTreeSet<&str> = failed.keys().map(String::as_str).collect();
    let held = passed.as_array().unwrap().len();
    println!(
        "{suite}: {held} scenarios hold, {} checks fail for the reasons listed",
        failing.len()
    );
    let new: Vec<_> = failing.difference(&expected).map(|name| (name, &failed[*name])).collect();
    assert!(new.is_empty(), "{suite}: {new:#?} {}", peer.greeting["log"]);
    let mended: Vec<_> = expected.difference(&failing).collect();
    assert!(mended.is_empty(), "{suite}: these hold now, take them off the list: {mended:?}");
}

#[tokio::test]
async fn the_released_conformance_suite_holds_but_for_a_written_list() {
    conforms("current").await;
}

#[tokio::test]
async fn the_next_conformance_suite_holds_but_for_a_written_list() {
    conforms("next").await;
}
