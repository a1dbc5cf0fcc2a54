//! The button on the page of consent, in a real browser: it reaches programs on this computer, sites, and programs that the
//! browser opens by a scheme of theirs.

use fanfare_tests::{Browser, Options, TestApp, Visitor, served::FileServer, visitor::PASSWORD};
use serde_json::json;

use super::{authorize, parameter, post_json, redeem_at, text, usual};

/// A browser on the page of consent of a client that is sent back to `redirect_uri`; the client.
async fn before_the_button(
    app: &TestApp,
    registered: &str,
    redirect_uri: &str,
) -> (Browser, String) {
    let asked = json!({"client_name": "A tool", "redirect_uris": [registered]});
    let made = post_json(&app.origin, "/api/oauth/register", &asked).await.expect(201);
    let client = text(&made, "client_id").to_owned();
    let mut fields = usual(&client);
    fields[2].1 = redirect_uri;
    let page = authorize(&fields);
    let next: String = url::form_urlencoded::byte_serialize(page.as_bytes()).collect();
    let mut browser = Browser::start().await;
    browser.set_viewport(1280, false).await;
    browser.open(&format!("{}/login?next={next}", app.origin)).await;
    let fill = format!(
        "document.getElementById('email').value = 'ada@example.com'; \
         document.getElementById('password').value = '{PASSWORD}'; \
         document.querySelector('main button').click()"
    );
    browser.eval(&fill).await;
    browser.until("location.pathname === '/api/oauth/authorize'").await;
    browser.until("document.querySelector('button[value=allow]') !== null").await;
    (browser, client)
}

async fn start() -> TestApp {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (_, _) = Visitor::person(&app, "ada@example.com").await;
    app
}

const ALLOW: &str = "document.querySelector('button[value=allow]').click()";

/// The code in an address opens the service.
async fn redeems(app: &TestApp, client: &str, redirect_uri: &str, arrived: &str) {
    let arrived = arrived.parse().unwrap();
    assert_eq!(
        (parameter(&arrived, "state"), parameter(&arrived, "iss")),
        ("xyz".into(), app.origin.clone())
    );
    let code = parameter(&arrived, "code");
    let _ = redeem_at(&app.origin, client, redirect_uri, &code).await.expect(200);
}

#[tokio::test]
async fn it_reaches_a_program_on_this_computer() {
    let app = start().await;
    let served = FileServer::file("callback", "text/html", b"<h1>Arrived</h1>".to_vec()).await;
    let (mut browser, client) =
        before_the_button(&app, "http://127.0.0.1/callback", &served.url).await;
    browser.eval(ALLOW).await;
    browser.until("location.pathname === '/callback' && location.search.includes('code=')").await;
    let arrived = browser.eval("location.href").await;
    redeems(&app, &client, &served.url, arrived.as_str().unwrap()).await;
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[tokio::test]
async fn it_reaches_a_site() {
    let app = start().await;
    let site = "https://tool.example/callback";
    let (mut browser, client) = before_the_button(&app, site, site).await;
    browser.stand_in("https://tool.example/").await;
    browser.eval(ALLOW).await;
    browser.until("document.title === 'Arrived' && location.host === 'tool.example'").await;
    let arrived = browser.eval("location.href").await;
    redeems(&app, &client, site, arrived.as_str().unwrap()).await;
    // The page does not send a referrer.
    assert_eq!(browser.eval("document.referrer").await, "");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[tokio::test]
async fn it_reaches_a_program_by_its_scheme() {
    let app = start().await;
    let program = "cursor://anysphere.cursor-mcp/oauth/callback";
    let (mut browser, client) = before_the_button(&app, program, program).await;
    browser.eval(ALLOW).await;
    let arrived = browser.wait_for_navigation(program).await;
    redeems(&app, &client, program, &arrived).await;
    let against: Vec<_> =
        browser.complaints.iter().filter(|said| said.contains("Content Security Policy")).collect();
    assert!(against.is_empty(), "{against:?}");
}
