//! The simulator is a test double: what it shares with the product, and every way in that is shut. How its own server
//! shuts them is in `sandbox/tests/it/doors.rs`.

use std::{
    os::unix::fs::PermissionsExt,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fanfare_core::{
    access::Scope,
    clock::{machine_now, to_rfc3339},
};
use fanfare_tests::{Options, Picture, Simulator, TestApp, User, Visitor, networks};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::service::{Dir, Service};

/// Fetches an address.
async fn fetched(url: impl reqwest::IntoUrl) -> reqwest::Response {
    fanfare_tests::local_client().get(url).send().await.unwrap()
}

/// The status of a request whose path is sent as it is.
async fn status(origin: &str, method: &str, path: &str) -> u16 {
    let address = origin.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn the_products_listener_knows_no_simulator() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    let simulator = Simulator::of(&dir);
    let made = service.user().connect("bluesky").await;
    let page = service.user().get("/api/v1/accounts").await.body["accounts"][0].clone();
    let page = page["sandbox_page_url"].as_str().unwrap().to_owned();
    let below = page.strip_prefix(simulator.url.as_str()).expect("a page of the simulator");
    for path in [
        "/sandbox",
        "/sandbox/",
        "/sandbox/bluesky/ui",
        "/sandbox/_control/bluesky/accounts",
        "/sandbox/%5Fcontrol/bluesky/accounts",
        "/_control/bluesky/accounts",
        "/%5Fcontrol/bluesky/accounts",
        "//sandbox/_control/bluesky/accounts",
        "/./sandbox/_control/bluesky/accounts",
        "/sandbox/../_control/bluesky/accounts",
        "/bluesky/xrpc/com.atproto.server.createSession",
        &format!("/{below}"),
        &format!("/sandbox/{below}"),
    ] {
        for method in ["GET", "POST"] {
            assert_eq!(status(&service.origin, method, path).await, 404, "{method} {path}");
        }
    }
    let host = simulator.url.host_str().unwrap();
    assert_eq!(host, "127.0.0.1", "it listens on loopback");
    assert_ne!(format!("{}/", service.origin), simulator.url.as_str(), "and on a port of its own");
    assert!(!simulator.secret.is_empty());
    let note = std::fs::metadata(dir.join("simulator.json")).unwrap().permissions();
    assert_eq!(note.mode() & 0o777, 0o600);
    assert_eq!(fetched(&page).await.status().as_u16(), 200);
    assert!(made > 0);
}

#[tokio::test]
async fn the_control_is_for_whoever_has_the_secret() {
    let dir = Dir::new();
    let _service = Service::start(&dir, true, &[]);
    let simulator = Simulator::of(&dir);
    let url = format!("{}_control/bluesky/accounts", simulator.url);
    let http = fanfare_tests::local_client();
    for wrong in ["", "wrong", &simulator.secret[1..], &format!("{}x", simulator.secret)] {
        for method in [Method::GET, Method::POST] {
            let asked = http.request(method, &url).bearer_auth(wrong).send().await.unwrap();
            assert_eq!(asked.status().as_u16(), 401, "{wrong:?}");
        }
    }
    assert_eq!(http.get(&url).send().await.unwrap().status().as_u16(), 401);
    assert!(simulator.accounts("bluesky").await.is_empty(), "nothing was made");
    // The command that prints both, and the help that names it.
    let fanfare = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
        let ran = command.args(args).env("FANFARE_DATA_DIR", &*dir).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    let shown = fanfare(&["sandbox", "--show"]);
    let address = simulator.url.as_str().trim_end_matches('/');
    assert_eq!(shown, format!("address {address}\nsecret {}\n", simulator.secret));
    assert!(fanfare(&["up", "--help"]).contains("fanfare sandbox --show"));
}

#[tokio::test]
async fn it_can_be_left_out() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[("FANFARE_SIMULATOR", "off")]);
    let user = service.user();
    let refused = user.post("/api/v1/sandbox/accounts", json!({"platform": "bluesky"})).await;
    assert!(refused.refused(503, "unavailable").text.contains("FANFARE_SANDBOX_URL"));
    let session = json!({"sandbox": true});
    let _ = user.post("/api/v1/connect/threads/sessions", session).await.expect(503);
    assert!(!dir.join("simulator.json").exists() && !dir.join("sandbox").exists());
}

