//! Ways in that are shut: the control without its secret, by any spelling; names that are a stranger's; other realms;
//! redirects to anywhere; private addresses.

use fanfare_outbound::{Client as Guarded, Policy};
use fanfare_sandbox::{Sandbox, Setup};
use reqwest::{Client, Method, redirect};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::{Account, BACK, Net, SECRET, files, png, send, setup};

/// Sends a request line as it is, which a client library would tidy up, with these headers; the whole answer.
async fn raw(net: &Net, line: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(net.address).await.unwrap();
    let request = format!("{line} HTTP/1.1\r\n{headers}connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

async fn made(net: &Net) -> usize {
    let listed = net.control(Method::GET, "bluesky/accounts", Value::Null).await.is(200);
    listed["accounts"].as_array().unwrap().len()
}

#[tokio::test]
async fn the_control_wants_its_secret_however_it_is_spelt() {
    let net = Net::new().await;
    net.account("bluesky").await;
    let host = format!("host: {}\r\ncontent-length: 0\r\n", net.address);
    for path in [
        "/_control/bluesky/accounts",
        "/%5Fcontrol/bluesky/accounts",
        "/%5fcontrol/bluesky/accounts",
        "/_%63ontrol/bluesky/accounts",
        "//_control/bluesky/accounts",
        "/./_control/bluesky/accounts",
        "/shared/../_control/bluesky/accounts",
        "/shared/%2e%2e/_control/bluesky/accounts",
        "/shared/bluesky/../../_control/bluesky/accounts",
        "/shared//_control/bluesky/accounts",
        "/_control//bluesky/accounts",
        "/_control/./bluesky/accounts",
        "/_control%2Fbluesky%2Faccounts",
        "\\_control\\bluesky\\accounts",
    ] {
        for secret in ["", "authorization: Bearer\r\n", "authorization: Bearer wrong\r\n"] {
            let answer = raw(&net, &format!("POST {path}"), &format!("{host}{secret}")).await;
            assert!([400, 401, 404].contains(&status(&answer)), "{path} {secret}: {answer}");
        }
    }
    // Another spelling of the path is refused with the right secret, too.
    let known = format!("{host}authorization: Bearer {SECRET}\r\n");
    for path in ["/%5Fcontrol/bluesky/accounts", "//_control/bluesky/accounts"] {
        assert_eq!(status(&raw(&net, &format!("POST {path}"), &known).await), 404, "{path}");
    }
    assert_eq!(made(&net).await, 1, "nothing was made");
    let good = raw(&net, "POST /_control/bluesky/accounts", &known).await;
    assert_eq!(status(&good), 201, "{good}");
}

#[tokio::test]
async fn a_name_that_is_a_strangers_reaches_nothing() {
    let net = Net::new().await;
    let account = net.account("mastodon").await;
    let page = format!("GET /shared/mastodon/ui/{}", account.remote_id);
    // A page in somebody's browser may let its own name lead to this machine.
    for name in ["evil.example", "evil.example:80", "10.0.0.1", "localhost.evil.example"] {
        let answer = raw(&net, &page, &format!("host: {name}\r\n")).await;
        assert_eq!(status(&answer), 421, "{name}: {answer}");
    }
    for name in ["localhost:1", "127.0.0.1", "[::1]:9"] {
        assert_eq!(status(&raw(&net, &page, &format!("host: {name}\r\n")).await), 200, "{name}");
    }
}

#[tokio::test]
async fn by_the_public_name_or_a_proxy_there_are_pages_and_nothing_else() {
    let sandbox = Sandbox::open(setup(None)).await.unwrap();
    sandbox.set_public_url(&"https://networks.example/".parse().unwrap());
    let net = Net::of(sandbox).await;
    let account = net.account("mastodon").await;
    let token = format!("authorization: Bearer {}\r\n", account.credential("access_token"));
    let by_name = "host: networks.example\r\n";
    let by_proxy = &format!("host: {}\r\nx-forwarded-for: 203.0.113.9\r\n", net.address);
    let consent = format!(
        "GET /shared/mastodon/oauth/authorize?client_id=a&redirect_uri={BACK}&response_type=code&scope=read"
    );
    for way in [by_name, by_proxy] {
        let page = format!("GET /shared/mastodon/ui/{}", account.remote_id);
        assert_eq!(status(&raw(&net, &page, way).await), 200, "{way}");
        let asked = raw(&net, &consent, way).await;
        assert_eq!(status(&asked), 200, "{way}: {asked}");
        assert!(asked.contains("https://networks.example/shared/mastodon/oauth/authorize?"));
        let known = format!("{way}authorization: Bearer {SECRET}\r\n");
        assert_eq!(status(&raw(&net, "GET /_control/settings", &known).await), 404, "{way}");
        let whose = "GET /shared/mastodon/api/v1/accounts/verify_credentials";
        assert_eq!(status(&raw(&net, whose, &format!("{way}{token}")).await), 404, "{way}");
        let here = format!("host: {}\r\n{token}", net.address);
        assert_eq!(status(&raw(&net, whose, &here).await), 200);
    }
}

#[tokio::test]
async fn a_browser_runs_nothing_of_any_answer() {
    let net = Net::new().await;
    let account = net.account("devto").await;
    let script = "<!doctype html><script>alert(1)</script>";
    let faults = json!([
        {"on": "read", "kind": "status", "status": 500, "body": script},
        {"on": "read", "kind": "nonsense", "body": script},
    ]);
    net.faults(&account, faults).await;
    let url = format!("{}/api/users/me", account.base);
    let ask = || net.client.get(&url).header("api-key", account.credential("api_key"));
    let mut answers = vec![send(ask()).await, send(ask()).await];
    for answer in &answers {
        assert_eq!(answer.text, script);
        assert_eq!(answer.headers["content-type"], "text/plain; charset=utf-8");
    }
    for path in ["", "nothing", "shared", "shared/devto/ui", "_control/settings", "shared/devto/x"]
    {
        answers.push(send(net.client.get(net.url(path))).await);
    }
    for answer in answers {
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("sandbox; default-src 'none'"), "{policy}");
        assert_eq!(answer.headers.get_all("content-security-policy").iter().count(), 1);
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers["referrer-policy"], "no-referrer");
    }
}

