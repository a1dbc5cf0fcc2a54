//! What anybody can send without a key: it costs no more than its size, leaves nothing that is not counted, logs nobody in
//! and is counted at every door.

use std::time::{Duration, Instant};

use fanfare_api::routes::ROUTES;
use fanfare_people::users;
use fanfare_tests::{Options, TestApp, Visitor, visitor::PASSWORD};
use reqwest::{Client, Method, RequestBuilder, redirect::Policy};
use sea_orm::ConnectionTrait;
use serde_json::{Map, Value, json};

/// The doors of strangers: method and path. Those of the table of routes are added from it.
const DOORS: &[(&str, &str)] = &[
    ("GET", "/"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("POST", "/admin/login"),
    ("GET", "/signup"),
    ("POST", "/signup"),
    ("GET", "/signup/nothing"),
    ("GET", "/forgot"),
    ("POST", "/forgot"),
    ("GET", "/set-password/nothing"),
    ("POST", "/set-password/nothing"),
    ("GET", "/invitations/nothing"),
    ("POST", "/invitations/nothing"),
    ("GET", "/drop/nothing"),
    ("POST", "/drop/nothing"),
    ("PUT", "/drop/nothing/file"),
    ("PUT", "/upload/nothing"),
    ("GET", "/api/oauth/authorize"),
    ("POST", "/api/oauth/authorize"),
    ("POST", "/api/oauth/register"),
    ("POST", "/api/oauth/token"),
    ("POST", "/api/oauth/revoke"),
    ("POST", "/api/stripe/webhook"),
    ("POST", "/api/hooks/meta/facebook"),
    ("GET", "/api/hooks/meta/facebook"),
    ("POST", "/mcp"),
    ("POST", "/mcp/signup"),
    ("GET", "/api/v1/posts"),
    ("POST", "/api/v1/posts"),
    ("GET", "/feedback"),
    ("GET", "/docs"),
    ("GET", "/dashboard"),
    ("GET", "/connect/bluesky/callback"),
    ("GET", "/readyz"),
    ("GET", "/media/nothing"),
];

fn doors() -> Vec<(Method, String)> {
    let own = ROUTES.iter().filter(|route| route.public.is_some());
    let own =
        own.map(|route| (route.method.as_str(), route.path.replace("{session_id}", "nothing")));
    let all = DOORS.iter().map(|(method, path)| (*method, (*path).to_owned())).chain(own);
    all.map(|(method, path)| (Method::from_bytes(method.as_bytes()).unwrap(), path)).collect()
}

fn http() -> Client {
    fanfare_tests::local_client_builder().redirect(Policy::none()).build().unwrap()
}

/// Requests of `bytes` bytes with as many parts as fit.
fn crowded(http: &Client, method: &Method, url: &str, bytes: usize) -> Vec<RequestBuilder> {
    let pairs = |most: usize| {
        let mut text = String::new();
        for n in 0.. {
            let pair = format!("n{n}=&");
            if text.len() + pair.len() > most {
                break;
            }
            text.push_str(&pair);
        }
        text
    };
    let fields: Map<String, Value> =
        (0..bytes / 12).map(|n| (format!("n{n}"), Value::from(1))).collect();
    let request = || http.request(method.clone(), url);
    let kind =
        |builder: RequestBuilder, kind: &str| builder.header("Content-Type", kind.to_owned());
    let form = "application/x-www-form-urlencoded";
    // An address has less room than a body.
    let query = http.request(method.clone(), format!("{url}?{}", pairs(bytes.min(30_000))));
    let list = format!("[{}1]", "1,".repeat(bytes / 2 - 2));
    vec![
        query,
        kind(request(), form).body(pairs(bytes)),
        kind(request(), form).body("n=1&".repeat(bytes / 4)),
        kind(request(), form).body(format!("email={}", "@".repeat(bytes - 6))),
        kind(request(), "application/json").body(Value::Object(fields).to_string()),
        kind(request(), "application/json").body(list),
        request().header("Cookie", "a=b; ".repeat(bytes.min(16_000) / 5)),
        request().header("Accept", "a/b,".repeat(bytes.min(16_000) / 4)),
        request().header("Authorization", format!("Bearer {}", "x".repeat(bytes.min(16_000)))),
    ]
}

/// The shortest of several times of a request.
async fn cost(request: &RequestBuilder) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let (request, begun) = (request.try_clone().unwrap(), Instant::now());
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let _ = answer.bytes().await;
        best = best.min(begun.elapsed());
        assert!(status < 500 || status == 503, "{status}");
    }
    best
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_stranger_sends_costs_the_square_of_its_size() {
    let app = TestApp::with(Options { workers: false, limits_factor: 1e4, ..Options::default() });
    let app = app.await;
    let http = http();
    for (method, path) in doors() {
        let url = format!("{}{path}", app.origin);
        let (half, whole) =
            (crowded(&http, &method, &url, 32_000), crowded(&http, &method, &url, 64_000));
        for (place, (half, whole)) in half.iter().zip(&whole).enumerate() {
            let (half, whole) = (cost(half).await, cost(whole).await);
            // Four times as much, and more than a linear reader needs for so little, is a square.
            let grows = whole > half * 3 && whole > Duration::from_millis(60);
            assert!(!grows, "{method} {path} {place}: {half:?}, {whole:?}");
        }
    }
}

