//! The commands of `docs/signup.md` and `docs/let-a-tool-in.md`, run as they stand by a shell against the real binary.

use std::process::Command;

use crate::service::{Dir, Service};

/// The shell commands of a document, with the address of the service in the place of the usual one.
fn commands(document: &str, origin: &str) -> String {
    let blocks = document.split("```sh\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap_or_default());
    let all: String = blocks.collect();
    assert!(all.contains("BASE=http://127.0.0.1:8080\n"), "{all}");
    all.replace("BASE=http://127.0.0.1:8080", &format!("BASE={origin}"))
}

/// Runs the commands of a document against a service; what they said.
fn run(service: &Service, document: &str) -> String {
    let place = Dir::new();
    std::fs::create_dir_all(&*place).unwrap();
    let ran = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &commands(document, &service.origin)])
        .current_dir(&*place)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said} {}", String::from_utf8_lossy(&ran.stderr));
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_signup_document_lead_to_a_key() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    let said = run(&service, include_str!("../../docs/signup.md"));
    let who = said.lines().last().unwrap_or_default();
    assert!(who.contains("ada@example.com") && who.contains("\"plan_tier\":\"pro\""), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_oauth_document_let_a_tool_in_and_out_again() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    let said = run(&service, include_str!("../../docs/let-a-tool-in.md"));
    for wanted in [
        "resource_metadata=",
        "\"registration_endpoint\"",
        "http://127.0.0.1:7777/callback?code=",
        "&state=my-state&iss=",
        "{\"accounts\":[]",
        "\"type\":\"oauth\"",
    ] {
        assert!(said.contains(wanted), "{wanted} in {said}");
    }
    assert!(said.ends_with('}') && said.contains("\"code\":\"invalid_api_key\""), "{said}");
}