/// Posts that are due in so many seconds, one for each account.
async fn in_seconds(user: &User, seconds: i64, accounts: &[(&str, i64)]) -> Vec<Value> {
    let at = to_rfc3339(machine_now() + seconds * 1_000);
    let mut ids = Vec::new();
    for (name, account) in accounts {
        let mut post = json!({"account_id": account, "caption": format!("Kept on {name}")});
        post["settings"] = networks::needed_settings(name);
        post["scheduled_at"] = json!(at);
        ids.push(user.publish(post).await["id"].clone());
    }
    ids
}

/// Networks whose usual post needs no file.
const PLAIN: [&str; 10] = [
    "bluesky",
    "devto",
    "discord",
    "hashnode",
    "lemmy",
    "mastodon",
    "telegram",
    "threads",
    "wordpress",
    "x",
];

async fn all_public(user: &User, ids: &[Value]) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(240);
    for id in ids {
        loop {
            let shown = user.get(&format!("/api/v1/posts/{id}")).await.expect(200);
            let post = shown.body["post"].clone();
            if post["status"] == "published" {
                break;
            }
            assert_ne!(post["status"], "failed", "{post:#}");
            assert!(tokio::time::Instant::now() < deadline, "it stays like this: {post:#}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test]
async fn a_kill_right_after_an_account_is_made_forgets_nothing() {
    let (dir, asks_often) = (Dir::new(), [("FANFARE_LIMITS_FACTOR", "100")]);
    let service = Service::start(&dir, true, &asks_often);
    let mut user = service.user();
    let mut accounts = Vec::new();
    for name in PLAIN {
        accounts.push((name, user.connect(name).await));
    }
    let ids = in_seconds(&user, 30, &accounts).await;
    let before = Simulator::of(&dir);
    // Dropped, it is killed with SIGKILL.
    drop(service);
    let service = Service::start(&dir, false, &asks_often);
    user.origin.clone_from(&service.origin);
    all_public(&user, &ids).await;
    for (name, account) in accounts {
        assert_eq!(user.on_network(name, account).await.len(), 1, "{name}");
    }
    assert_eq!(Simulator::of(&dir).secret, before.secret, "realms follow from it");
}

/// A process that is killed at the latest with the test.
struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `fanfare sandbox` in a process of its own.
fn alone(dir: &Dir, listen: &str) -> (Killed, Simulator) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fanfare"))
        .arg("sandbox")
        .env("FANFARE_LISTEN", listen)
        .env("FANFARE_DATA_DIR", &**dir)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut said, &mut String::new()).unwrap();
    (Killed(child), Simulator::of(dir))
}

#[tokio::test]
async fn a_simulator_of_its_own_is_as_shut_and_forgets_as_little() {
    let (dir, there) = (Dir::new(), Dir::new());
    let (process, simulator) = alone(&there, "127.0.0.1:0");
    let variables = [
        ("FANFARE_SANDBOX_URL", simulator.url.as_str()),
        ("FANFARE_SANDBOX_SECRET", &simulator.secret),
        ("FANFARE_LIMITS_FACTOR", "100"),
    ];
    let service = Service::on_stack(&dir, &variables).await;
    assert!(!dir.join("sandbox").exists(), "`up` brings none of its own then");
    let url = format!("{}_control/platforms", simulator.url);
    assert_eq!(fetched(url).await.status().as_u16(), 401);
    let user = service.user();
    let mut accounts = Vec::new();
    for name in PLAIN {
        accounts.push((name, user.connect(name).await));
    }
    // Dropped, it is killed with SIGKILL.
    drop(process);
    let address = format!("127.0.0.1:{}", simulator.url.port().unwrap());
    let (_process, _) = alone(&there, &address);
    all_public(&user, &in_seconds(&user, 1, &accounts).await).await;
    // Without the secret there is no start.
    let ran = Command::new(env!("CARGO_BIN_EXE_fanfare"))
        .arg("up")
        .env("FANFARE_DATA_DIR", &*dir)
        .env("FANFARE_SANDBOX_URL", simulator.url.as_str())
        .output()
        .unwrap();
    assert!(!ran.status.success());
    assert!(String::from_utf8_lossy(&ran.stderr).contains("FANFARE_SANDBOX_SECRET is required"));
}

#[tokio::test]
async fn an_account_is_shown_to_its_workspace_alone() {
    let app = TestApp::start().await;
    let mut people = Vec::new();
    for name in ["ada", "ben"] {
        let email = format!("{name}@example.com");
        let (id, visitor) = Visitor::person(&app, &email).await;
        people.push((visitor, app.key(id, None, &Scope::ALL).await));
    }
    let [(_, ada), (visitor, ben)] = &mut people[..] else { unreachable!("two people") };
    for platform in ["threads", "mastodon", "facebook"] {
        let account = |name: &str| json!({"platform": platform, "username": name});
        let made = async |user: &User, name: &str| {
            let new = user.post("/api/v1/sandbox/accounts", account(name)).await;
            new.expect(201).body["account"].clone()
        };
        // The same name in both workspaces: nobody finds out that it is taken elsewhere.
        let (one, other) = (made(ada, "samename").await, made(ben, "samename").await);
        let _ = made(ada, "onlyadas").await;
        let page = |account: &Value| account["sandbox_page_url"].as_str().unwrap().to_owned();
        let (one, other) = (page(&one), page(&other));
        let realm = |page: &str| page[app.simulator.url.as_str().len()..][..32].to_owned();
        assert_ne!(realm(&one), realm(&other));
        let status = async |url: &str| fetched(url).await.status().as_u16();
        assert_eq!((status(&one).await, status(&other).await), (200, 200), "{platform}: {one}");
        assert_eq!(status(&one.replace(&realm(&one), &realm(&other))).await, 404);
        // The page on which access is granted names Ben's accounts to Ben, and no others.
        let path = format!("/api/v1/connect/{platform}/sessions");
        let session = ben.post(&path, json!({"sandbox": true})).await.expect(201);
        let link = session.body["connect_session"]["connect_url"].as_str().unwrap().to_owned();
        let fields = [("instance_url", "social.example")];
        let path = link[link.find("/connect/").unwrap()..].to_owned();
        let _ = visitor.get(&path).await.expect(200);
        let away = visitor.step(&path, "go", &fields).await.expect(200).link("Continue to");
        assert!(away.contains(&realm(&other)), "{away}");
        let asked = fetched(&away).await.text().await.unwrap();
        assert!(asked.contains("samename") && !asked.contains("onlyadas"), "{platform}: {asked}");
        // Sent anywhere else, the same page sends nobody there.
        let astray = away.replace("redirect_uri=", "redirect_uri=https%3A%2F%2Fevil.example%2F&x=");
        let astray = fetched(format!("{astray}&account=none")).await;
        assert_ne!(astray.url().host_str(), Some("evil.example"), "{platform}");
        assert!(astray.status().as_u16() >= 400, "{platform}");
    }
}

/// An address on this machine that nobody should ask, and how often it was.
async fn nobodys() -> (String, Arc<AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/cover.jpg", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (url, asked)
}

/// Our address of a file of a type, which was uploaded.
async fn uploaded(user: &User, mime: &str) -> String {
    let file = fetched(Picture::lasting().file(mime, 0)).await.bytes().await.unwrap();
    let name = format!("file.{}", mime.rsplit('/').next().unwrap());
    user.upload(&name, mime, &file).await["public_url"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_networks_fetch_our_media_and_nothing_else_that_is_private() {
    let app = TestApp::with(Options { allow_private: false, ..Options::default() }).await;
    let user = app.user().await;
    let (private, asked) = nobodys().await;
    let media = uploaded(&user, "image/jpeg").await;
    for name in ["threads", "instagram", "telegram"] {
        let account = user.connect(name).await;
        let body = json!({
            "account_id": account, "caption": "Ours", "media_urls": [media],
            "settings": networks::needed_settings(name),
        });
        let post = networks::publish(&app, &user, body).await;
        assert_eq!(post["status"], "published", "{name}: {post:#}");
    }
    // Straight at the networks, with an account's own token.
    let made = app.simulator.stand_in("threads").await;
    let (base, id) = (made["base_url"].as_str().unwrap(), made["remote_id"].as_str().unwrap());
    let form = [
        ("media_type", "IMAGE"),
        ("image_url", private.as_str()),
        ("access_token", made["credentials"]["access_token"].as_str().unwrap()),
    ];
    let http = fanfare_tests::local_client();
    let sent = http.post(format!("{base}/v1.0/{id}/threads")).form(&form).send().await.unwrap();
    assert!(sent.status().is_client_error());
    let made = app.simulator.stand_in("telegram").await;
    let (base, bot) = (made["base_url"].as_str().unwrap(), &made["credentials"]["bot_token"]);
    let form = [("chat_id", made["remote_id"].as_str().unwrap()), ("photo", &private)];
    let sent = http
        .post(format!("{base}/bot{}/sendPhoto", bot.as_str().unwrap()))
        .form(&form)
        .send()
        .await
        .unwrap();
    assert!(sent.status().is_client_error());
    assert_eq!(asked.load(Ordering::SeqCst), 0, "nobody was asked");
}

/// Every setting of every network that holds an address, in the network's own examples, given a private one: no part of
/// the service asks there, and neither does a simulated network.
#[tokio::test]
async fn no_setting_makes_the_service_ask_a_private_address() {
    let app = TestApp::with(Options { allow_private: false, ..Options::default() }).await;
    let user = app.user().await;
    let (private, asked) = nobodys().await;
    let mut tried = Vec::new();
    for name in networks::all() {
        let account = user.connect(name).await;
        for example in networks::connector(name).spec().examples {
            let given = networks::example(example);
            let settings = given["settings"].as_object().cloned().unwrap_or_default();
            let mut files = Vec::new();
            for mime in example.media {
                files.push(uploaded(&user, mime).await);
            }
            for setting in settings.keys().filter(|name| name.ends_with("url")) {
                for address in [private.clone(), private.replace("http:", "https:")] {
                    let mut body = given.clone();
                    body["account_id"] = json!(account);
                    body["media_urls"] = json!(files);
                    body["settings"][setting] = json!(address);
                    let made = user.post("/api/v1/posts", body).await;
                    assert!(made.status < 500, "{name} {setting}: {}", made.text);
                    if made.status == 201 {
                        networks::ended(&app, &user, &made.body["post"]["id"]).await;
                    }
                    tried.push(format!("{name}.{setting}"));
                }
            }
        }
    }
    assert!(tried.iter().any(|one| one == "pinterest.cover_image_url"), "{tried:?}");
    assert!(tried.len() > 10, "{tried:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 0, "nobody was asked");
}

/// The two documented ways into a forum: a thread of its own, and a message in one that is there.
#[tokio::test]
async fn a_post_opens_a_thread_of_a_forum_and_another_goes_into_it() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let new = json!({"platform": "discord", "username": "News forum"});
    let made = user.post("/api/v1/sandbox/accounts", new).await.expect(201).body;
    let account = made["account"]["id"].as_i64().unwrap();
    app.start_workers();
    let publish = async |caption: &str, settings: Value| {
        let body = json!({"account_id": account, "caption": caption, "settings": settings});
        networks::publish(&app, &user, body).await
    };
    let refused = publish("Without a thread", json!({})).await;
    assert_eq!(refused["status"], "failed", "{refused:#}");
    let first = publish("A new thread", json!({"thread_name": "News"})).await;
    assert_eq!(first["status"], "published", "{first:#}");
    let thread = first["platform_post_id"].clone();
    let second = publish("In a thread", json!({ "thread_id": thread })).await;
    assert_eq!(second["status"], "published", "{second:#}");
    let held = user.on_network("discord", account).await;
    let shown: Vec<_> = held.iter().map(|post| (&post["text"], &post["thread_id"])).collect();
    assert_eq!(shown, [(&json!("A new thread"), &thread), (&json!("In a thread"), &thread)]);
}
