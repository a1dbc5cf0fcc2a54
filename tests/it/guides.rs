//! The guides of `/docs/guides`: they are served wherever somebody looks for them, their programs run as they stand, and
//! their numbers are those of the service.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use fanfare_api::routes::ROUTES;
use fanfare_core::{
    access::{PlanTier, Scope, plan_name},
    limits::{self, LimitOwner},
};
use fanfare_publishing::media::sizes::{max_sizes, retention};
use fanfare_tests::{Options, TestApp, User, Visitor};
use serde_json::json;

use crate::service::{Dir, Service, eventually};

/// The languages of the programs: the mark of their blocks, the file, and the command that runs it.
pub(crate) const LANGUAGES: [(&str, &str, &[&str]); 3] = [
    ("sh", "program.sh", &["bash", "-euo", "pipefail"]),
    ("python", "program.py", &["python3"]),
    ("js", "program.mjs", &["node"]),
];

/// The guides whose programs need nobody, and words that the program of each language says.
const SAID: [(&str, &[&str]); 8] = [
    ("auth", &["owner@localhost", "insufficient_scope", "api_key_revoked"]),
    ("errors", &["unknown_field", "captoin", "Hello"]),
    ("idempotency", &["idempotent-replayed: true", "422", "idempotency_mismatch"]),
    ("limits", &["status 200", "x-ratelimit-limit: ", "x-ratelimit-remaining: "]),
    ("paging", &["Draft 1", "Draft 5", "deleted"]),
    ("events", &["post.created", "read to the end"]),
    ("webhooks", &["signature: good"]),
    ("uploads", &["draft", "/media/"]),
];

/// A program of a guide that runs; it ends with the test.
pub(crate) struct Program {
    child: Option<Child>,
    said: Arc<Mutex<Vec<String>>>,
    place: Dir,
}

