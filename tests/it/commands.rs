//! The commands that speak to a running service, as somebody at a shell uses them.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use fanfare_tests::{Options, TestApp, User, files};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::signup::text;

async fn fanfare(user: &User, line: &[&str], typed: &'static str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
    command.args(line).env("FANFARE_URL", &user.origin).env("FANFARE_API_KEY", &user.key);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = move || {
        let mut child = command.spawn().expect("the binary runs");
        let mut input = child.stdin.take().expect("piped");
        // A command that reads nothing may have ended before.
        let _ = std::io::Write::write_all(&mut input, typed.as_bytes());
        drop(input);
        child.wait_with_output().expect("it ends")
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

fn out(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&out(output)).unwrap()
}

#[tokio::test]
async fn a_post_is_made_followed_changed_and_deleted_from_the_shell() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await.to_string();
    let picture = app.dir().join("one.png");
    std::fs::write(&picture, files::png()).unwrap();
    let line = [
        "posts",
        "create",
        "--account-id",
        &account,
        "--caption",
        "From a shell",
        "--media-url",
        picture.to_str().unwrap(),
        "--scheduled-at",
        &app.at(600),
        "--json",
    ];
    let post = json_of(&fanfare(&user, &line, "").await)["post"].clone();
    assert_eq!(post["caption"], "From a shell");
    assert!(post["media_urls"][0].as_str().unwrap().contains("/media/"), "{post}");
    let id = post["id"].to_string();
    let listed = out(&fanfare(&user, &["posts", "list", "--limit", "5"], "").await);
    assert!(
        listed.lines().count() == 1 && listed.split('\t').any(|cell| cell == "From a shell"),
        "{listed}"
    );
    let body = r#"{"caption": "Changed"}"#;
    let changed = fanfare(&user, &["posts", "update", &id, "--input", "-", "--json"], body).await;
    assert_eq!(json_of(&changed)["post"]["caption"], "Changed");
    let unasked = fanfare(&user, &["posts", "delete", &id], "").await;
    assert_eq!(unasked.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unasked.stderr).contains("--yes"));
    let gone = fanfare(&user, &["posts", "delete", &id, "--yes", "--json"], "").await;
    assert_eq!(json_of(&gone), json!({"deleted": true, "id": post["id"]}));
}

#[tokio::test]
async fn a_command_ends_with_what_became_of_it() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let stranger = User::new(&user.origin, "fan_unknown".to_owned());
    let away = User::new("http://127.0.0.1:9", user.key.clone());
    let ends: [(&User, &[&str], i32); 8] = [
        (&user, &["discovery", "whoami"], 0),
        (&user, &["posts", "list", "--limit", "0"], 1),
        (&user, &["posts", "create"], 2),
        (&user, &["posts", "nothing"], 2),
        (&user, &["posts", "get", "999999"], 3),
        (&stranger, &["discovery", "whoami"], 4),
        (&user, &["api", "GET", "/api/v1/nowhere"], 3),
        (&away, &["discovery", "whoami"], 8),
    ];
    for (who, line, code) in ends {
        let ended = fanfare(who, line, "").await;
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(code), "{line:?}: {said}");
        assert_eq!(code == 0, ended.stderr.is_empty(), "{line:?}: {said}");
        assert!(!said.contains(&user.key), "{line:?} shows the key");
    }
    let refused = fanfare(&user, &["api", "GET", "posts?limit=0", "--json"], "").await;
    let body: Value = serde_json::from_slice(&refused.stderr).unwrap();
    assert_eq!(body["code"], "invalid_field");
    assert!(refused.stdout.is_empty());
}

