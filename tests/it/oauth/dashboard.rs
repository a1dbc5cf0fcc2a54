//! `/dashboard/api` and `/dashboard/apps`: without scripts, and in a real browser.

use std::time::Duration;

use fanfare_core::access::Role;
use fanfare_tests::{Browser, Options, TestApp, User, Visitor, visitor::PASSWORD};
use serde_json::json;

use super::{CHALLENGE, REDIRECT, authorize, bearer, let_in, post_json, register, text, usual};
use crate::dashboard::{FAINT, keep};

async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

/// The key that stands on a page, if one does.
fn key(html: &str) -> Option<String> {
    let from = html.find("<code>fan_")? + "<code>".len();
    let key = &html[from..from + html[from..].find('<')?];
    (key.len() == 42).then(|| key.to_owned())
}

/// The address of the form whose button says this.
fn action(html: &str, end: &str) -> String {
    let found = html.split("action=\"").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]);
    found
        .into_iter()
        .find(|action| action.ends_with(end))
        .unwrap_or_else(|| panic!("no {end}"))
        .to_owned()
}

#[tokio::test]
async fn a_person_makes_replaces_and_revokes_keys() {
    let app = quiet().await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let first = ada.get("/dashboard/api").await.expect(200);
    let old = key(&first.html).expect("the first key");
    assert!(first.html.contains("claude mcp add") && first.html.contains("curl "));
    let csrf = first.hidden("csrf");
    let form = |name: &str, scopes: &[&str]| {
        let mut fields = vec![
            ("csrf", csrf.clone()),
            ("name", name.to_owned()),
            ("expires_in_days", "30".to_owned()),
        ];
        fields.extend(scopes.iter().map(|scope| ("scopes", (*scope).to_owned())));
        fields
    };
    let none = ada.send("/dashboard/api", &form("x", &[])).await.expect(400);
    assert!(none.html.contains("No scope is named"));
    let made = ada.send("/dashboard/api", &form("nightly", &["posts:read"])).await.expect(200);
    let new = key(&made.html).expect("the new key");
    let _ = User::new(&app.origin, new.clone()).get("/api/v1/posts").await.expect(200);
    let page = ada.get("/dashboard/api").await.expect(200);
    assert!(
        key(&page.html).is_none()
            && page.html.contains("nightly")
            && page.html.contains(&new[..12])
    );
    // The first one is replaced.
    let replace = action(&page.html, "/replace");
    let replaced = ada.send(&replace, &[("csrf", csrf.clone())]).await.expect(200);
    let fresh = key(&replaced.html).expect("the one in its place");
    User::new(&app.origin, old).get("/api/v1/whoami").await.refused(401, "api_key_revoked");
    let _ = User::new(&app.origin, fresh).get("/api/v1/accounts").await.expect(200);
    let gone = ada.send(&replace, &[("csrf", csrf.clone())]).await;
    assert_eq!(gone.status, 404);
    let page = ada.get("/dashboard/api").await.expect(200);
    let revoke = action(&page.html, "/revoke");
    let _ = ada.send(&revoke, &[("csrf", csrf.clone())]).await.expect(303);
    User::new(&app.origin, new).get("/api/v1/posts").await.refused(401, "api_key_revoked");
    assert_eq!(ada.send("/dashboard/api", &[("csrf", "guessed".into())]).await.status, 400);
}

#[tokio::test]
async fn an_old_log_in_needs_the_password_for_a_key() {
    let app = quiet().await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    app.advance(Duration::from_secs(3_601));
    let first = ada.get("/dashboard/api").await.expect(200);
    assert!(key(&first.html).is_some(), "the first key never asks");
    assert!(first.html.contains("Your password"));
    let mut fields = vec![
        ("csrf", first.hidden("csrf")),
        ("name", "x".to_owned()),
        ("scopes", "posts:read".to_owned()),
    ];
    let refused = ada.send("/dashboard/api", &fields).await.expect(400);
    assert!(refused.html.contains("needs your password"));
    fields.push(("password", "not her password".to_owned()));
    assert!(
        ada.send("/dashboard/api", &fields)
            .await
            .expect(400)
            .html
            .contains("The password is wrong")
    );
    fields[3].1 = PASSWORD.to_owned();
    let made = ada.send("/dashboard/api", &fields).await.expect(200);
    assert!(
        key(&made.html).is_some() && !made.html.contains("Your password"),
        "it is recent again"
    );
    fields.truncate(3);
    app.advance(Duration::from_secs(3_599));
    assert!(key(&ada.send("/dashboard/api", &fields).await.expect(200).html).is_some());
}

