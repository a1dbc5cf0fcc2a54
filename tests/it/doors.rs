//! Ways in: a path has one spelling, and a refusal never leaves a client with a connection that is closed without a word.

use fanfare_domain::access::Scope;
use fanfare_tests::{Options, RawConnection, TestApp, User};
use serde_json::json;

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