#[tokio::test]
async fn any_request_can_be_sent_and_a_key_is_kept_for_its_owner_alone() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let line = ["api", "POST", "sandbox/accounts", "-f", "platform=bluesky", "--json"];
    let account = json_of(&fanfare(&user, &line, "").await);
    assert_eq!(account["account"]["platform"], "bluesky");
    let home = app.dir().join("home");
    let keyless = |line: &'static [&'static str], typed: String| {
        let (home, origin) = (home.clone(), user.origin.clone());
        tokio::task::spawn_blocking(move || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
            command.args(line).env("XDG_CONFIG_HOME", home).env("FANFARE_URL", origin);
            command.env_remove("FANFARE_API_KEY").stdin(Stdio::piped());
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            std::io::Write::write_all(&mut input, typed.as_bytes()).unwrap();
            drop(input);
            child.wait_with_output().unwrap()
        })
    };
    let login = keyless(&["login", "--key", "--json"], format!("{}\n", user.key)).await.unwrap();
    assert!(login.status.success(), "{}", String::from_utf8_lossy(&login.stderr));
    let file = home.join("fanfare/profiles.toml");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "others can read {mode:o}");
    }
    let who = keyless(&["auth", "status", "--json"], String::new()).await.unwrap();
    assert_eq!(
        json_of(&who)["user"]["email"],
        user.get("/api/v1/whoami").await.body["user"]["email"]
    );
    let _ = keyless(&["logout"], String::new()).await.unwrap();
    assert!(!std::fs::read_to_string(&file).unwrap().contains("fan_"));
    let nobody = keyless(&["auth", "status"], String::new()).await.unwrap();
    assert_eq!(nobody.status.code(), Some(4));
}

#[tokio::test]
async fn shells_complete_every_command_and_each_has_a_man_page() {
    let nobody = User::new("http://127.0.0.1:9", String::new());
    let dir = std::env::temp_dir().join(format!("fanfare-man-{}", uuid::Uuid::now_v7().simple()));
    std::fs::create_dir_all(&dir).unwrap();
    let script = out(&fanfare(&nobody, &["completions", "bash"], "").await);
    let asked = "COMP_WORDS=(fanfare posts cr) COMP_CWORD=2; _fanfare fanfare cr posts; echo \"${COMPREPLY[@]}\"; \
                 COMP_WORDS=(fanfare oauth clients li) COMP_CWORD=3; _fanfare fanfare li clients; echo \"${COMPREPLY[@]}\"; \
                 COMP_WORDS=(fanfare posts create --cap) COMP_CWORD=3; _fanfare fanfare --cap create; echo \"${COMPREPLY[@]}\"";
    let file = dir.join("completions.sh");
    std::fs::write(&file, format!("{script}\n{asked}\n")).unwrap();
    let bash =
        tokio::task::spawn_blocking(move || Command::new("bash").arg(&file).output().unwrap());
    let completed = out(&bash.await.unwrap());
    let lines: Vec<_> = completed.lines().collect();
    assert!(lines[0].split(' ').any(|word| word == "create"), "{completed}");
    assert_eq!(lines[1..], ["list", "--caption"], "{completed}");
    for shell in ["zsh", "fish", "powershell"] {
        let script = out(&fanfare(&nobody, &["completion", shell], "").await);
        assert!(script.contains("media-urls") && script.contains("no-browser"), "{shell}");
    }
    let unknown = fanfare(&nobody, &["completions", "cmd"], "").await;
    assert_eq!(unknown.status.code(), Some(2));
    let _ = out(&fanfare(&nobody, &["man", dir.to_str().unwrap()], "").await);
    let page = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap_or_default();
    assert!(page("fanfare.1").contains("fanfare\\-posts(1)"), "{}", page("fanfare.1"));
    assert!(page("fanfare-posts-create.1").contains("\\-\\-scheduled\\-at"));
    assert!(page("fanfare-login.1").contains("\\-\\-no\\-browser"));
    std::fs::remove_dir_all(dir).unwrap();
}

/// A command that runs on; it ends with the story.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts to watch; the lines that it prints.
fn watch(user: &User, more: &[&str]) -> (Running, mpsc::UnboundedReceiver<String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
    command.arg("watch").args(more);
    command.env("FANFARE_URL", &user.origin).env("FANFARE_API_KEY", &user.key);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let (said, lines) = mpsc::unbounded_channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        out.lines().map_while(Result::ok).all(|line| said.send(line).is_ok())
    });
    (Running(child), lines)
}