/// Every page on which a person lets an application act, and what it calls the application's id.
const CONSENT: [(&str, &str, &str); 11] = [
    ("facebook", "dialog/oauth", "client_id"),
    ("google_business", "o/oauth2/v2/auth", "client_id"),
    ("instagram", "dialog/oauth", "client_id"),
    ("linkedin", "oauth/v2/authorization", "client_id"),
    ("mastodon", "oauth/authorize", "client_id"),
    ("pinterest", "oauth", "client_id"),
    ("slack", "oauth/v2/authorize", "client_id"),
    ("threads", "oauth/authorize", "client_id"),
    ("tiktok", "v2/auth/authorize", "client_key"),
    ("x", "i/oauth2/authorize", "client_id"),
    ("youtube", "o/oauth2/v2/auth", "client_id"),
];

#[tokio::test]
async fn nobody_is_redirected_to_where_no_app_may() {
    let net = Net::new().await;
    let client = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
    for (platform, page, id_name) in CONSENT {
        let account = net.account(platform).await;
        let url = format!("{}/{page}", account.base);
        let ask = async |redirect_uri: &str, chosen: &str| {
            let query = [
                (id_name, "app"),
                ("redirect_uri", redirect_uri),
                ("response_type", "code"),
                ("scope", "https://www.googleapis.com/auth/youtube.upload"),
                ("state", "s"),
                ("code_challenge", "x"),
                ("code_challenge_method", "S256"),
                ("account", chosen),
            ];
            send(client.get(&url).query(&query)).await
        };
        for elsewhere in [
            "https://evil.example/",
            "http://127.0.0.1/back/",
            "http://127.0.0.1/back?x=1",
            "http://127.0.0.1/back#x",
            "http://127.0.0.1@evil.example/back",
            "javascript:alert(1)",
            "//evil.example",
            "",
        ] {
            for chosen in ["none", account.remote_id.as_str()] {
                let got = ask(elsewhere, chosen).await;
                assert!(!got.headers.contains_key("location"), "{platform}: {elsewhere:?}");
                assert!(!got.text.contains("href"), "{platform}: {elsewhere:?} is shown a page");
            }
        }
        let back = ask(BACK, "none").await;
        assert_eq!(back.status, 302, "{platform}: {}", back.text);
        assert!(back.headers["location"].to_str().unwrap().starts_with(BACK), "{platform}");
    }
    // An instance takes apps from anybody, but only with a way back that was allowed.
    let url = net.url("shared/mastodon/api/v1/apps");
    let form =
        [("client_name", "x"), ("redirect_uris", "https://evil.example/"), ("scopes", "read")];
    send(net.client.post(url).form(&form)).await.is(422);
}