#[tokio::test]
async fn more_parameters_than_anybody_needs_are_refused_unread() {
    let app = TestApp::start().await;
    let (_, _) = Visitor::person(&app, "eve@example.com").await;
    let link = reset_link(&app, "eve@example.com").await;
    let link = link[link.find("/set-password/").unwrap()..].to_owned();
    let (many, few) = ("n=&".repeat(51), "n=&".repeat(50));
    let http = http();
    let post = async |path: &str, body: &str| {
        let request = http.post(format!("{}{path}", app.origin)).body(body.to_owned());
        let request = request.header("Content-Type", "application/x-www-form-urlencoded");
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    for path in [
        "/login",
        "/admin/login",
        "/forgot",
        "/signup",
        link.as_str(),
        "/api/oauth/token",
        "/api/oauth/revoke",
    ] {
        let (status, text) = post(path, &many).await;
        assert_eq!(status, 400, "{path}: {text}");
        assert!(text.contains("51 parameters"), "{path}: {text}");
        assert!(!post(path, &few).await.1.contains("parameters"), "{path}");
    }
    let user = app.user().await;
    for path in ["/api/v1/posts", "/api/v1/signup/sessions/x", "/api/oauth/authorize"] {
        let answer = user.get(&format!("{path}?{many}")).await;
        assert_eq!(answer.status, 400, "{path}: {}", answer.text);
        assert!(answer.text.contains("51 parameters"), "{path}: {}", answer.text);
    }
}

/// The number of rows of all tables, but for what every heartbeat counts.
async fn rows(app: &TestApp) -> Vec<(String, i64)> {
    let db = &app.domain.db.write;
    let tables = if app.domain.db.is_postgres() {
        "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()"
    } else {
        "SELECT name FROM sqlite_master WHERE type = 'table'"
    };
    let backend = db.get_database_backend();
    let statement = |sql: String| sea_orm::Statement::from_string(backend, sql);
    let mut counted = Vec::new();
    for table in db.query_all_raw(statement(tables.to_owned())).await.unwrap() {
        let name: String = table.try_get("", "name").unwrap();
        if name == "samples" {
            continue;
        }
        let sql = format!("SELECT COUNT(*) AS many FROM {name}");
        let row = db.query_one_raw(statement(sql)).await.unwrap().unwrap();
        counted.push((name, row.try_get::<i64>("", "many").unwrap()));
    }
    counted.sort();
    counted
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_leaves_nothing() {
    let app = TestApp::with(Options { workers: false, limits_factor: 1e4, ..Options::default() });
    let app = app.await;
    let http = http();
    let unknown: Map<String, Value> =
        (0..250).map(|n| (format!("field-{n}"), Value::from("x".repeat(60)))).collect();
    let bodies = [
        Value::Object(unknown).to_string(),
        json!({"email": "a<victim@target.example>", "name": "A", "tier": "starter", "source": "x"}).to_string(),
        json!({"redirect_uris": ["https:///cb"], "client_name": "x".repeat(50_000)}).to_string(),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "start_signup",
            "arguments": {"email": "nobody", "idempotency_key": "k"}}}).to_string(),
        "a=b&csrf=guessed&email=a%40example.com&password=x".to_owned(),
    ];
    let before = rows(&app).await;
    for (method, path) in doors() {
        for n in 0..30 {
            let body = bodies[n % bodies.len()].clone();
            let kind = if body.starts_with('{') {
                "application/json"
            } else {
                "application/x-www-form-urlencoded"
            };
            let request = http.request(method.clone(), format!("{}{path}", app.origin));
            let request = request
                .header("Content-Type", kind)
                .header("Idempotency-Key", format!("{path}-{n}"));
            let answer = request.body(body).send().await.unwrap();
            assert!(answer.status().as_u16() != 500, "{method} {path}");
        }
    }
    assert_eq!(rows(&app).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_taken_is_counted_before_it_is_written() {
    let app = TestApp::with(Options { workers: false, limits_factor: 1.0, ..Options::default() });
    let app = app.await;
    let http = http();
    let before = rows(&app).await;
    for n in 0..100 {
        let client =
            json!({"redirect_uris": ["https://tool.example/cb"], "client_name": format!("{n}")});
        let _ = http.post(format!("{}/api/oauth/register", app.origin)).json(&client).send().await;
        let signup = json!({"email": format!("a{n}@example.com"), "name": "A", "tier": "starter", "source": "x"});
        let request = http.post(format!("{}/api/v1/signup", app.origin)).json(&signup);
        let _ = request.header("Idempotency-Key", format!("k{n}")).send().await;
    }
    let grown: i64 =
        rows(&app).await.iter().zip(&before).map(|(after, before)| after.1 - before.1).sum();
    // 20 clients, and 5 signups: each a row, a call of the payment provider with its request and answer sealed, and the
    // stored reply, sealed too.
    assert_eq!(grown, 20 + 5 * 6);
}

#[tokio::test]
async fn every_door_is_counted_but_that_of_styles_and_scripts() {
    let app = TestApp::with(Options { workers: false, limits_factor: 0.02, ..Options::default() });
    let app = app.await;
    let http = http();
    let status = async |path: &str| {
        http.get(format!("{}{path}", app.origin)).send().await.unwrap().status().as_u16()
    };
    let doors = [
        "/login",
        "/signup/nothing",
        "/readyz",
        "/",
        "/docs",
        "/media/x",
        "/feedback",
        "/dashboard",
    ];
    let mut taken = 0;
    while status(doors[taken % doors.len()]).await != 429 {
        taken += 1;
        assert!(taken <= 24, "a fiftieth of 1,200 for all of them together");
    }
    assert_eq!(taken, 24);
    for door in doors {
        assert_eq!(status(door).await, 429, "{door}");
    }
    assert_ne!(status("/assets/nothing").await, 429);
    app.advance(Duration::from_secs(61));
    assert_eq!(status("/login").await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn so_many_wait_without_a_key_and_an_idle_wait_reads_seldom() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let nobody = app.without_key();
    let new =
        json!({"email": "ada@example.com", "name": "Ada", "tier": "starter", "source": "agent"});
    let made = nobody.post("/api/v1/signup", new).await.expect(201).body;
    let path = format!("/api/v1/signup/sessions/{}", made["session_id"].as_str().unwrap());
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..25 {
        let (nobody, path) = (nobody.clone(), format!("{path}?wait=25"));
        waiting.spawn(async move { nobody.get(&path).await });
    }
    let begun = Instant::now();
    for _ in 0..5 {
        let _ = waiting.join_next().await.unwrap().unwrap().refused(429, "rate_limited");
    }
    let _ = nobody.get(&path).await.expect(200);
    // A change wakes all that wait, long before their time is over.
    let page = format!("{}/signup/{}/checkout", app.origin, made["session_id"].as_str().unwrap());
    let _ = http().get(page).send().await.unwrap();
    let answers = waiting.join_all().await;
    assert_eq!(answers.len(), 20);
    for answer in answers {
        let answer = answer.expect(200);
        assert_eq!(answer.body["signup_session"]["status"], "checkout_opened", "{}", answer.text);
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_waits_ends_with_its_connection() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let nobody = app.without_key();
    let new =
        json!({"email": "ada@example.com", "name": "Ada", "tier": "starter", "source": "agent"});
    let id = nobody.post("/api/v1/signup", new).await.expect(201).body["session_id"].clone();
    let arguments = json!({"session_id": id, "wait": 25});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "get_signup_session", "arguments": arguments}});
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let request = http().post(format!("{}/mcp/signup", app.origin)).json(&call);
        let request = request.header("Accept", "application/json, text/event-stream");
        // One that is refused, because the request below took its place, calls again.
        callers.spawn(async move {
            loop {
                let _ = request.try_clone().unwrap().send().await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
    }
    let path = format!("/api/v1/signup/sessions/{}?wait=1", id.as_str().unwrap());
    let status = || async { nobody.get(&path).await.status };
    app.eventually("all of them wait", || async { (status().await == 429).then_some(()) }).await;
    let begun = Instant::now();
    callers.shutdown().await;
    app.eventually("there is room", || async { (status().await == 200).then_some(()) }).await;
    assert!(begun.elapsed() < Duration::from_secs(20), "they waited to their end");
}

/// A form of a page: where its token is shown, where it is sent, and its fields.
struct PageForm {
    shown: String,
    sent: String,
    fields: Vec<(&'static str, String)>,
}

/// All forms of strangers and some of each kind of people, with a link of each kind.
async fn forms(app: &TestApp, link: &str) -> Vec<PageForm> {
    let form = |shown: &str, sent: &str, fields: &[(&'static str, &str)]| PageForm {
        shown: shown.to_owned(),
        sent: sent.to_owned(),
        fields: fields.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
    };
    let credentials = [("email", "eve@example.com"), ("password", PASSWORD)];
    let twice = [("password", "a new and long one"), ("password_again", "a new and long one")];
    let drop =
        app.user().await.post("/api/v1/media/drop-sessions", json!({})).await.expect(201).body;
    let drop = drop["drop_url"].as_str().unwrap().to_owned();
    vec![
        form("/login", "/login", &credentials),
        form("/admin/login", "/admin/login", &credentials),
        form("/forgot", "/forgot", &[("email", "eve@example.com")]),
        form(
            "/signup",
            "/signup",
            &[("email", "new@example.com"), ("name", "N"), ("tier", "starter")],
        ),
        form(link, link, &twice),
        form(&drop, &drop, &[]),
        form("/dashboard/settings", "/dashboard/settings/name", &[("name", "Mallory")]),
        form("/dashboard/api", "/dashboard/api", &[("name", "stolen"), ("scopes", "posts:read")]),
        form("/dashboard/settings", "/logout", &[]),
    ]
}

/// The link of a letter to a person.
async fn reset_link(app: &TestApp, email: &str) -> String {
    let mut visitor = Visitor::nobody(app);
    let csrf = visitor.get("/forgot").await.expect(200).hidden("csrf");
    let asked = [("csrf", csrf), ("email", email.to_owned())];
    let _ = visitor.send("/forgot", &asked).await.expect(200);
    app.eventually("a letter", || async {
        let mail =
            http().get(format!("{}/dev/mail", app.origin)).header("Accept", "application/json");
        let said: Value = mail.send().await.unwrap().json().await.unwrap();
        let links = said["letters"][0]["links"].as_array()?.clone();
        links
            .iter()
            .filter_map(Value::as_str)
            .find(|link| link.contains("/set-password/"))
            .map(str::to_owned)
    })
    .await
}

#[tokio::test]
async fn without_its_token_or_from_another_origin_no_form_does_anything() {
    let app = TestApp::start().await;
    let (_, _) = Visitor::person(&app, "eve@example.com").await;
    let (person, ada) = Visitor::person(&app, "ada@example.com").await;
    let link = reset_link(&app, "eve@example.com").await;
    let before = rows(&app).await;
    let http = http();
    for form in forms(&app, &link).await {
        let mut browser = ada.clone();
        let own = browser.get(&form.shown).await;
        let own = own.html.contains("name=\"csrf\"").then(|| own.hidden("csrf"));
        let mut other = Visitor::nobody(&app);
        let others = other.get("/forgot").await.hidden("csrf");
        let url = if form.sent.starts_with('/') {
            format!("{}{}", app.origin, form.sent)
        } else {
            form.sent.clone()
        };
        let rows_before = rows(&app).await;
        // The token of the form, and where the browser says that it comes from.
        for (token, said) in [
            (None, vec![]),
            (Some(others.clone()), vec![]),
            (None, vec![("Origin", app.origin.as_str())]),
            (own.clone(), vec![("Origin", "https://evil.example")]),
            (own.clone(), vec![("Origin", "null"), ("Sec-Fetch-Site", "cross-site")]),
            (own.clone(), vec![("Sec-Fetch-Site", "same-site")]),
        ] {
            let mut fields = form.fields.clone();
            fields.extend(token.clone().map(|token| ("csrf", token)));
            let mut request = http.post(&url).header("Cookie", &browser.cookie);
            for (name, value) in &said {
                request = request.header(*name, *value);
            }
            let request = if form.sent.contains("/drop/") {
                let parts = reqwest::multipart::Form::new();
                let parts = match token.clone() {
                    Some(token) => parts.text("csrf", token),
                    None => parts,
                };
                let file =
                    reqwest::multipart::Part::bytes(fanfare_tests::files::gif()).file_name("a.gif");
                request.multipart(parts.part("files", file))
            } else {
                request.form(&fields)
            };
            let answer = request.send().await.unwrap();
            let told = format!("{} with {token:?} {said:?}: {}", form.sent, answer.status());
            assert!(answer.status().is_client_error(), "{told}");
            let cookies = answer.headers().get_all("set-cookie").iter();
            let mut names =
                cookies.map(|line| line.to_str().unwrap().split('=').next().unwrap().to_owned());
            assert!(
                !names.any(|name| name.contains("session") || name.contains("operator")),
                "{told}"
            );
        }
        assert_eq!(rows(&app).await, rows_before, "{}", form.sent);
    }
    let me = users::workspaces_of(&app.domain, person, fanfare_core::access::Role::Viewer).await;
    assert_eq!(me.unwrap().len(), 1);
    drop(before);
    // With its own token, and from our own page, the link works.
    let mut eve = Visitor::nobody(&app);
    let fields = [
        ("password", "a new and long one".to_owned()),
        ("password_again", "a new and long one".to_owned()),
    ];
    assert!(eve.submit(&link, &fields).await.expect(303).location.starts_with("/dashboard"));
}