#[tokio::test]
async fn events_are_watched_from_now_on_or_from_a_number() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let post = async |caption: &str| {
        let new = json!({"account_id": account, "caption": caption, "scheduled_at": app.at(600)});
        user.publish(new).await["id"].clone()
    };
    let events = async || {
        let listed = user.get("/api/v1/events?limit=100").await.expect(200).body;
        listed["events"].as_array().unwrap().clone()
    };
    let before = post("Before").await;
    // The first event is that of the account.
    app.eventually("the event has its number", || async {
        (events().await.len() > 1).then_some(())
    })
    .await;
    let (_all, mut all) = watch(&user, &["--after", "1", "--json"]);
    let first: Value = serde_json::from_str(&all.recv().await.unwrap()).unwrap();
    assert_eq!(first["data"]["post"]["id"], before, "{first}");
    let (_plain, mut plain) = watch(&user, &["--after", "1"]);
    let line = plain.recv().await.unwrap();
    let told = format!("{}\t{}\tpost {before}", text(&first, "created_at"), text(&first, "type"));
    assert_eq!(line, told);
    // Without a number the command shows events from now on. It is known to watch once it prints something.
    let (_new, mut new) = watch(&user, &["--json"]);
    let mut seen = None;
    for _ in 0..60 {
        let _ = post("After").await;
        seen = tokio::time::timeout(Duration::from_secs(1), new.recv()).await.ok().flatten();
        if seen.is_some() {
            break;
        }
    }
    let seen = seen.expect("something is printed");
    let seen: Value = serde_json::from_str(&seen).unwrap();
    assert_ne!(seen["data"]["post"]["id"], before, "{seen}");
    assert!(seen["sequence"].as_i64() > first["sequence"].as_i64(), "{seen}");
}

#[tokio::test]
async fn what_cannot_be_written_is_an_error_and_a_list_says_that_it_goes_on() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    for number in 0..23 {
        let caption = format!("Draft {number}");
        let new = json!({"account_id": account, "caption": caption, "status": "draft"});
        let _ = user.publish(new).await;
    }
    for line in
        [&["posts", "list"][..], &["posts", "list", "--json"], &["api", "GET", "/api/v1/whoami"]]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
        command.args(line).env("FANFARE_URL", &user.origin).env("FANFARE_API_KEY", &user.key);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        command.stdout(full).stderr(Stdio::piped());
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert_eq!(output.status.code(), Some(1), "{line:?}");
        assert!(!output.stderr.is_empty(), "{line:?}");
    }
    let first = fanfare(&user, &["posts", "list"], "").await;
    assert_eq!(out(&first).lines().count(), 20);
    let hint = String::from_utf8_lossy(&first.stderr).into_owned();
    let cursor = hint.split("--cursor ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    let rest = fanfare(&user, &["posts", "list", "--cursor", cursor], "").await;
    assert_eq!((out(&rest).lines().count(), rest.stderr.len()), (3, 0));
    let all = fanfare(&user, &["posts", "list", "--all"], "").await;
    assert_eq!(out(&all), out(&first) + &out(&rest));
}

#[tokio::test]
async fn a_plain_request_prints_what_came() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let who = fanfare(&user, &["api", "GET", "/api/v1/whoami"], "").await;
    assert_eq!(json_of(&who), user.get("/api/v1/whoami").await.expect(200).body);
    let index = fanfare(&user, &["api", "GET", "/llms.txt"], "").await;
    assert!(out(&index).starts_with("# "), "{}", out(&index));
}

#[tokio::test]
async fn man_pages_have_a_date_and_a_version() {
    let dir = std::env::temp_dir().join(format!("fanfare-man-{}", uuid::Uuid::now_v7().simple()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
    let written = command.arg("man").arg(&dir).output().unwrap();
    assert!(written.status.success());
    for page in ["fanfare.1", "fanfare-posts-create.1"] {
        let text = std::fs::read_to_string(dir.join(page)).unwrap();
        let title = text.lines().find(|line| line.starts_with(".TH")).unwrap();
        assert!(title.contains("Fanfare ") && title.contains("20"), "{title}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}
