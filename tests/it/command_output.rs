//! What the commands print, and how they are repeated, as somebody at a shell sees it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Command, Output, Stdio},
};

use fanfare_core::access::Scope;
use fanfare_tests::{Options, TestApp, User};
use serde_json::{Value, json};

/// The binary on a service, for a user.
fn command(user: &User, line: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
    command.args(line).env("FANFARE_URL", &user.origin).env("FANFARE_API_KEY", &user.key);
    command.stdin(Stdio::null());
    command
}

pub(crate) async fn run(user: &User, line: &[&str]) -> Output {
    let mut command = command(user, line);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

/// Runs a command on a terminal that is so wide, with what is typed there.
async fn on_terminal(user: &User, columns: u16, line: &str, typed: &'static str) -> (String, bool) {
    let binary = env!("CARGO_BIN_EXE_fanfare");
    let mut command = Command::new("script");
    command.args(["-qec", &format!("stty cols {columns}; {binary} {line}"), "/dev/null"]);
    command.env("FANFARE_URL", &user.origin).env("FANFARE_API_KEY", &user.key).env("TZ", "UTC");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let run = move || {
        let mut child = command.spawn().expect("script runs");
        let mut terminal = child.stdin.take().unwrap();
        let _ = terminal.write_all(typed.as_bytes());
        let output = child.wait_with_output().unwrap();
        drop(terminal);
        (String::from_utf8_lossy(&output.stdout).replace('\r', ""), output.status.success())
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The value beside a name in the details that a command prints for programs.
fn detail(output: &Output, name: &str) -> String {
    let text = out(output);
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}\t")));
    line.unwrap_or_else(|| panic!("no {name} in {text}{}", said(output))).to_owned()
}

#[tokio::test]
async fn what_was_made_is_shown_and_why_it_failed() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await.to_string();
    let at = app.at(600);
    let new =
        ["posts", "create", "--account-id", &account, "--caption", "Shown", "--scheduled-at", &at];
    let made = run(&user, &new).await;
    let id = detail(&made, "id");
    let post = user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone();
    assert_eq!(detail(&made, "status"), "scheduled");
    assert!(out(&made).starts_with("status\t"), "{}", out(&made));
    assert_eq!(detail(&made, "caption"), post["caption"].as_str().unwrap());
    assert!(!out(&made).contains('{'), "{}", out(&made));
    let (shown, is_fine) = on_terminal(&user, 80, &format!("posts get {id}"), "").await;
    assert!(is_fine && shown.contains("Shown") && !shown.contains("Nothing."), "{shown}");

    let number = account.parse().unwrap();
    user.faults("bluesky", number, json!([{"on": "commit", "kind": "status", "status": 400}]))
        .await;
    let failed =
        run(&user, &["posts", "create", "--account-id", &account, "--caption", "x", "--wait"])
            .await;
    assert_eq!(failed.status.code(), Some(9), "{}", said(&failed));
    let reason = detail(&failed, "error.message");
    let listed = run(&user, &["posts", "list", "--status", "failed"]).await;
    assert!(out(&listed).contains(&reason), "{reason} in {}", out(&listed));
}

#[tokio::test]
async fn a_table_fits_its_terminal_and_cuts_no_id_and_no_address() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let caption =
        "A caption of so many words that no terminal has room for all of them in one line "
            .repeat(2);
    let new = json!({"account_id": account, "caption": caption, "scheduled_at": app.at(600)});
    let id = user.publish(new).await["id"].to_string();
    let url = "https://example.com/a/very/long/address/of/a/receiver/of/webhooks/that/is/not/cut";
    let hook = json!({"url": url, "events": ["post.published"]});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"]["id"].clone();
    for columns in [80, 120] {
        let (posts, _) = on_terminal(&user, columns, "posts list", "").await;
        let widest = posts.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= usize::from(columns), "{widest} of {columns}:\n{posts}");
        let words: Vec<_> = posts.split_whitespace().collect();
        assert!(words.contains(&id.as_str()) && words.contains(&"scheduled"), "{posts}");
        assert!(!posts.contains('…') && !posts.contains(".000Z"), "{posts}");
        let (hooks, _) = on_terminal(&user, columns, "webhooks list", "").await;
        assert!(hooks.contains(hook.as_str().unwrap()), "{hooks}");
        let shown = hooks.split_whitespace().find(|word| word.starts_with("https://"));
        assert!(shown.is_none_or(|shown| shown == url), "{hooks}");
    }
}

