//! Persons log in to connect accounts: with a password that is tried only so often, a cookie that scripts and other sites
//! never get, and forms that only their own pages can send.

use std::time::Duration;

use fanfare_domain::sign_in;
use fanfare_tests::{Options, TestApp, Visitor, visitor::PASSWORD};

#[tokio::test]
async fn a_log_in_leads_to_where_one_wanted_to_go() {
    let app = TestApp::start().await;
    let mut ada = Visitor::nobody(&app);
    let sent = ada.get("/connect/threads?workspace_id=x").await.expect(303);
    assert_eq!(sent.location, "/login?next=%2Fconnect%2Fthreads%3Fworkspace_id%3Dx");
    app.person("ada@example.com").await;
    let nobody_yet = ada.try_password_at("/login", "ada@example.com", PASSWORD).await;
    assert_eq!(nobody_yet.status, 401, "a person without a password cannot log in");
    sign_in::set_password(&app.domain, "Ada@Example.com ", PASSWORD.into()).await.unwrap();
    let welcome =
        ada.try_password_at(&sent.location, "ada@example.com", PASSWORD).await.expect(303);
    assert_eq!(welcome.location, "/connect/threads?workspace_id=x");
    for elsewhere in ["//evil.example", "https://evil.example", "/admin", "/api/v1/accounts"] {
        let mut ada = Visitor::nobody(&app);
        let page = format!("/login?next={elsewhere}");
        let welcome = ada.try_password_at(&page, "ada@example.com", PASSWORD).await.expect(303);
        assert_eq!(welcome.location, "/connect", "{elsewhere}");
    }
    let csrf = ada.get("/connect").await.expect(200).hidden("csrf");
    let forged = ada.send("/logout", &[("csrf", "guessed".into())]).await;
    assert_eq!(forged.status, 400);
    let _ = ada.send("/logout", &[("csrf", csrf)]).await.expect(303);
    let _ = ada.get("/connect").await.expect(303);
}

#[tokio::test]
async fn a_log_in_ends_with_its_time_and_with_a_new_password() {
    let app = TestApp::start().await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let _ = ada.get("/connect").await.expect(200);
    sign_in::set_password(&app.domain, "ada@example.com", PASSWORD.into()).await.unwrap();
    let _ = ada.get("/connect").await.expect(303);
    let (_, mut bob) = Visitor::person(&app, "bob@example.com").await;
    app.advance(Duration::from_secs(7 * 86_400 + 1));
    let _ = bob.get("/connect").await.expect(303);
    let mut stolen = Visitor::nobody(&app);
    stolen.cookie = "fanfare_session=0000".to_owned();
    let _ = stolen.get("/connect").await.expect(303);
}

#[tokio::test]
async fn passwords_are_tried_only_so_often() {
    let app = TestApp::start().await;
    let (_, _) = Visitor::person(&app, "ada@example.com").await;
    let mut eve = Visitor::nobody(&app);
    for _ in 0..5 {
        let wrong = eve.try_password_at("/login", "ada@example.com", "not her password").await;
        assert_eq!(wrong.status, 401);
        assert!(wrong.html.contains("The address or the password is wrong"));
    }
    let stopped = eve.try_password_at("/login", "ada@example.com", PASSWORD).await;
    assert_eq!(stopped.status, 429, "even with the right one");
    app.advance(Duration::from_secs(16 * 60));
    let _ = eve.try_password_at("/login", "ada@example.com", PASSWORD).await.expect(303);
}

#[tokio::test]
async fn a_form_from_elsewhere_logs_nobody_in() {
    let app = TestApp::start().await;
    let (_, _) = Visitor::person(&app, "ada@example.com").await;
    let mut eve = Visitor::nobody(&app);
    let fields = [
        ("csrf", "guessed".into()),
        ("email", "ada@example.com".into()),
        ("password", PASSWORD.into()),
    ];
    let _ = eve.send("/login", &fields).await.expect(400);
    assert!(!eve.cookie.contains("fanfare_session"));
}

#[tokio::test]
async fn behind_https_cookies_stay_there() {
    let base_url = Some("https://fanfare.example.com".to_owned());
    let app = TestApp::with(Options { base_url, ..Options::default() }).await;
    let reply = reqwest::Client::new().get(format!("{}/login", app.origin)).send().await.unwrap();
    let cookie = reply.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.ends_with("; Secure"), "{cookie}");
}

#[tokio::test]
async fn a_password_of_a_person_opens_no_dashboard() {
    let app = TestApp::start().await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    assert!(ada.get("/admin").await.expect(303).location.starts_with("/admin/login"));
    let refused = ada.try_password("ada@example.com", PASSWORD).await;
    assert_eq!(refused.status, 401);
}
