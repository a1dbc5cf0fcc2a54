//! Logging the command line in, as somebody at a shell and in front of a browser does it.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{Arc, Mutex},
};

use fanfare_core::access::Scope;
use fanfare_tests::{Options, TestApp, User, Visitor, files, visitor::PASSWORD};
use serde_json::Value;
use url::Url;

use crate::{
    oauth::{decide, parameter},
    service::{Dir, Service, eventually},
};

/// A shell of somebody who has set nothing, with a home and a browser of its own.
struct Shell {
    home: PathBuf,
    origin: String,
}

impl Shell {
    fn new(home: PathBuf, origin: &str) -> Self {
        std::fs::create_dir_all(&home).unwrap();
        let browser = home.join("browser");
        let script =
            "#!/bin/sh\nprintf '%s' \"$1\" > \"$0.opening\"\nmv \"$0.opening\" \"$0.opened\"\n";
        std::fs::write(&browser, script).unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o755)).unwrap();
        Self { home, origin: origin.to_owned() }
    }

    fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
        command.args(line).env("XDG_CONFIG_HOME", &self.home).env("FANFARE_URL", &self.origin);
        command.env("BROWSER", self.home.join("browser")).env_remove("FANFARE_API_KEY");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end.
    async fn run(&self, line: &[&str]) -> Output {
        let mut command = self.command(line);
        tokio::task::spawn_blocking(move || command.stdin(Stdio::null()).output().unwrap())
            .await
            .unwrap()
    }

    /// Begins a log-in; the address that it shows.
    async fn begin(&self, line: &[&str]) -> (Running, Url) {
        let mut child = self.command(line).spawn().unwrap();
        let said = Arc::<Mutex<Vec<String>>>::default();
        let (lines, kept) = (child.stderr.take().unwrap(), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in BufReader::new(lines).lines().map_while(Result::ok) {
                kept.lock().unwrap().push(line);
            }
        });
        let address = eventually("the address is shown", || async {
            let said = said.lock().unwrap();
            said.iter().find(|line| line.starts_with("http")).cloned()
        })
        .await;
        (Running { child: Some(child), said }, address.parse().unwrap())
    }

    fn profiles(&self) -> PathBuf {
        self.home.join("fanfare/profiles.toml")
    }

    fn stored(&self) -> String {
        std::fs::read_to_string(self.profiles()).unwrap()
    }

    /// Makes the access token look as if it had ended.
    fn age(&self) {
        let (mut aged, text) = (String::new(), self.stored());
        for line in text.lines() {
            let line = if line.starts_with("expires_at") { "expires_at = 1" } else { line };
            aged += &format!("{line}\n");
        }
        std::fs::write(self.profiles(), aged).unwrap();
    }
}

/// A command that waits for a person; it ends with the test.
struct Running {
    child: Option<Child>,
    said: Arc<Mutex<Vec<String>>>,
}

impl Running {
    fn type_in(&mut self, line: &str) {
        let mut input = self.child.as_mut().unwrap().stdin.take().unwrap();
        writeln!(input, "{line}").unwrap();
    }

