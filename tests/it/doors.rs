//! Ways in: a path has one spelling, and a refusal never leaves a client with a connection that is closed without a word.

use fanfare_core::access::Scope;
use fanfare_tests::{Options, RawConnection, TestApp, User};
use serde_json::{Value, json};

#[tokio::test]
async fn a_path_in_another_spelling_is_not_found_and_passes_no_limit() {
    let app = TestApp::with(Options { limits_factor: 0.01, ..Options::default() }).await;
    let strange = [
        "//api/v1/whoami",
        "/api//v1/whoami",
        "/api/v1//whoami",
        "/api/v1/whoami/",
        "/%61pi/v1/whoami",
        "/api/%76%31/whoami",
        "/api/v1/%77hoami",
        "/api%2Fv1/whoami",
        "/./api/v1/whoami",
        "/x/../api/v1/whoami",
        "/api/v1/./whoami",
        "/api/v1/%2e/whoami",
        "/api/v1/whoami%00",
        "/api/v1/whoami%",
    ];
    let mut raw = RawConnection::connect(&app).await;
    for path in strange.iter().cycle().take(100) {
        raw.request(&format!("GET {path}"), &[], b"").await;
        let answer = raw.answer().await.expect("an answer");
        assert_eq!((answer.status, &answer.body["code"]), (404, &json!("not_found")), "{path}");
    }
    let mut counted = 0;
    loop {
        raw.request("GET /api/v1/whoami", &[], b"").await;
        match raw.answer().await.expect("an answer").status {
            401 => counted += 1,
            429 => break,
            other => panic!("{other}"),
        }
    }
    assert_eq!(counted, 6, "a hundredth of 600, and the strange spellings were never let in");
}

/// Sends a request with a body that its refusal leaves unread, twice on one connection; small, and large.
async fn refused(app: &TestApp, line: &str, head: &[String], status: u16) {
    for size in [10, 64 << 10] {
        let mut raw = RawConnection::connect(app).await;
        for _ in 0..3 {
            raw.request(line, head, &vec![b'x'; size]).await;
            let answer = raw.answer().await.unwrap_or_else(|| panic!("{line} {size}: closed"));
            assert_eq!(answer.status, status, "{line} {}", answer.body);
            assert!(!answer.closes(), "{line} {size}");
        }
    }
    let mut raw = RawConnection::connect(app).await;
    // Announced and not sent in full: what is there is read, and the answer says that it is the last one.
    let large = format!("{line} HTTP/1.1\r\nHost: t\r\nContent-Length: 10000000\r\n");
    let lines: String = head.iter().map(|line| format!("{line}\r\n")).collect();
    raw.send(format!("{large}{lines}\r\n").as_bytes()).await;
    raw.send(&vec![b'x'; (64 << 10) + 1]).await;
    let answer = raw.answer().await.unwrap_or_else(|| panic!("{line}: closed"));
    assert_eq!(answer.status, status, "{line} {}", answer.body);
    assert!(answer.closes(), "{line}: {}", answer.head);
}

fn bearer(user: &User) -> Vec<String> {
    vec![format!("Authorization: Bearer {}", user.key), "Content-Type: application/json".into()]
}

#[tokio::test]
async fn a_refusal_reads_the_rest_of_a_small_body_and_says_so_of_a_large_one() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let id = app.person("ada@example.com").await;
    let reader = app.key(id, None, &[Scope::PostsRead]).await;
    refused(&app, "POST /api/v1/posts", &[], 401).await;
    refused(&app, "POST /api/v1/posts", &bearer(&reader), 403).await;
    refused(&app, "POST /api/v1/nowhere", &bearer(&user), 404).await;
    refused(&app, "POST //api/v1/posts", &bearer(&user), 404).await;
    refused(&app, "PUT /api/v1/posts", &bearer(&user), 405).await;
    refused(&app, "GET /api/v1/nowhere", &bearer(&user), 404).await;
    refused(&app, "PUT /media/nothing", &[], 405).await;
}

#[tokio::test]
async fn a_refusal_for_too_many_requests_reads_the_body_too() {
    let app = TestApp::with(Options { workers: false, limits_factor: 0.001, ..Options::default() });
    let app = app.await;
    let _ = app.without_key().get("/api/v1/whoami").await;
    refused(&app, "POST /api/v1/posts", &[], 429).await;
}