#[tokio::test]
async fn a_batch_ends_as_its_items_did() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let (good, bad) = (
        json!({"account_id": account, "caption": "Fine"}),
        json!({"account_id": 999_999, "caption": "x"}),
    );
    for (items, code) in [([&good, &good], 0), ([&good, &bad], 1), ([&bad, &bad], 9)] {
        let posts = json!(items).to_string();
        let ran = run(&user, &["posts", "create-batch", "--posts", &posts]).await;
        assert_eq!(ran.status.code(), Some(code), "{posts}: {}", said(&ran));
        let errors = items.iter().filter(|item| ***item == bad).count();
        assert_eq!(said(&ran).matches("item ").count(), errors, "{}", said(&ran));
        assert_eq!(out(&ran).lines().count(), 2 - errors, "{}", out(&ran));
    }
}

#[tokio::test]
async fn a_command_with_a_key_of_its_own_is_carried_out_once() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await.to_string();
    let at = app.at(600);
    let new =
        ["posts", "create", "--account-id", &account, "--caption", "Once", "--scheduled-at", &at];
    let keyed = [&new[..], &["--idempotency-key", "monday"]].concat();
    let ids = [run(&user, &keyed).await, run(&user, &keyed).await].map(|ran| detail(&ran, "id"));
    assert_eq!(ids[0], ids[1]);
    let unkeyed = [run(&user, &new).await, run(&user, &new).await].map(|ran| detail(&ran, "id"));
    assert_ne!(unkeyed[0], unkeyed[1]);
    let body =
        ["-f", &format!("account_id={account}"), "-f", "caption=Twice", "-f", "status=draft"];
    let api = [&["api", "POST", "posts", "-H", "Idempotency-Key: tuesday"][..], &body].concat();
    let read =
        |ran: Output| serde_json::from_slice::<Value>(&ran.stdout).unwrap()["post"]["id"].clone();
    assert_eq!(read(run(&user, &api).await), read(run(&user, &api).await));
    assert_eq!(
        user.get("/api/v1/posts").await.expect(200).body["posts"].as_array().unwrap().len(),
        4
    );
}

/// Reads a request; returns its `Idempotency-Key`.
fn key_of(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut key, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "idempotency-key" => value.trim().clone_into(&mut key),
            "content-length" => length = value.trim().parse().unwrap(),
            _ => {}
        }
    }
    let _ = reader.take(length).read_to_end(&mut Vec::new());
    key
}

/// How an answer is lost.
#[derive(Clone, Copy, PartialEq)]
enum Lost {
    /// Nothing of it comes.
    Whole,
    /// Its head comes, and half of its body.
    Half,
}

/// A service whose first answers are lost; returns its address and the keys of the requests that came.
fn forgetful(lost: usize, how: Lost) -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let (sent, keys) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().map_while(Result::ok).enumerate() {
            let _ = sent.send(key_of(&stream));
            if number >= lost || how == Lost::Half {
                let body = r#"{"post":{"id":7,"status":"scheduled"},"outcome":"created"}"#;
                let head = format!(
                    "HTTP/1.1 201 Created\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                let cut = if number < lost { body.len() / 2 } else { body.len() };
                let _ = (&stream).write_all((head + &body[..cut]).as_bytes());
            }
        }
    });
    (origin, keys)
}

#[tokio::test]
async fn after_a_lost_answer_the_same_key_is_sent_again() {
    let line = ["posts", "create", "--account-id", "7", "--caption", "x"];
    for how in [Lost::Whole, Lost::Half] {
        let (origin, keys) = forgetful(1, how);
        let made = run(&User::new(&origin, "fan_x".to_owned()), &line).await;
        assert_eq!(detail(&made, "id"), "7");
        let keys: Vec<_> = keys.try_iter().collect();
        assert_eq!(keys.len(), 2);
        assert!(!keys[0].is_empty() && keys[0] == keys[1], "{keys:?}");
    }

    let (origin, keys) = forgetful(100, Lost::Whole);
    let lost = run(&User::new(&origin, "fan_x".to_owned()), &line).await;
    assert_eq!(lost.status.code(), Some(8));
    let key = keys.try_iter().next().unwrap();
    assert!(said(&lost).contains(&format!("--idempotency-key {key}")), "{}", said(&lost));
}