#[tokio::test]
async fn a_realm_knows_nothing_of_another() {
    let net = Net::new().await;
    let client = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
    for (platform, page, id_name) in CONSENT {
        let in_realm = async |realm: &str| -> Account {
            let path = format!("{platform}/accounts?realm={realm}");
            let made = net.control(Method::POST, &path, Value::Null).await.is(201);
            let text = |name: &str| made[name].as_str().unwrap().to_owned();
            let (remote_id, username) = (text("remote_id"), text("username"));
            let (credentials, base) = (made["credentials"].clone(), text("base_url"));
            Account { platform: platform.to_owned(), remote_id, username, credentials, base }
        };
        let (one, other) = (in_realm("one").await, in_realm("other").await);
        let query = [
            (id_name, "app"),
            ("redirect_uri", BACK),
            ("response_type", "code"),
            ("scope", "https://www.googleapis.com/auth/youtube.upload"),
            ("state", "s"),
            ("code_challenge", "x"),
            ("code_challenge_method", "S256"),
        ];
        let consent = |account: &Account| client.get(format!("{}/{page}", account.base));
        let asked = send(consent(&other).query(&query)).await;
        assert_eq!(asked.status, 200, "{platform}: {}", asked.text);
        let link = |account: &Account| format!("account={}\"", encoded(&account.remote_id));
        assert!(asked.text.contains(&link(&other)), "{platform}: {}", asked.text);
        assert!(!asked.text.contains(&link(&one)), "{platform} shows an account of another realm");
        // Named outright, the other realm's account is nobody.
        let chosen = consent(&other).query(&query).query(&[("account", &one.remote_id)]);
        let refused = send(chosen).await;
        let back = refused.headers.get("location").map(|to| to.to_str().unwrap().to_owned());
        assert!(
            back.is_none_or(|to| !to.contains("?code=") && !to.contains("&code=")),
            "{platform} grants another's account"
        );
        let page = async |account: &Account, id: &str| {
            send(client.get(format!("{}/ui/{id}", account.base))).await.status
        };
        assert_eq!(page(&one, &one.remote_id).await, 200, "{platform}");
        assert_eq!(page(&other, &one.remote_id).await, 404, "{platform}");
        let path = format!("{platform}/posts?realm=other&remote_id={}", one.remote_id);
        net.control(Method::GET, &path, Value::Null).await.is(404);
        let listed = send(client.get(format!("{}/ui", other.base))).await.text;
        assert!(!listed.contains(&one.remote_id), "{platform}");
    }
    assert_eq!(send(net.client.get(net.url("unknown"))).await.status, 404);
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// A listener on this machine that nobody should ask, and how many did.
async fn nobodys() -> (String, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/secret.jpg", listener.local_addr().unwrap());
    let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&count);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
    });
    (url, count)
}

#[tokio::test]
async fn nothing_private_is_fetched_but_our_own_media() {
    let (private, asked) = nobodys().await;
    let media = files(vec![
        ("/media/a.png", "image/png", png(640, 640, 2_000)),
        ("/private/a.png", "image/png", png(640, 640, 2_000)),
    ])
    .await;
    let sandbox = Sandbox::open(Setup {
        http: Guarded::new(Policy { allow_private: false }).unwrap(),
        media: Some(format!("{media}/media").parse().unwrap()),
        ..setup(None)
    });
    let net = Net::of(sandbox.await.unwrap()).await;
    let account = net.account("threads").await;
    let make = async |image_url: &str| {
        let url = format!("{}/v1.0/{}/threads", account.base, account.remote_id);
        let form = [
            ("media_type", "IMAGE"),
            ("image_url", image_url),
            ("access_token", account.credential("access_token")),
        ];
        send(net.client.post(url).form(&form)).await
    };
    for refused in [
        private.clone(),
        private.replace("127.0.0.1", "localhost"),
        private.replace("127.0.0.1", "[::ffff:127.0.0.1]"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        format!("{media}/private/a.png"),
        format!("{media}/media/../private/a.png"),
        format!("{media}/media%2f../private/a.png"),
        format!("{media}/mediation.png"),
    ] {
        assert_eq!(make(&refused).await.status, 400, "{refused}");
    }
    make(&format!("{media}/media/a.png")).await.is(200);
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 0, "nobody was asked");
}