    /// Waits for its end; the exit code and standard output.
    async fn end(mut self) -> (Option<i32>, String, String) {
        let child = self.child.take().unwrap();
        let ended = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
        let ended = ended.await.unwrap();
        let said = self.said.lock().unwrap().join("\n");
        (ended.status.code(), String::from_utf8(ended.stdout).unwrap(), said)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The path and query of an address of the service.
fn page(address: &Url) -> String {
    format!("{}?{}", address.path(), address.query().unwrap_or_default())
}

async fn bring(back: &Url) -> (u16, String) {
    let reply = fanfare_tests::local_client().get(back.as_str()).send().await.unwrap();
    (reply.status().as_u16(), reply.text().await.unwrap())
}

async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

/// Logs a shell in as a person.
async fn logged_in(app: &TestApp, person: &mut Visitor) -> Shell {
    let shell = Shell::new(app.dir().join(uuid::Uuid::now_v7().to_string()), &app.origin);
    let (running, address) = shell.begin(&["login", "--json"]).await;
    let back = decide(person, &page(&address), "allow").await;
    let (status, html) = bring(&back).await;
    assert!(status == 200 && html.contains("You are logged in"), "{status} {html}");
    let (code, _, said) = running.end().await;
    assert_eq!(code, Some(0), "{said}");
    shell
}

/// The owner of a fresh installation sets a password by the letter that stands at `/dev/mail`.
pub async fn set_password(owner: &mut Visitor, origin: &str) {
    let csrf = owner.get("/forgot").await.expect(200).hidden("csrf");
    let fields = [("csrf", csrf), ("email", "owner@localhost".to_owned())];
    let _ = owner.send("/forgot", &fields).await.expect(200);
    let (http, mail) = (fanfare_tests::local_client(), format!("{origin}/dev/mail"));
    let link = eventually("a letter", || async {
        let asked = http.get(&mail).header("Accept", "application/json").send().await.ok()?;
        let said: Value = asked.json().await.ok()?;
        let links = said["letters"][0]["links"].as_array()?.clone();
        let mut links = links.iter().filter_map(Value::as_str);
        links.find(|link| link.contains("/set-password/")).map(str::to_owned)
    })
    .await;
    let twice = ["password", "password_again"].map(|name| (name, PASSWORD.to_owned()));
    let _ = owner.submit(&link, &twice).await.expect(303);
}

#[tokio::test]
async fn the_owner_of_a_fresh_installation_logs_in_with_a_browser_and_no_setting() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    let shell = Shell::new(dir.join("home"), &service.origin);
    let (running, shown) = shell.begin(&["login", "--json"]).await;
    let opened = shell.home.join("browser.opened");
    let opened =
        eventually("the browser opens", || async { std::fs::read_to_string(&opened).ok() }).await;
    assert_eq!(opened, shown.as_str());
    let mut owner = Visitor::of(&service.origin);
    let page = page(&shown);
    let way_in = owner.get(&page).await.expect(303).location;
    assert!(way_in.starts_with("/login?next="), "{way_in}");
    set_password(&mut owner, &service.origin).await;
    let back = decide(&mut owner, &page, "allow").await;
    assert_eq!((back.host_str(), back.path()), (Some("127.0.0.1"), "/callback"));
    assert!(bring(&back).await.1.contains("You are logged in"));
    let (code, out, said) = running.end().await;
    assert_eq!(code, Some(0), "{said}");
    let who: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(who["user"]["email"], "owner@localhost");
    // The tokens stand in one file, and are shown nowhere.
    let (stored, code) = (shell.stored(), parameter(&back, "code"));
    let token = stored.split('"').find(|word| word.starts_with("fat_")).unwrap().to_owned();
    for secret in [token.as_str(), &code] {
        assert!(!said.contains(secret) && !out.contains(secret), "{said} {out}");
    }
    works(&shell, &dir).await;
    let _ = shell.run(&["logout"]).await;
    assert!(!shell.stored().contains("fat_"));
    let grants = service.user().get("/api/v1/oauth/grants").await.expect(200).body;
    assert_eq!(grants["grants"], serde_json::json!([]), "the log-in has ended there, too");
    assert_eq!(shell.run(&["auth", "status"]).await.status.code(), Some(4));
}

/// Commands find the log-in by themselves.
async fn works(shell: &Shell, dir: &Path) {
    let connected = shell.run(&["api", "POST", "sandbox/accounts", "-f", "platform=bluesky"]).await;
    assert!(connected.status.success(), "{}", String::from_utf8_lossy(&connected.stderr));
    let picture = dir.join("one.png");
    std::fs::write(&picture, files::png()).unwrap();
    let sent = shell.run(&["media", "upload", picture.to_str().unwrap()]).await;
    let address = String::from_utf8(sent.stdout).unwrap();
    assert!(address.contains("/media/"), "{}", String::from_utf8_lossy(&sent.stderr));
}

#[tokio::test]
async fn a_code_of_another_browser_is_typed_in() {
    let app = quiet().await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let shell = Shell::new(app.dir().join("home"), &app.origin);
    let (mut running, address) = shell.begin(&["login", "--no-browser", "--json"]).await;
    let back = decide(&mut ada, &page(&address), "allow").await;
    assert!(back.as_str().starts_with(&format!("{}/oauth/code?", app.origin)), "{back}");
    let shown = ada.get(&page(&back)).await.expect(200);
    let code = parameter(&back, "code");
    assert!(shown.html.contains(&code));
    running.type_in(&code);
    let (ended, out, said) = running.end().await;
    assert_eq!(ended, Some(0), "{said}");
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["user"]["email"], "ada@example.com");
    assert!(!shell.home.join("browser.opened").exists(), "no browser was opened here");
    let (mut running, _) = shell.begin(&["login", "--no-browser"]).await;
    running.type_in(&code);
    let (ended, _, said) = running.end().await;
    assert_eq!(ended, Some(4), "a code is good once, and for its own log-in: {said}");
}

