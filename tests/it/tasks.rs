//! The everyday tasks of a developer, done by the programs of the guides against the running service: how many requests
//! each takes, and how many of them are refused. The service counts them itself.

use std::{collections::BTreeMap, fmt::Write as _};

use fanfare_tests::Visitor;

use crate::{
    guides::{LANGUAGES, Program, guide},
    metrics::free_address,
    service::{Dir, Service},
};

/// The tasks: what is to be done, the guide whose program does it, and the requests that the guide has refused on purpose.
const TASKS: [(&str, &str, u64); 15] = [
    // A scope that the key lacks, and a key that was revoked.
    ("authenticate, and see who one is", "auth", 2),
    ("connect a customer's account by a link that leads back", "connect", 0),
    ("upload a file to an address of its own", "uploads", 0),
    ("create, schedule and follow posts; a batch sent twice", "posts", 0),
    // Another body under the same key.
    ("repeat a request whose answer was lost", "idempotency", 1),
    ("verify the signature of a webhook", "webhooks", 0),
    ("rotate its secret, and have what failed sent again", "deliveries", 0),
    ("follow the events, and go on where one stopped", "events", 0),
    ("page through a list", "paging", 0),
    ("see the limits and what is left of them", "limits", 0),
    ("let people log in to an app, with PKCE", "oauth", 0),
    // The mistake whose fix is applied.
    ("apply the fix of a refusal", "errors", 1),
    ("see a post fail and go out on a simulated network", "testing", 0),
    ("know prices before, and sums for each customer", "credits", 0),
    ("remove what belongs to a customer", "leaving", 0),
];

/// The requests to the API so far: how many, and how many of them were refused.
async fn counted(metrics: &str) -> (u64, u64) {
    let page = fanfare_tests::local_client()
        .get(format!("http://{metrics}/metrics"))
        .send()
        .await
        .unwrap();
    let page = page.text().await.unwrap();
    let (mut all, mut refused) = (0, 0);
    for line in page.lines().filter(|line| line.starts_with("fanfare_http_requests_total{")) {
        let (labels, count) = line.rsplit_once(' ').unwrap();
        let label = |name: &str| {
            let value = labels.split(&format!("{name}=\"")).nth(1).unwrap();
            value.split('"').next().unwrap()
        };
        let is_page = !["api/v1", "api/oauth", "upload", ".well-known"]
            .iter()
            .any(|door| label("route").trim_start_matches('/').starts_with(door));
        if is_page {
            continue;
        }
        let count: u64 = count.parse().unwrap();
        all += count;
        refused += if label("status").starts_with(['4', '5']) { count } else { 0 };
    }
    (all, refused)
}

/// Signs somebody up, as the guide does. Returns the key, and the person at a browser.
async fn ada(service: &Service) -> (String, Visitor) {
    let text = guide(&service.origin, "signup").await;
    let text = text.replace("curl -s \"$BASE/api/v1/whoami\" -H", "printf '\\n%s\\n' \"$KEY\" # ");
    let said = Program::start(&text, LANGUAGES[0], "").end().await;
    let key = said.lines().find(|line| line.starts_with("fan_")).unwrap().to_owned();
    let mut ada = Visitor::of(&service.origin);
    let log_in = ada.try_password_at("/login", "ada@example.com", "correct horse battery");
    let _ = log_in.await.expect(303);
    (key, ada)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_task_of_a_developer_is_refused_but_on_purpose() {
    let (dir, metrics) = (Dir::new(), free_address());
    let service = Service::start(&dir, true, &[("FANFARE_METRICS_LISTEN", &metrics)]);
    let owner = service.key.clone().unwrap();
    let (key, mut person) = ada(&service).await;
    let mut table = String::from("| Task | Guide | Calls | Refused |\n|---|---|---|---|\n");
    let mut wrong = BTreeMap::new();
    for (task, name, on_purpose) in TASKS {
        let text = guide(&service.origin, name).await;
        let before = counted(&metrics).await;
        match name {
            "connect" => {
                let program = Program::start(&text, LANGUAGES[1], &key);
                let link = program.link().await.replace(&service.origin, "");
                let network = person.leave(&link).await;
                let back = person.answer(&network, None).await;
                let _ = person.get(&back).await.expect(303);
                assert!(program.end().await.contains("connected"));
            }
            "oauth" => {
                let program = Program::start(&text, LANGUAGES[1], "");
                let back = person.decide(&program.link().await, "allow").await;
                let _ = person.elsewhere(back.as_str()).await.expect(200);
                assert!(program.end().await.contains("revoked"));
            }
            _ => {
                let _ = Program::start(&text, LANGUAGES[1], &owner).end().await;
            }
        }
        let after = counted(&metrics).await;
        let (calls, refused) = (after.0 - before.0, after.1 - before.1);
        let _ = writeln!(table, "| {task} | {name} | {calls} | {refused} |");
        // What a guide shows on purpose is no stumble; none of them stumbles.
        if refused != on_purpose || calls == 0 {
            wrong.insert(name, (calls, refused, on_purpose));
        }
    }
    eprintln!("{table}");
    assert!(wrong.is_empty(), "calls, refused, shown on purpose: {wrong:?}\n{table}");
    let document = include_str!("../../docs/testing.md");
    for (task, name, refused) in TASKS {
        let row = document.lines().find(|line| line.starts_with(&format!("| {task} | ")));
        let row = row.unwrap_or_else(|| panic!("docs/testing.md lacks {task}\n{table}"));
        assert!(row.contains(&format!("| {name} |")) && row.ends_with(&format!("| {refused} |")));
    }
}
