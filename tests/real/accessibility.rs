//! Every page, judged by axe-core: at a desk and on a phone, in light and in dark, with everything that opens closed and open.

use std::collections::{BTreeMap, BTreeSet};

use fanfare_core::access::Scope;
use fanfare_tests::{Browser, TestApp, User, Visitor, visitor::PASSWORD};
use serde_json::json;

/// Where the walk begins: without a log-in, as a user, as an operator.
const DOORS: [&str; 8] =
    ["/", "/login", "/signup", "/forgot", "/dev/mail", "/docs", "/docs/guides", "/admin/login"];
const DASHBOARD: [&str; 6] = [
    "/dashboard",
    "/dashboard/posts?view=month",
    "/dashboard/posts?view=week",
    "/dashboard/posts/none",
    "/dashboard/billing/plan?tier=pro&api_addon=true",
    "/connect",
];
const OPERATORS: [&str; 2] = ["/admin", "/admin/act/pause?target=platform:x"];

/// What axe-core finds, but for what it calls minor.
const FINDINGS: &str = "axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations \
     .filter((one) => one.impact !== 'minor') \
     .map((one) => `${one.impact} ${one.id}: ${one.nodes[0].html.slice(0, 160)}`))";

const LINKS: &str = "[...document.querySelectorAll('a[href]')].map((one) => new URL(one.href)) \
     .filter((url) => url.origin === location.origin).map((url) => url.pathname + url.search)";

/// axe-core, as npm has it.
fn axe() -> String {
    let file = "tests/peers/accessibility/node_modules/axe-core/axe.min.js";
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("axe-core is not installed: run `make peers`")
}

/// Where the last part of an address is a name.
const NAMED: [&[&str]; 4] = [&["docs"], &["docs", "guides"], &["updates"], &["connect"]];

/// The kind of a page: of pages that differ by a number, an id or a name alone, one is looked at.
fn kind(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let view = query.split('&').find(|pair| pair.starts_with("view="));
    let is_id = |part: &str| part.len() == 36 || part.chars().any(|one| one.is_ascii_digit());
    let mut parts: Vec<_> =
        path.split('/').map(|part| if is_id(part) { "*" } else { part }).collect();
    if let [_, before @ .., last] = parts.as_mut_slice()
        && NAMED.contains(&&*before)
        && !["guides", "errors"].contains(last)
    {
        *last = "*";
    }
    format!("{}?{}", parts.join("/"), view.unwrap_or_default())
}

fn is_page(path: &str) -> bool {
    let file = path.split('?').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    !file.contains('.') && !["/media", "/assets", "/mcp"].iter().any(|at| path.starts_with(at))
}

/// Walks from these pages to every kind of page below `place`, and notes what is found on each.
async fn walk(
    browser: &mut Browser,
    app: &TestApp,
    (doors, is_below): (&[&str], fn(&str) -> bool),
    found: &mut BTreeMap<String, String>,
) -> usize {
    let axe = axe();
    let mut pages: Vec<String> = doors.iter().map(|door| (*door).to_owned()).collect();
    let mut seen = BTreeSet::new();
    while let Some(page) = pages.pop() {
        if !is_page(&page) || !is_below(&page) || !seen.insert(kind(&page)) {
            continue;
        }
        browser.open(&format!("{}{page}", app.origin)).await;
        browser.eval(&axe).await;
        for (width, dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
            browser.set_viewport(width, dark).await;
            for open in [false, true] {
                let all = format!(
                    "document.querySelectorAll('details').forEach((one) => one.open = {open})"
                );
                browser.eval(&all).await;
                let here = format!("{page} {width} dark: {dark}, open: {open}");
                for finding in browser.eval(FINDINGS).await.as_array().expect("a list") {
                    found.entry(finding.as_str().unwrap().to_owned()).or_insert(here.clone());
                }
            }
        }
        let links = browser.eval(LINKS).await;
        pages
            .extend(links.as_array().unwrap().iter().map(|link| link.as_str().unwrap().to_owned()));
    }
    seen.len()
}

/// Something of everything, so that no list is empty.
async fn fill(app: &TestApp, user: &User) {
    let at = app.at(86_400);
    for platform in ["x", "bluesky", "facebook", "google_business"] {
        let account = user.connect(platform).await;
        let post = json!({"account_id": account, "caption": "Soup of the day", "status": "draft"});
        let _ = user.post("/api/v1/posts", post).await;
        let post = json!({"account_id": account, "caption": "Tomorrow", "scheduled_at": at});
        let _ = user.post("/api/v1/posts", post).await;
        let author = json!({"id": "77001", "username": "grace.h"});
        let item = match platform {
            "facebook" => {
                json!({"account_id": account, "kind": "message", "author": author, "text": "Open?"})
            }
            "google_business" => {
                json!({"account_id": account, "kind": "review", "text": "Fine", "rating": 4})
            }
            _ => continue,
        };
        let inbound = format!("/api/v1/sandbox/{platform}/inbound");
        let _ = user.post(&inbound, item).await.expect(201);
    }
    let hook = json!({"url": "https://example.com/hook", "events": ["*"]});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"]["id"].clone();
    let test = format!("/api/v1/webhooks/{}/test", hook.as_str().unwrap());
    let _ = user.post(&test, json!({})).await.expect(202);
    let own = json!({"client_name": "Tool", "allowed_redirect_uris": ["https://example.com/cb"]});
    let _ = user.post("/api/v1/oauth/clients", own).await.expect(201);
    app.eventually_in_time("a message", std::time::Duration::from_secs(16 * 60), || async {
        let shown = user.get("/api/v1/inbox/conversations").await.expect(200).body;
        shown["conversations"].as_array().is_some_and(|all| !all.is_empty()).then_some(())
    })
    .await;
}

async fn log_in(browser: &mut Browser, app: &TestApp, (page, email): (&str, &str)) {
    browser.open(&format!("{}{page}", app.origin)).await;
    let fill = format!(
        "document.getElementById('email').value = '{email}'; \
         document.getElementById('password').value = '{PASSWORD}'; \
         document.querySelector('main button').click()"
    );
    browser.eval(&fill).await;
    browser.until("!location.pathname.endsWith('/login')").await;
}

#[tokio::test]
async fn no_page_shuts_anybody_out() {
    let app = TestApp::start().await;
    let (person, _) = Visitor::person(&app, "ada@example.com").await;
    let user = app.key(person, None, &Scope::ALL).await;
    fill(&app, &user).await;
    let _ = Visitor::log_in(&app, "op@example.com").await;
    let mut browser = Browser::start().await;
    let mut found = BTreeMap::new();
    let public = |page: &str| !["/dashboard", "/connect"].iter().any(|at| page.starts_with(at));
    let mut count = walk(&mut browser, &app, (&DOORS, public), &mut found).await;
    log_in(&mut browser, &app, ("/login", "ada@example.com")).await;
    let own = |page: &str| ["/dashboard", "/connect"].iter().any(|at| page.starts_with(at));
    count += walk(&mut browser, &app, (&DASHBOARD, own), &mut found).await;
    log_in(&mut browser, &app, ("/admin/login", "op@example.com")).await;
    let admin = |page: &str| page.starts_with("/admin");
    count += walk(&mut browser, &app, (&OPERATORS, admin), &mut found).await;
    assert!(found.is_empty(), "{found:#?}");
    assert!(count > 50, "{count} kinds of pages");
}
