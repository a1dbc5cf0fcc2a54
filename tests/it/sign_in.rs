//! Persons log in to connect accounts: with a password that is tried only so often, a cookie that scripts and other sites
//! never get, and forms that only their own pages can send.

use std::time::Duration;

use fanfare_core::logins::{LoginOutcome, LoginSource};
use fanfare_people::{preferences::change_password, sign_in};
use fanfare_tests::{Options, TestApp, Visitor, visitor::PASSWORD};
use secrecy::SecretString;

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
        assert_eq!(welcome.location, "/dashboard", "{elsewhere}");
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

const NEW: &str = "another long enough one";
const OWN: &str = "yet another long enough one";

/// Logs in by the domain's function; the token, if the password was right.
async fn log_in(app: &TestApp, password: &str) -> Option<SecretString> {
    let given = ("ada@example.com", password.into());
    let from = LoginSource { address: "192.0.2.1", remembered: None };
    match sign_in::log_in(&app.domain, given, from).await.unwrap() {
        LoginOutcome::LoggedIn(token) => Some(token),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_in_with_the_old_password_does_not_outlive_it() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let _ = Visitor::person(&app, "ada@example.com").await;
    let (mut old, mut new) = (PASSWORD, NEW);
    for _ in 0..8 {
        let set = sign_in::set_password(&app.domain, "ada@example.com", new.into());
        let (token, set) = tokio::join!(log_in(&app, old), set);
        set.unwrap();
        if let Some(token) = token {
            let found = sign_in::find(&app.domain, &token).await.unwrap();
            assert!(found.is_none(), "the new password has ended it, whichever came first");
        }
        std::mem::swap(&mut old, &mut new);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_that_was_replaced_changes_no_password() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let _ = Visitor::person(&app, "ada@example.com").await;
    let (mut old, mut new) = (PASSWORD, NEW);
    for _ in 0..8 {
        let token = log_in(&app, old).await.expect("a log-in");
        let session = sign_in::find(&app.domain, &token).await.unwrap().expect("it is live");
        let given = (old.into(), OWN.into());
        let own = change_password(&app.domain, (&session, &token), given);
        let set = sign_in::set_password(&app.domain, "ada@example.com", new.into());
        let (_, set) = tokio::join!(own, set);
        set.unwrap();
        assert!(log_in(&app, new).await.is_some(), "what was set stands, whichever came first");
        std::mem::swap(&mut old, &mut new);
    }
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
    let reply =
        fanfare_tests::local_client().get(format!("{}/login", app.origin)).send().await.unwrap();
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

/// Tries a password from an address of its own.
async fn try_from(app: &TestApp, page: &str, email: &str, password: &str, address: &str) -> u16 {
    let http =
        fanfare_tests::local_client_builder().redirect(reqwest::redirect::Policy::none()).build();
    let http = http.unwrap();
    let url = format!("{}{page}", app.origin);
    let form = http.get(&url).header("X-Forwarded-For", address).send().await.unwrap();
    let cookie =
        form.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let html = form.text().await.unwrap();
    let csrf = html.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let fields = [("csrf", csrf), ("next", ""), ("email", email), ("password", password)];
    let sent = http.post(&url).header("Cookie", cookie).header("X-Forwarded-For", address);
    sent.form(&fields).send().await.unwrap().status().as_u16()
}

fn behind_a_proxy() -> Options {
    let trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    Options { workers: false, trusted_proxies, ..Options::default() }
}

#[tokio::test]
async fn a_name_is_tried_only_so_often_from_all_addresses_together() {
    let app = TestApp::with(behind_a_proxy()).await;
    let (_, _) = Visitor::person(&app, "ada@example.com").await;
    let _ = Visitor::log_in(&app, "ada@example.com").await;
    for n in 0..20 {
        let address = format!("198.51.100.{n}");
        let status =
            try_from(&app, "/login", "ada@example.com", "not her password", &address).await;
        assert_eq!(status, 401, "{n}");
    }
    let fresh = "203.0.113.7";
    assert_eq!(try_from(&app, "/login", "ada@example.com", PASSWORD, fresh).await, 429);
    // Operators are counted apart, and other persons too.
    assert_eq!(try_from(&app, "/admin/login", "ada@example.com", PASSWORD, fresh).await, 303);
    assert_eq!(try_from(&app, "/login", "eve@example.com", PASSWORD, fresh).await, 401);
    fanfare_core::logins::unlock(&app.domain, "Ada@example.com").await.unwrap();
    assert_eq!(try_from(&app, "/login", "ada@example.com", PASSWORD, fresh).await, 303);
}

#[tokio::test]
async fn an_address_that_has_tried_too_often_writes_nothing_more() {
    use fanfare_entities::login_attempt::Entity;
    use sea_orm::{EntityTrait, PaginatorTrait};
    let app = TestApp::with(behind_a_proxy()).await;
    let rows = async || Entity::find().count(&app.domain.db.write).await.unwrap();
    let one = "198.51.100.1";
    for n in 0..60 {
        let email = format!("somebody-{n}@example.com");
        assert_eq!(try_from(&app, "/login", &email, "x", one).await, 401, "{n}");
    }
    let before = rows().await;
    for n in 60..70 {
        let email = format!("somebody-{n}@example.com");
        assert_eq!(try_from(&app, "/login", &email, "x", one).await, 429, "{n}");
    }
    assert_eq!(rows().await, before);
    assert_eq!(try_from(&app, "/admin/login", "op@example.com", "x", one).await, 401);
}

#[tokio::test]
async fn on_https_a_cookie_is_of_this_host_alone() {
    let base_url = Some("https://fanfare.example".to_owned());
    let app = TestApp::with(Options { workers: false, base_url, ..Options::default() }).await;
    for (page, name) in [("/login", "fanfare_before"), ("/admin/login", "fanfare_login")] {
        let form = fanfare_tests::local_client()
            .get(format!("{}{page}", app.origin))
            .send()
            .await
            .unwrap();
        let cookie = form.headers()["set-cookie"].to_str().unwrap().to_owned();
        assert!(cookie.starts_with(&format!("__Host-{name}=")), "{cookie}");
        assert!(cookie.contains("; Path=/;") && cookie.contains("; Secure"), "{cookie}");
        assert!(!cookie.contains("Domain="), "{cookie}");
    }
    let plain = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let form =
        fanfare_tests::local_client().get(format!("{}/login", plain.origin)).send().await.unwrap();
    let cookie = form.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.starts_with("fanfare_before=") && !cookie.contains("Secure"), "{cookie}");
}

#[tokio::test]
async fn a_browser_that_has_logged_in_before_is_locked_out_by_nobody() {
    let app = TestApp::with(behind_a_proxy()).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let mut known = Visitor::nobody(&app);
    let _ = known.try_password_at("/login", "ada@example.com", PASSWORD).await.expect(303);
    for n in 0..20 {
        let address = format!("198.51.100.{n}");
        let status =
            try_from(&app, "/login", "ada@example.com", "not her password", &address).await;
        assert_eq!(status, 401, "{n}");
    }
    // A browser that is not known has to wait, also with what a browser of somebody else remembers.
    assert_eq!(try_from(&app, "/login", "ada@example.com", PASSWORD, "203.0.113.7").await, 429);
    let (_, mut eve) = Visitor::person(&app, "eve@example.com").await;
    assert_eq!(eve.try_password_at("/login", "ada@example.com", PASSWORD).await.status, 429);
    let _ = known.try_password_at("/login", "Ada@Example.com", PASSWORD).await.expect(303);
    // It is counted by itself.
    for _ in 0..5 {
        let wrong = known.try_password_at("/login", "ada@example.com", "not her password").await;
        assert_eq!(wrong.status, 401);
    }
    assert_eq!(known.try_password_at("/login", "ada@example.com", PASSWORD).await.status, 429);
    // The one that is logged in still confirms its password, and a link of an e-mail lets in.
    let session = sign_in::log_in(
        &app.domain,
        ("eve@example.com", PASSWORD.into()),
        LoginSource { address: "::1", remembered: None },
    );
    assert!(matches!(session.await.unwrap(), LoginOutcome::LoggedIn(_)));
    let csrf = ada.get("/forgot").await.expect(200).hidden("csrf");
    let asked = [("csrf", csrf), ("email", "ada@example.com".to_owned())];
    let _ = ada.send("/forgot", &asked).await.expect(200);
}

#[tokio::test]
async fn strangers_never_shut_an_operator_out() {
    let app = TestApp::with(behind_a_proxy()).await;
    let _ = Visitor::log_in(&app, "op@example.com").await;
    for n in 0..30 {
        let address = format!("198.51.100.{n}");
        let status = try_from(&app, "/admin/login", "op@example.com", "a guess", &address).await;
        assert_eq!(status, 401, "{n}");
    }
    assert_eq!(
        try_from(&app, "/admin/login", "op@example.com", PASSWORD, "203.0.113.7").await,
        303
    );
}