#[tokio::test]
async fn a_body_of_another_type_or_size_leaves_the_connection_as_it_says() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let plain =
        vec![format!("Authorization: Bearer {}", user.key), "Content-Type: text/plain".into()];
    let mut raw = RawConnection::connect(&app).await;
    for (size, status) in [(1_000, 415), (2 << 20, 413), (1_000, 415)] {
        raw.request("POST /api/v1/posts", &plain, &vec![b'x'; size]).await;
        let answer = raw.answer().await.expect("an answer");
        assert_eq!(answer.status, status, "{}", answer.body);
        assert!(!answer.closes());
    }
    let head = [plain, vec!["Expect: 100-continue".into()]].concat();
    let lines: String = head.iter().map(|line| format!("{line}\r\n")).collect();
    let huge = format!(
        "POST /api/v1/posts HTTP/1.1\r\nHost: t\r\nContent-Length: 40000000\r\n{lines}\r\n"
    );
    raw.send(huge.as_bytes()).await;
    let answer = raw.answer().await.expect("an answer");
    assert_eq!(answer.status, 413);
    assert!(answer.closes());
}

/// Sends a request, and returns status, headers and body of the reply.
async fn sent(
    app: &TestApp,
    method: &str,
    path: &str,
    head: &[(&str, String)],
    body: &str,
) -> (u16, reqwest::header::HeaderMap, Value) {
    let client = fanfare_tests::local_client_builder().redirect(reqwest::redirect::Policy::none());
    let mut request = client
        .build()
        .unwrap()
        .request(method.parse().unwrap(), format!("{}{path}", app.origin))
        .header("Content-Type", "application/json")
        .body(body.to_owned());
    for (name, value) in head {
        request = request.header(*name, value);
    }
    let reply = request.send().await.unwrap();
    let (status, headers) = (reply.status().as_u16(), reply.headers().clone());
    let text = reply.text().await.unwrap_or_default();
    (status, headers, serde_json::from_str(&text).unwrap_or_default())
}

/// Every way in for programs, with requests that are answered with each kind of status.
const REQUESTS: &[(&str, &str, bool, &str, u16)] = &[
    ("GET", "/api/v1/whoami", true, "", 200),
    ("GET", "/api/v1/whoami", false, "", 401),
    ("GET", "/api/v1/nowhere", true, "", 404),
    ("GET", "/api/v1//whoami", true, "", 404),
    ("PUT", "/api/v1/posts", true, "{}", 405),
    ("POST", "/api/v1/posts", true, "{}", 400),
    ("POST", "/api/v1/posts", true, "{", 400),
    ("POST", "/mcp", true, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, 200),
    ("POST", "/mcp", true, r#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#, 200),
    ("POST", "/mcp", true, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 202),
    ("POST", "/mcp", true, "[]", 400),
    ("POST", "/mcp", false, "{}", 401),
    ("PUT", "/mcp", true, "{}", 405),
    ("GET", "/mcp", false, "", 200),
    ("POST", "/api/mcp", true, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, 200),
    ("POST", "/mcp/signup", false, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, 200),
    ("POST", "/mcp/signup", false, "{", 400),
    ("GET", "/openapi.json", false, "", 200),
    ("PUT", "/openapi.json", false, "", 405),
    ("GET", "/.well-known/oauth-authorization-server", false, "", 200),
    ("GET", "/.well-known/oauth-protected-resource/mcp", false, "", 200),
    ("GET", "/.well-known/nothing", false, "", 404),
    ("POST", "/api/oauth/token", false, "", 400),
    ("GET", "/api/oauth/token", false, "", 405),
    ("POST", "/api/oauth/register", false, "{}", 400),
    ("POST", "/api/oauth/revoke", false, "", 400),
];

#[tokio::test]
async fn every_answer_of_every_door_can_be_read_by_a_page_of_another_site() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    for (method, path, with_key, body, status) in REQUESTS {
        let mut head = vec![("Origin", "http://localhost:9".to_owned())];
        if *method != "GET" {
            head.push(("Accept", "application/json, text/event-stream".to_owned()));
        }
        if *with_key {
            head.push(("Authorization", format!("Bearer {}", user.key)));
        }
        let (answered, head, body) = sent(&app, method, path, &head, body).await;
        assert_eq!(answered, *status, "{method} {path}: {body}");
        let head = format!("{head:?}").to_lowercase();
        for wanted in [
            "\"access-control-allow-origin\": \"*\"",
            "\"access-control-expose-headers\": ",
            "\"x-request-id\": ",
            "\"x-content-type-options\": \"nosniff\"",
        ] {
            assert!(head.contains(wanted), "{method} {path} {status} lacks {wanted}: {head}");
        }
        let is_counted = ["/api/v1", "/mcp", "/api/mcp"].iter().any(|door| path.starts_with(door));
        let has_limits = head.contains("\"x-ratelimit-limit\"");
        assert!(has_limits || !is_counted || path.contains("//"), "{method} {path}: {head}");
    }
}