#[tokio::test]
async fn what_is_done_and_cannot_be_followed_is_no_failure() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await.to_string();
    let person = app.person("writer@example.com").await;
    let team = app.workspace(person).await;
    let all = app.key(person, Some(team), &Scope::ALL).await;
    let own = all.connect("bluesky").await.to_string();
    let writer = app.key(person, Some(team), &[Scope::PostsWrite]).await;
    let new = ["posts", "create", "--account-id", &own, "--caption", "Made", "--wait"];
    let made = run(&writer, &new).await;
    assert_eq!(made.status.code(), Some(10), "{}", said(&made));
    let id = detail(&made, "id");
    assert_eq!(detail(&made, "caption"), "Made");
    assert!(said(&made).contains("It is done"), "{}", said(&made));
    all.get(&format!("/api/v1/posts/{id}")).await.expect(200);
    // Reading alone changes nothing: that it is refused is all there is to say.
    let read = run(&writer, &["posts", "get", &id, "--wait"]).await;
    assert_eq!(read.status.code(), Some(5), "{}", said(&read));

    // A change whose reply cannot be written says that it is done.
    let mut full = command(&user, &["posts", "create", "--account-id", &account, "--caption=Full"]);
    full.stdout(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    full.stderr(Stdio::piped());
    let ran = tokio::task::spawn_blocking(move || full.output().unwrap()).await.unwrap();
    assert_eq!(ran.status.code(), Some(1));
    assert!(said(&ran).contains("it is done"), "{}", said(&ran));
}

#[tokio::test]
async fn nothing_is_empty_or_away_without_a_reason() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let none = run(&user, &["webhooks", "list"]).await;
    assert_eq!((out(&none).as_str(), said(&none).as_str()), ("", "nothing: nothing yet\n"));
    let quiet = run(&user, &["webhooks", "list", "--quiet"]).await;
    assert_eq!(said(&quiet), "");
    let away = run(&User::new("http://127.0.0.1:9", user.key.clone()), &["posts", "list"]).await;
    assert_eq!(away.status.code(), Some(8));
    let told = said(&away);
    for word in ["nothing answers at http://127.0.0.1:9", "FANFARE_URL"] {
        assert!(told.contains(word), "{told}");
    }
}

#[tokio::test]
async fn what_nothing_ends_is_not_waited_for() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await.to_string();
    let tomorrow = app.at(86_400);
    let new = ["posts", "create", "--account-id", &account, "--caption", "x", "--wait"];
    for (more, why) in
        [(["--status", "draft"], "It is a draft"), (["--scheduled-at", &tomorrow], "It is due at")]
    {
        let ran = run(&user, &[&new[..], &more].concat()).await;
        assert_eq!(ran.status.code(), Some(10), "{}", said(&ran));
        assert!(said(&ran).contains(why) && !detail(&ran, "id").is_empty(), "{}", said(&ran));
    }
}

#[tokio::test]
async fn help_says_what_to_type_and_a_question_what_is_removed() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let new = json!({"account_id": account, "caption": "Nobody needs this", "status": "draft"});
    let id = user.publish(new).await["id"].to_string();
    for (line, codes, holds) in [
        (&["help", "posts"][..], 0, &["create-batch", "Short forms:", "Exit codes:"][..]),
        (&["posts", "create", "--help"], 0, &["[required]", "Example:", "--idempotency-key"]),
        (&["posts", "list", "--help"], 0, &["Example:", "Exit codes:"]),
        (&["post", "get", "--id", &id], 0, &["Nobody needs this"]),
        (&["posts", "status", &id], 0, &["draft"]),
        (&["posts", "resume", &id], 1, &["--scheduled-at"]),
        (&["posts", "attempts", &id], 2, &["'list-attempts'"]),
        (&["posts", "get", &id, "--poll"], 2, &["--poll"]),
        (&["psts", "list"], 2, &["'posts'"]),
    ] {
        let ran = run(&user, line).await;
        let text = out(&ran) + &said(&ran);
        assert_eq!(ran.status.code(), Some(codes), "{line:?}: {text}");
        for part in holds {
            assert!(text.contains(part), "{line:?}: {part} in {text}");
        }
        assert!(!text.contains("--profile' exists"), "{text}");
    }
    let (asked, is_done) = on_terminal(&user, 80, &format!("posts delete {id}"), "n\n").await;
    assert!(!is_done && asked.contains("Nobody needs this") && asked.contains(&id), "{asked}");
    user.get(&format!("/api/v1/posts/{id}")).await.expect(200);
    let unclear = User::new("127.0.0.1:8080", user.key.clone());
    let ran = run(&unclear, &["posts", "list"]).await;
    assert_eq!(ran.status.code(), Some(2));
    assert!(said(&ran).contains("write it as http://127.0.0.1:8080"), "{}", said(&ran));
}
