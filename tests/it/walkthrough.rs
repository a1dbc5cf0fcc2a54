//! The commands of `docs/signup.md`, run as they stand by a shell against the real binary.

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

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_signup_document_lead_to_a_key() {
    let (dir, place) = (Dir::new(), Dir::new());
    let service = Service::start(&dir, true, &[]);
    std::fs::create_dir_all(&*place).unwrap();
    let script = commands(include_str!("../../docs/signup.md"), &service.origin);
    let ran = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &script])
        .current_dir(&*place)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said} {}", String::from_utf8_lossy(&ran.stderr));
    let who = said.lines().last().unwrap_or_default();
    assert!(who.contains("ada@example.com") && who.contains("\"plan_tier\":\"pro\""), "{said}");
}