#[tokio::test]
async fn a_page_of_another_site_reads_tools_in_a_browser() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let mut browser = fanfare_tests::Browser::start().await;
    // The same service under another name is another site.
    let elsewhere = app.origin.replace("127.0.0.1", "localhost");
    assert_ne!(elsewhere, app.origin);
    browser.open(&format!("{elsewhere}/healthz")).await;
    for (path, key) in [("/mcp", user.key.as_str()), ("/mcp/signup", "")] {
        let script = format!(
            "fetch('{}{path}', {{method: 'POST', headers: {{'Content-Type': 'application/json', \
             Accept: 'application/json, text/event-stream', {}}}, \
             body: JSON.stringify({{jsonrpc: '2.0', id: 1, method: 'tools/list'}})}}) \
             .then(reply => reply.json()).then(body => body.result.tools.length)",
            app.origin,
            if key.is_empty() { String::new() } else { format!("Authorization: 'Bearer {key}'") },
        );
        let count = browser.eval(&script).await;
        assert!(count.as_u64() > Some(1), "{path}: {count}");
    }
}

/// A path of every router, with a method that it takes.
const PATHS: &[&str] = &[
    "/",
    "/docs",
    "/docs/errors",
    "/docs.md",
    "/llms.txt",
    "/openapi.json",
    "/healthz",
    "/readyz",
    "/login",
    "/forgot",
    "/mcp",
    "/api/mcp",
    "/mcp/signup",
    "/.well-known/mcp/server-card.json",
    "/.well-known/oauth-authorization-server",
    "/api/oauth/register",
    "/api/oauth/token",
    "/api/oauth/revoke",
    "/api/oauth/authorize",
    "/api/stripe/webhook",
    "/dashboard",
    "/dashboard/posts",
    "/admin",
    "/updates",
    "/upload/token",
    "/media/file.png",
    "/drop/token",
    "/assets/base.css",
];

#[tokio::test]
async fn a_method_that_is_not_taken_is_answered_with_those_that_are() {
    let app = TestApp::with(Options { workers: false, limits_factor: 100.0, ..Options::default() });
    let app = app.await;
    let user = app.user().await;
    let document = app.without_key().get("/openapi.json").await.expect(200).body;
    let documented = document["paths"].as_object().unwrap().keys();
    let documented: Vec<String> = documented
        .map(|path| {
            let filled = path.replace("{platform}", "bluesky");
            filled
                .split('/')
                .map(|step| if step.starts_with('{') { "7" } else { step })
                .collect::<Vec<_>>()
                .join("/")
        })
        .collect();
    let mut refused = 0;
    for path in PATHS.iter().map(|path| (*path).to_owned()).chain(documented) {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let head = [
                ("Authorization", format!("Bearer {}", user.key)),
                ("Accept", "application/json, text/event-stream".to_owned()),
            ];
            let (status, head, body) = sent(&app, method, &path, &head, "").await;
            if status != 405 {
                continue;
            }
            refused += 1;
            assert_eq!(body["code"], "method_not_allowed", "{method} {path}");
            let allow = head.get("allow").and_then(|value| value.to_str().ok()).unwrap_or_default();
            let allowed: Vec<&str> = allow.split(',').map(str::trim).collect();
            assert!(!allow.is_empty() && !allowed.contains(&method), "{method} {path}: {allow}");
        }
    }
    assert!(refused > 200, "{refused}");
}