#[tokio::test]
async fn a_person_sees_and_ends_what_was_let_in_and_keeps_apps() {
    let app = quiet().await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    assert!(
        ada.get("/dashboard/apps").await.expect(200).html.contains("You have let no tool in yet")
    );
    let tokens = let_in(&app, &mut ada, &client).await;
    let page = ada.get("/dashboard/apps").await.expect(200);
    for shown in ["A tool", "posts:write", &client] {
        assert!(page.html.contains(shown), "{shown}");
    }
    let csrf = page.hidden("csrf");
    let _ = ada.send(&action(&page.html, "/end"), &[("csrf", csrf.clone())]).await.expect(303);
    bearer(&app, &tokens).get("/api/v1/posts").await.refused(401, "api_key_revoked");
    let form = |uris: &str| {
        vec![
            ("csrf", csrf.clone()),
            ("name", "My app".to_owned()),
            ("redirect_uris", uris.to_owned()),
            ("scopes", "posts:read".to_owned()),
        ]
    };
    let refused = ada.send("/dashboard/apps", &form("http://example.com/cb")).await.expect(400);
    assert!(refused.html.contains("http is taken for"));
    let _ = ada
        .send("/dashboard/apps", &form(&format!("{REDIRECT}\r\n http://127.0.0.1/cb \r\n")))
        .await
        .expect(303);
    let page = ada.get("/dashboard/apps").await.expect(200);
    assert!(page.html.contains("My app") && page.html.contains("http://127.0.0.1/cb"));
    let delete = action(&page.html, "/delete");
    let change = delete.trim_end_matches("/delete").to_owned();
    let _ = ada.send(&change, &form("https://tool.example/new")).await.expect(303);
    assert!(ada.get("/dashboard/apps").await.html.contains("https://tool.example/new"));
    let (_, mut bob) = Visitor::person(&app, "bob@example.com").await;
    let theirs = [("csrf", bob.get("/dashboard/apps").await.hidden("csrf"))];
    assert_eq!(bob.send(&delete, &theirs).await.status, 404);
    let _ = ada.send(&delete, &[("csrf", csrf)]).await.expect(303);
    assert!(!ada.get("/dashboard/apps").await.html.contains("https://tool.example/new"));
}

#[tokio::test]
async fn the_pages_can_be_read_on_a_phone_and_in_the_dark() {
    let app = TestApp::start().await;
    let (person, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let team = app.workspace(app.person("owner@example.com").await).await;
    fanfare_people::users::set_member(&app.domain, team, person, Role::Publisher).await.unwrap();
    let client = register(&app.origin).await;
    let _ = let_in(&app, &mut ada, &client).await;
    let user = app.key(person, None, &fanfare_core::access::Scope::ALL).await;
    let new = json!({"client_name": "My scheduling tool", "allowed_redirect_uris": [REDIRECT, "http://127.0.0.1/callback"]});
    let _ = user.post("/api/v1/oauth/clients", new).await.expect(201);
    let local = json!({"client_name": "Claude Code (fanfare)", "redirect_uris": ["http://localhost:3334/callback"]});
    let local = post_json(&app.origin, "/api/oauth/register", &local).await.expect(201);
    let mut asked = usual(text(&local, "client_id"));
    asked[2].1 = "http://localhost:3334/callback";
    let (consent, simple) = (authorize(&asked), authorize(&usual(&client)));
    let mut browser = Browser::start().await;
    browser.set_viewport(1280, false).await;
    browser.open(&format!("{}/login?next={}", app.origin, "/dashboard/api")).await;
    let fill = format!(
        "document.getElementById('email').value = 'ada@example.com'; \
         document.getElementById('password').value = '{PASSWORD}'; \
         document.querySelector('main button').click()"
    );
    browser.eval(&fill).await;
    browser.until("location.pathname === '/dashboard/api'").await;
    for (name, path) in [
        ("keys", "/dashboard/api"),
        ("apps", "/dashboard/apps"),
        ("consent", consent.as_str()),
        ("consent-site", simple.as_str()),
        ("refused", "/api/oauth/authorize?client_id=x"),
        ("signup", "/signup"),
        ("code", &format!("/oauth/code?code={CHALLENGE}")),
    ] {
        browser.open(&format!("{}{path}", app.origin)).await;
        browser.eval("document.querySelectorAll('details').forEach(one => one.open = true)").await;
        for (width, dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
            browser.set_viewport(width, dark).await;
            keep(&mut browser, &format!("{name}-{width}-{}", if dark { "dark" } else { "light" }))
                .await;
            let wide = browser.eval("document.documentElement.scrollWidth").await.as_u64();
            assert!(wide <= Some(u64::from(width)), "{name} is {wide:?} wide at {width}");
            let faint = browser.eval(FAINT).await;
            assert_eq!(faint, json!([]), "{name} at {width}, dark: {dark}");
        }
        let unnamed = "[...document.querySelectorAll('input:not([type=hidden]), select, textarea')] \
                       .filter(field => field.labels.length === 0).map(field => field.name)";
        assert_eq!(browser.eval(unnamed).await, json!([]), "{name}");
        assert_eq!(browser.eval("document.querySelectorAll('h1').length").await, 1, "{name}");
        let twice = "[...document.querySelectorAll('[id]')].map(one => one.id) \
                     .filter((id, place, all) => all.indexOf(id) !== place)";
        assert_eq!(browser.eval(twice).await, json!([]), "{name}");
    }
    let complaints: Vec<_> =
        browser.complaints.iter().filter(|said| !said.contains("status of 400")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}
