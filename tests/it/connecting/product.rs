//! Connecting inside a product: its customers come from its pages and go back to them, with or without an account of this
//! service.

use std::time::Duration;

use fanfare_core::access::{Role, Scope};
use fanfare_tests::{Browser, User, Visitor};
use serde_json::{Value, json};

use super::{page, person, poll, session, start};

const SETTINGS: &str = "/api/v1/connect/settings";

const PAGE: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 41\r\nConnection: close\r\n\r\n";

async fn allow(user: &User, changes: Value) -> Value {
    user.patch(SETTINGS, changes).await.expect(200).body["connect_settings"].clone()
}

async fn refused(user: &User, body: Value, field: &str) {
    let answer = user.post("/api/v1/connect/threads/sessions", body).await;
    let answer = answer.refused(400, "invalid_field");
    assert_eq!(answer.body["validation_errors"][0]["field"], field, "{}", answer.text);
}

/// Opens a link and goes on.
async fn go_on(visitor: &mut Visitor, link: &str) -> u16 {
    let shown = visitor.get(link).await.expect(200);
    visitor.send(link, &[("csrf", shown.hidden("csrf"))]).await.status
}

/// Returns the parameters that the person is sent back with.
fn carried(html: &str, back: &str) -> Vec<(String, String)> {
    let start = html.find(&format!("0; url={back}?")).unwrap_or_else(|| panic!("{back} in {html}"));
    let url = &html[start + "0; url=".len()..];
    let url = url[..url.find('"').unwrap()].replace("&amp;", "&");
    url::Url::parse(&url).unwrap().query_pairs().into_owned().collect()
}