#[tokio::test]
async fn answers_to_something_else_are_turned_away_and_a_no_is_a_no() {
    let app = quiet().await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let shell = Shell::new(app.dir().join("home"), &app.origin);
    let (running, address) = shell.begin(&["login"]).await;
    let back = decide(&mut ada, &page(&address), "deny").await;
    for (name, value) in [("state", "guessed"), ("iss", "https://evil.example")] {
        let mut forged = back.clone();
        let pairs: Vec<_> = back.query_pairs().filter(|(known, _)| known != name).collect();
        forged.query_pairs_mut().clear().extend_pairs(pairs).append_pair(name, value);
        let (status, html) = bring(&forged).await;
        assert!(status == 400 && html.contains("no answer to the log-in"), "{name}: {html}");
    }
    let mut elsewhere = back.clone();
    elsewhere.set_path("/");
    assert_eq!(bring(&elsewhere).await.0, 404);
    let (status, html) = bring(&back).await;
    assert!(status == 200 && html.contains("was not let in"), "{status} {html}");
    let (code, out, said) = running.end().await;
    assert_eq!((code, out.as_str()), (Some(4), ""), "{said}");
    assert!(!shell.profiles().exists());
}

#[tokio::test]
async fn of_commands_at_once_one_renews_the_log_in_for_all() {
    let app = quiet().await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let shell = Arc::new(logged_in(&app, &mut ada).await);
    let before = shell.stored();
    shell.age();
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let shell = Arc::clone(&shell);
        all.spawn(async move { shell.run(&["auth", "status", "--json"]).await });
    }
    for ended in all.join_all().await {
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let after = shell.stored();
    assert!(after != before && !after.contains("expires_at = 1\n"), "{after}");
    // The tokens of one service are sent to no other, be it the same service by another name.
    let other = app.second_instance().await;
    let ended = shell.run(&["auth", "status", "--api-url", &other]).await;
    assert_eq!(ended.status.code(), Some(4));
    // Once the person has ended it, only a new log-in helps.
    let tool = User::new(&app.origin, token(&after));
    let _ = tool.get("/api/v1/whoami").await.expect(200);
    let key = app.key(app.person("ada@example.com").await, None, &Scope::ALL);
    let key = key.await;
    let grants = key.get("/api/v1/oauth/grants").await.expect(200).body;
    let id = grants["grants"][0]["id"].as_str().unwrap().to_owned();
    let _ = key.delete(&format!("/api/v1/oauth/grants/{id}")).await.expect(200);
    shell.age();
    let ended = shell.run(&["auth", "status"]).await;
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{said}");
    assert!(said.contains("run fanfare login"), "{said}");
    assert!(!shell.stored().contains("frt_"));
}

#[tokio::test]
async fn a_new_log_in_takes_the_place_of_the_one_before() {
    let app = quiet().await;
    let (person, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let shell = logged_in(&app, &mut ada).await;
    let before = token(&shell.stored());
    let (running, address) = shell.begin(&["login"]).await;
    let back = decide(&mut ada, &page(&address), "allow").await;
    let _ = bring(&back).await;
    let (code, _, said) = running.end().await;
    assert_eq!(code, Some(0), "{said}");
    let (before, now) =
        (User::new(&app.origin, before), User::new(&app.origin, token(&shell.stored())));
    before.get("/api/v1/whoami").await.refused(401, "api_key_revoked");
    let _ = now.get("/api/v1/whoami").await.expect(200);
    let key = app.key(person, None, &Scope::ALL).await;
    let grants = key.get("/api/v1/oauth/grants").await.expect(200).body;
    assert_eq!(grants["grants"].as_array().unwrap().len(), 1, "{grants}");
}

fn token(stored: &str) -> String {
    stored.split('"').find(|word| word.starts_with("fat_")).unwrap().to_owned()
}

#[tokio::test]
async fn a_token_that_the_service_refuses_before_its_time_is_renewed_once() {
    let app = quiet().await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let shell = logged_in(&app, &mut ada).await;
    let before = shell.stored();
    // The service's clock goes ahead of the machine's: the token has ended there.
    app.advance(std::time::Duration::from_secs(2 * 3_600));
    let output = shell.run(&["auth", "status"]).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_ne!(shell.stored(), before);
    let ended = shell.run(&["logout"]).await;
    assert!(String::from_utf8_lossy(&ended.stderr).contains("fanfare login"));
    let refused = shell.run(&["auth", "status"]).await;
    assert_eq!(refused.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("fanfare login"));
}
