//! Connecting in a real browser, without a script of ours: from the link through the log-in and the network's own page to
//! the end; and every page as it looks on a phone and in the dark. With `TEST_PICTURES=<directory>` each is kept there.

use fanfare_core::access::Scope;
use fanfare_tests::{Browser, Options, TestApp, User, Visitor, visitor::PASSWORD};
use serde_json::{Value, json};

use crate::dashboard::{FAINT, keep};

async fn person(app: &TestApp) -> User {
    let (id, _) = Visitor::person(app, "ada@example.com").await;
    app.key(id, None, &Scope::ALL).await
}

async fn session(user: &User, platform: &str, body: Value) -> Value {
    let path = format!("/api/v1/connect/{platform}/sessions");
    user.post(&path, body).await.expect(201).body["connect_session"].clone()
}

async fn log_in(browser: &mut Browser) {
    let fill = format!(
        "document.getElementById('email').value = 'ada@example.com'; \
         document.getElementById('password').value = '{PASSWORD}'; \
         document.querySelector('main button').click()"
    );
    browser.eval(&fill).await;
}

/// Opens a page that leads to the log-in first.
async fn open_and_log_in(browser: &mut Browser, url: &str) {
    browser.eval(&format!("location.href = '{url}'")).await;
    browser.until("location.pathname === '/login' && document.getElementById('password')").await;
}

/// Looks at the page in four ways.
async fn look(browser: &mut Browser, name: &str) {
    for (width, dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
        browser.set_viewport(width, dark).await;
        let shade = if dark { "dark" } else { "light" };
        keep(browser, &format!("connect-{name}-{width}-{shade}")).await;
        let wide = browser.eval("document.documentElement.scrollWidth").await.as_u64();
        assert!(wide <= Some(u64::from(width)), "{name} is {wide:?} wide at {width}");
        assert_eq!(browser.eval(FAINT).await, json!([]), "{name} at {width}, dark: {dark}");
    }
    let unnamed = "[...document.querySelectorAll('input:not([type=hidden]), select')] \
                   .filter(field => field.labels.length === 0).map(field => field.name)";
    assert_eq!(browser.eval(unnamed).await, json!([]), "{name}");
    assert_eq!(browser.eval("document.querySelectorAll('h1').length").await, 1, "{name}");
    assert_eq!(browser.eval("document.scripts.length").await, 0, "{name} needs no script");
}

#[tokio::test]
async fn from_the_link_to_the_account() {
    let app = TestApp::with(Options { stand_ins: true, ..Options::default() }).await;
    let user = person(&app).await;
    app.simulator.stand_in("threads").await;
    let made = session(&user, "threads", json!({})).await;
    let mut browser = Browser::start().await;
    browser.set_viewport(390, false).await;
    open_and_log_in(&mut browser, made["connect_url"].as_str().unwrap()).await;
    look(&mut browser, "login").await;
    log_in(&mut browser).await;
    browser.until("location.pathname.startsWith('/connect/sessions/')").await;
    look(&mut browser, "grant").await;
    browser.eval("[...document.querySelectorAll('main button')].find(one => one.textContent.startsWith('Continue')).click()").await;
    browser.until("document.body.textContent.includes('Continue as')").await;
    browser.eval("document.querySelector('a[href*=\"account=\"]').click()").await;
    browser.until("location.pathname.startsWith('/connect/sessions/') && document.querySelector('.flash.good')").await;
    look(&mut browser, "done").await;
    let poll = made["poll_url"].as_str().unwrap().replace(&app.origin, "");
    assert_eq!(user.get(&poll).await.expect(200).body["connect_session"]["status"], "connected");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[tokio::test]
async fn a_link_that_starts_by_itself_passes_through_the_log_in() {
    let app = TestApp::with(Options { stand_ins: true, ..Options::default() }).await;
    let user = person(&app).await;
    let made = session(&user, "threads", json!({"auto_start": true, "sandbox": true})).await;
    let mut browser = Browser::start().await;
    open_and_log_in(&mut browser, made["connect_url"].as_str().unwrap()).await;
    log_in(&mut browser).await;
    browser.until("document.body.textContent.includes('Continue as')").await;
    assert_eq!(browser.complaints, Vec::<String>::new(), "no policy stands in the way");
}

#[tokio::test]
async fn every_page_can_be_read_on_a_phone_and_in_the_dark() {
    let app = TestApp::with(Options { stand_ins: true, ..Options::default() }).await;
    let user = person(&app).await;
    let mut browser = Browser::start().await;
    browser.set_viewport(1280, false).await;
    open_and_log_in(&mut browser, &format!("{}/connect", app.origin)).await;
    log_in(&mut browser).await;
    browser.until("location.pathname === '/connect'").await;
    look(&mut browser, "all").await;
    browser.open(&format!("{}/connect/threads", app.origin)).await;
    look(&mut browser, "start").await;
    for platform in fanfare_platforms::all() {
        let spec = platform.spec();
        let made = session(&user, spec.id.as_str(), json!({})).await;
        browser.open(made["connect_url"].as_str().unwrap()).await;
        look(&mut browser, spec.id.as_str()).await;
    }
    let simulated = session(&user, "discord", json!({"sandbox": true})).await;
    browser.open(simulated["connect_url"].as_str().unwrap()).await;
    look(&mut browser, "simulated").await;
    browser.eval("document.querySelector('form.actions button').click()").await;
    browser.until("document.querySelector('.flash.plain')").await;
    look(&mut browser, "cancelled").await;
    let wrong = session(&user, "bluesky", json!({})).await;
    browser.open(wrong["connect_url"].as_str().unwrap()).await;
    let fill = "document.getElementById('identifier').value = 'nobody.test'; \
                document.getElementById('app_password').value = 'aaaa-bbbb-cccc-dddd'; \
                document.querySelector('form.narrow button').click()";
    browser.eval(fill).await;
    browser.until("document.querySelector('.flash.bad')").await;
    look(&mut browser, "wrong").await;
    let choose = session(&user, "threads", json!({"sandbox": true})).await;
    browser.open(choose["connect_url"].as_str().unwrap()).await;
    browser.eval("document.querySelector('form.narrow button').click()").await;
    browser.until("document.body.textContent.includes('Continue as')").await;
    crate::connecting::offer(&app, &choose).await;
    browser.open(choose["connect_url"].as_str().unwrap()).await;
    look(&mut browser, "choose").await;
    browser.open(&format!("{}/connect/sessions/none", app.origin)).await;
    look(&mut browser, "absent").await;
    let unexpected = browser.complaints.iter().filter(|said| !said.contains("status of 4"));
    assert_eq!(unexpected.collect::<Vec<_>>(), Vec::<&String>::new());
}