#[tokio::test]
async fn a_customer_without_an_account_comes_from_a_product_and_goes_back_to_it() {
    let app = start().await;
    let (_, user) = person(&app).await;
    let shop =
        crate::media::serving(PAGE, b"<!doctype html><title>The product</title>", false).await;
    let _ =
        allow(&user, json!({"guest_links": true, "return_urls": [shop], "app_name": "Rose & Co"}))
            .await;
    let asked =
        json!({"guest": true, "sandbox": true, "return_url": shop, "reference": "customer 7"});
    let made = session(&user, "threads", asked).await;
    assert_eq!(
        (&made["reference"], &made["app_name"]),
        (&json!("customer 7"), &json!("Rose & Co"))
    );
    let link = made["connect_url"].as_str().unwrap();
    let mut browser = Browser::start().await;
    browser.open(link).await;
    let text = browser.eval("document.body.textContent").await;
    let text = text.as_str().unwrap();
    let workspace =
        user.get("/api/v1/whoami").await.expect(200).body["workspaces"][0]["name"].clone();
    assert!(text.contains("Rose & Co") && text.contains(workspace.as_str().unwrap()), "{text}");
    assert_eq!(
        poll(&app, &user, &made).await["status"],
        "created",
        "looking at it changes nothing"
    );
    browser.eval("document.querySelector('main button').click()").await;
    browser.until("location.pathname.startsWith('/connect/guest/')").await;
    let text = browser.eval("document.body.textContent").await;
    assert!(!text.as_str().unwrap().contains("Log out"), "nobody is logged in: {text}");
    browser.eval("[...document.querySelectorAll('main button')].find(one => one.textContent.startsWith('Continue')).click()").await;
    browser.until("document.body.textContent.includes('Continue as')").await;
    browser.eval("document.querySelector('a[href*=\"account=\"]').click()").await;
    browser.until("document.title === 'The product'").await;
    let back = browser.eval("location.href").await;
    let back = url::Url::parse(back.as_str().unwrap()).unwrap();
    let carried: Vec<(String, String)> = back.query_pairs().into_owned().collect();
    let id = made["id"].as_str().unwrap().to_owned();
    let wanted = [
        ("connect_session_id".to_owned(), id.clone()),
        ("status".to_owned(), "connected".to_owned()),
        ("reference".to_owned(), "customer 7".to_owned()),
    ];
    assert_eq!(carried, wanted);
    let done = poll(&app, &user, &made).await;
    assert_eq!((&done["status"], &done["connected_count"]), (&json!("connected"), &json!(1)));
    let events =
        user.get("/api/v1/events?type=account.connected").await.expect(200).body["events"].clone();
    let data = &events[0]["data"];
    assert_eq!((&data["reference"], &data["return_url"]), (&json!("customer 7"), &json!(shop)));
    assert_eq!(data["account"]["id"], done["accounts"][0]["id"]);
    assert_eq!(data["connect_session_id"], json!(id));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[tokio::test]
async fn a_person_is_sent_back_to_registered_addresses_alone() {
    let app = start().await;
    let (_, user) = person(&app).await;
    let at_app = "https://app.example/done";
    let new = json!({"client_name": "Rose & Co", "allowed_redirect_uris": [at_app]});
    let _ = user.post("/api/v1/oauth/clients", new).await.expect(201);
    let at_home = "https://home.example/done?step=2";
    let changed = allow(&user, json!({"return_urls": [at_home]})).await;
    assert_eq!(
        (&changed["return_urls"], &changed["guest_links"]),
        (&json!([at_home]), &json!(false))
    );
    assert_eq!(user.get(SETTINGS).await.expect(200).body["connect_settings"], changed);
    let made = session(&user, "threads", json!({"return_url": at_app})).await;
    assert_eq!((&made["return_url"], &made["app_name"]), (&json!(at_app), &json!("Rose & Co")));
    let made = session(&user, "threads", json!({"return_url": at_home})).await;
    assert_eq!((&made["return_url"], &made["app_name"]), (&json!(at_home), &Value::Null));
    for other in [
        "https://app.example/done/",
        "https://app.example/done?x=1",
        "https://app.example.evil.example/done",
        "https://home.example/done",
        "javascript:alert(1)",
        "//app.example/done",
        "",
    ] {
        refused(&user, json!({"return_url": other}), "return_url").await;
    }
    refused(&user, json!({"guest": true}), "guest").await;
    for bad in ["http://home.example/", "javascript:alert(1)", "https://u:p@home.example/", "x"] {
        let answer = user.patch(SETTINGS, json!({"return_urls": [bad]})).await;
        let answer = answer.refused(400, "invalid_field");
        assert_eq!(answer.body["validation_errors"][0]["field"], "return_urls[0]");
    }
    // A key of one workspace reaches nothing of its person, whose app this is; and it takes an admin to allow addresses.
    let team = app.workspace(app.person("owner@example.com").await).await;
    let (id, bound) = app.member(team, Role::Publisher).await;
    let free = app.key(id, None, &Scope::ALL).await;
    let new = json!({"client_name": "Theirs", "allowed_redirect_uris": [at_app]});
    let _ = free.post("/api/v1/oauth/clients", new).await.expect(201);
    let _ = bound.post("/api/v1/oauth/clients", json!({})).await.refused(403, "insufficient_scope");
    refused(&bound, json!({"return_url": at_app}), "return_url").await;
    let forbidden = bound.patch(SETTINGS, json!({"guest_links": true})).await;
    let _ = forbidden.refused(403, "insufficient_workspace_permissions");
}

#[tokio::test]
async fn a_link_is_good_for_one_browser_and_half_an_hour() {
    let app = start().await;
    let (mut member, user) = person(&app).await;
    let back = "https://home.example/done";
    let _ = allow(&user, json!({"guest_links": true, "return_urls": [back]})).await;
    let asked = json!({"guest": true, "sandbox": true, "return_url": back});
    let made = session(&user, "threads", asked.clone()).await;
    let (link, id) = (page(&made), made["id"].as_str().unwrap());
    let (mut first, mut second) = (Visitor::nobody(&app), Visitor::nobody(&app));
    let inner = format!("/connect/guest/{id}");
    let outside = first.get(&inner).await.expect(303);
    assert!(outside.location.starts_with("/connect/elsewhere"), "{}", outside.location);
    assert_eq!(first.get(&outside.location).await.status, 404);
    let forged = link.replace(id, &uuid::Uuid::now_v7().to_string());
    assert_eq!(first.get(&forged).await.status, 404);
    assert_eq!(first.send(&link, &[]).await.status, 400, "its form has a token");
    assert_eq!(go_on(&mut first, &link).await, 303);
    assert_eq!(go_on(&mut first, &link).await, 303, "the same browser may come again");
    assert_eq!(go_on(&mut second, &link).await, 404, "another one may not");
    let _ = first.get(&inner).await.expect(200);
    assert_eq!(second.get(&inner).await.status, 404, "it never opened this link");
    let other = session(&user, "threads", asked.clone()).await;
    assert_eq!(go_on(&mut second, &page(&other)).await, 303);
    assert_eq!(second.get(&inner).await.status, 404, "its own link is another one");
    assert_eq!(member.get(&format!("/connect/sessions/{id}")).await.status, 404);
    // A cancelled one leads back, too.
    let shown = first.get(&inner).await.expect(200);
    let token = [("csrf", shown.hidden("csrf"))];
    let _ = first.send(&format!("{inner}/cancel"), &token).await.expect(303);
    let left = carried(&first.get(&inner).await.expect(200).html, back);
    assert_eq!(left[1], ("status".to_owned(), "cancelled".to_owned()));
    // What is no longer allowed ends at once.
    let _ = allow(&user, json!({"guest_links": false})).await;
    assert_eq!(
        second.get(&format!("/connect/guest/{}", other["id"].as_str().unwrap())).await.status,
        404
    );
    let _ = allow(&user, json!({"guest_links": true})).await;
    let late = session(&user, "threads", asked).await;
    app.advance(Duration::from_secs(30 * 60 + 1));
    assert_eq!(first.get(&page(&late)).await.status, 404);
    assert_eq!(poll(&app, &user, &late).await["status"], "expired");
}

#[tokio::test]
async fn a_person_with_an_account_goes_back_to_the_product_too() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let back = "https://home.example/done";
    let _ = allow(&user, json!({"return_urls": [back]})).await;
    let asked = json!({"sandbox": true, "return_url": back, "reference": "a&b=c"});
    let made = session(&user, "discord", asked).await;
    let _ = ada.step(&page(&made), "simulate", &[]).await.expect(303);
    let left = carried(&ada.get(&page(&made)).await.expect(200).html, back);
    assert_eq!(
        left[1..],
        [("status".into(), "connected".into()), ("reference".into(), "a&b=c".into())]
    );
}