impl Program {
    /// Starts all that a guide has in a language, as one program.
    pub(crate) fn start(
        guide: &str,
        (mark, file, command): (&str, &str, &[&str]),
        key: &str,
    ) -> Self {
        let fence = format!("```{mark}\n");
        let blocks = guide.split(&fence).skip(1);
        let text: String = blocks.map(|block| block.split("```").next().unwrap()).collect();
        assert!(!text.is_empty(), "nothing in {mark} in {guide}");
        let place = Dir::new();
        std::fs::create_dir_all(&*place).unwrap();
        std::fs::write(place.join(file), text).unwrap();
        let mut child = Command::new(command[0])
            .args(&command[1..])
            .arg(file)
            .current_dir(&*place)
            .env("FANFARE_API_KEY", key)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(place.join("complaints")).unwrap())
            .spawn()
            .unwrap_or_else(|error| panic!("{} is installed: {error}", command[0]));
        let said = Arc::<Mutex<Vec<String>>>::default();
        let (lines, kept) = (child.stdout.take().unwrap(), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in BufReader::new(lines).lines().map_while(Result::ok) {
                kept.lock().unwrap().push(line);
            }
        });
        Self { child: Some(child), said, place }
    }

    fn said(&self) -> String {
        self.said.lock().unwrap().join("\n")
    }

    /// The address that the program asks a person to open.
    pub(crate) async fn link(&self) -> String {
        eventually("an address to open", || async {
            let said = self.said();
            said.lines().find_map(|line| line.strip_prefix("Open ")).map(str::to_owned)
        })
        .await
    }

    /// Waits for its end; what it said.
    pub(crate) async fn end(mut self) -> String {
        let child = self.child.as_mut().unwrap();
        let ended = loop {
            match child.try_wait().unwrap() {
                Some(ended) => break ended,
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        };
        let complaints = std::fs::read_to_string(self.place.join("complaints")).unwrap();
        assert!(ended.success(), "{}\n{complaints}", self.said());
        eventually("all of its words", || async {
            (Arc::strong_count(&self.said) == 1).then_some(())
        })
        .await;
        self.said()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub(crate) async fn guide(origin: &str, name: &str) -> String {
    let nobody = User::new(origin, String::new());
    nobody.get(&format!("/docs/guides/{name}.md")).await.expect(200).text
}

/// Runs a guide's programs for one person after the other; what is said has all of these words.
async fn run_all(service: &Service, name: &str, wanted: &[&str]) {
    run_in(service, name, wanted, &LANGUAGES).await;
}

async fn run_in(
    service: &Service,
    name: &str,
    wanted: &[&str],
    languages: &[(&str, &str, &[&str])],
) {
    let (text, key) = (guide(&service.origin, name).await, service.key.as_deref().unwrap());
    for language in languages {
        let said = Program::start(&text, *language, key).end().await;
        for words in wanted {
            assert!(said.contains(words), "{name}, {}: no {words:?} in {said}", language.0);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_that_need_nobody_do_what_their_guides_say() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    for (name, wanted) in SAID {
        run_all(&service, name, wanted).await;
    }
}

/// The guides whose programs are in two languages, a shell's and Python, and words that both say.
const SAID_IN_TWO: [(&str, &[&str]); 4] = [
    ("posts", &["Planned well", "published: http", "replayed"]),
    ("deliveries", &["a new secret", "redelivered"]),
    ("credits", &["dry_run", "customer-7", "available"]),
    ("leaving", &["deleted"]),
];

#[tokio::test(flavor = "multi_thread")]
async fn programs_in_two_languages_do_what_their_guides_say() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    for (name, wanted) in SAID_IN_TWO {
        run_in(&service, name, wanted, &LANGUAGES[..2]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_of_the_guide_on_testing_see_a_post_fail_and_go_out() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    run_all(&service, "testing", &["failed", "published", "Refused once"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_of_the_guide_on_connecting_follow_a_person_to_the_end() {
    let app = TestApp::start().await;
    let (id, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let user = app.key(id, None, &Scope::ALL).await;
    let text = guide(&app.origin, "connect").await;
    for language in LANGUAGES {
        let program = Program::start(&text, language, &user.key);
        let link = program.link().await.replace(&app.origin, "");
        let network = ada.leave(&link).await;
        let back = ada.answer(&network, None).await;
        let _ = ada.get(&back).await.expect(303);
        let said = program.end().await;
        assert!(said.contains("connected") && said.contains("threads"), "{}: {said}", language.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_of_the_guide_on_oauth_are_let_in_and_go() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    let text = guide(&service.origin, "oauth").await;
    let said = Program::start(&text, LANGUAGES[0], "").end().await;
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
    assert!(said.ends_with('}') && said.contains("\"code\":\"api_key_revoked\""), "{said}");

    // The person whom the first program signed up lets the others in.
    let mut ada = Visitor::of(&service.origin);
    let log_in = ada.try_password_at("/login", "ada@example.com", "correct horse battery");
    let _ = log_in.await.expect(303);
    for language in &LANGUAGES[1..] {
        let program = Program::start(&text, *language, "");
        let page = program.link().await;
        let back = ada.decide(&page, "allow").await;
        let closed = ada.elsewhere(back.as_str()).await.expect(200);
        assert!(closed.html.contains("close this page"), "{}", closed.html);
        let said = program.end().await;
        for wanted in ["ada@example.com", "posts:read", "revoked"] {
            assert!(said.contains(wanted), "{wanted} in {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_of_the_guide_on_signing_up_ends_with_a_key() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    let text = guide(&service.origin, "signup").await;
    let said = Program::start(&text, LANGUAGES[0], "").end().await;
    let who = said.lines().last().unwrap_or_default();
    assert!(who.contains("ada@example.com") && who.contains("\"plan_tier\":\"pro\""), "{said}");
}

#[tokio::test]
async fn a_guide_is_found_wherever_somebody_looks_for_it() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (user, nobody) = (app.user().await, app.without_key());
    let read = async |path: &str| nobody.get(path).await.expect(200);
    let ask = async |method: &str, params: serde_json::Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let accept = ("Accept", "application/json, text/event-stream");
        let sent = user.send(reqwest::Method::POST, "/mcp", &[accept], Some(&message)).await;
        sent.expect(200).body["result"].clone()
    };
    let resources = ask("resources/list", json!({})).await.to_string();
    let (index, full) = (read("/llms.txt").await.text, read("/llms-full.txt").await.text);
    let (docs, list) = (read("/docs.md").await.text, read("/docs/guides").await.text);
    for name in [
        "auth",
        "posts",
        "deliveries",
        "credits",
        "leaving",
        "idempotency",
        "webhooks",
        "events",
        "limits",
        "paging",
        "uploads",
        "connect",
        "oauth",
        "errors",
        "testing",
    ] {
        let path = format!("/docs/guides/{name}");
        let page = read(&path).await;
        assert!(page.header("content-type").starts_with("text/html"), "{name}");
        assert!(page.text.contains("<h2>"), "{name}");
        let text = read(&format!("{path}.md")).await;
        assert!(text.header("content-type").starts_with("text/markdown"), "{name}");
        assert!(text.text.contains(&app.origin) && !text.text.contains("127.0.0.1:8080"), "{name}");
        assert!(full.contains(text.text.trim()), "{name}");
        for lists in [&index, &docs] {
            assert!(lists.contains(&format!("{}{path}.md", app.origin)), "{name}");
        }
        assert!(list.contains(&format!("href=\"{path}\"")), "{name}");
        let uri = format!("fanfare://docs/guides/{name}");
        assert!(resources.contains(&uri), "{name}");
        let resource = ask("resources/read", json!({ "uri": uri })).await["contents"][0].clone();
        assert_eq!(
            (&resource["text"], &resource["mimeType"]),
            (&json!(text.text), &json!("text/markdown"))
        );
    }
    let _ = nobody.get("/docs/guides/nothing").await.expect(404);
    let _ = nobody.get("/docs/guides/nothing.md").await.expect(404);
    // reqwest follows where a slash at the end leads.
    for path in ["/docs/", "/docs/guides/", "/docs/guides/auth/", "/docs/errors/"] {
        assert_eq!(read(path).await.text, read(path.trim_end_matches('/')).await.text, "{path}");
    }
    assert_eq!(read("/docs/?q=dismiss").await.text, read("/docs?q=dismiss").await.text);
    let _ = nobody.get("/docs//").await.expect(404);
}

/// Returns a number as the guides write it.
fn number(value: u64) -> String {
    if value < 1_000 {
        value.to_string()
    } else {
        format!("{},{:03}", value / 1_000, value % 1_000)
    }
}

#[tokio::test]
async fn the_guides_say_what_the_service_does() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let limits_guide = guide(&app.origin, "limits").await;
    let used: BTreeSet<_> = ROUTES.iter().map(|route| route.bucket.as_str()).collect();
    let of_api =
        limits::TABLE.iter().filter(|rule| used.contains(rule.name) || rule.name == "created");
    for rule in of_api.filter(|rule| matches!(rule.per, LimitOwner::Key | LimitOwner::Person)) {
        let span = match rule.span.as_secs() {
            60 => "a minute",
            3_600 => "an hour",
            _ => "a day",
        };
        let per = if rule.per == LimitOwner::Key { "key" } else { "person" };
        let row = format!("| {} {span} | {per} |", number(rule.limit.into()));
        assert!(limits_guide.contains(&row), "{}: {row}", rule.name);
    }
    let auth = guide(&app.origin, "auth").await;
    for scope in Scope::ALL {
        assert!(auth.contains(&format!("| `{}` |", scope.as_str())), "{scope:?}");
    }
    let document = app.without_key().get("/openapi.json").await.expect(200).body;
    let schemas = &document["components"]["schemas"];
    let webhooks = guide(&app.origin, "webhooks").await;
    for name in schemas["Event"]["properties"]["type"]["enum"].as_array().unwrap() {
        assert!(webhooks.contains(&format!("`{}`", name.as_str().unwrap())), "{name}");
    }
    let connect = guide(&app.origin, "connect").await;
    for status in schemas["ConnectStatus"]["enum"].as_array().unwrap() {
        assert!(connect.contains(&format!("`{}`", status.as_str().unwrap())), "{status}");
    }
    let errors = guide(&app.origin, "errors").await;
    for code in schemas["PostErrorCode"]["enum"].as_array().unwrap() {
        assert!(errors.contains(&format!("`{}`", code.as_str().unwrap())), "{code}");
    }
    let testing = guide(&app.origin, "testing").await;
    let faults =
        schemas["NewSandboxFaults"]["properties"]["faults"]["description"].as_str().unwrap();
    for kind in [
        "status",
        "reset",
        "hang",
        "drop_after_change",
        "error_after_change",
        "delay",
        "nonsense",
        "huge",
        "token_expired",
    ] {
        assert!(testing.contains(&format!("`{kind}`")) && faults.contains(kind), "{kind}");
    }
    let uploads = guide(&app.origin, "uploads").await;
    for plan in [PlanTier::Starter, PlanTier::Pro, PlanTier::PowerUser, PlanTier::Agency] {
        let (sizes, days) = (max_sizes(plan), retention(plan) / (24 * 3_600_000));
        let size = |bytes: u64| match bytes / 1_000_000 {
            megabytes if megabytes >= 1_000 => format!("{} GB", megabytes / 1_000),
            megabytes => format!("{megabytes} MB"),
        };
        let (image, video) = (size(sizes.image), size(sizes.video));
        let row = format!("| {} | {image} | {video} | {days} days |", plan_name(plan));
        assert!(uploads.contains(&row), "{row}");
    }
}
