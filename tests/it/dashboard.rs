//! The dashboard in a real browser: it can be read on a phone and in the dark, used by keyboard, and keeps itself up to
//! date. With `TEST_PICTURES=<directory>` every page is kept there as a picture, to be looked at.

use std::{path::PathBuf, time::Duration};

use fanfare_ops::ops::{
    Action, Actor, Order,
    fleet::{self, Heartbeat, RunningJob},
    perform,
    samples::{self, SampleCounts, SampleKey},
};
use fanfare_tests::{Browser, Operator, Receiver, TestApp, User, operator::PASSWORD};
use serde_json::json;
use uuid::Uuid;

/// Says which texts are too faint on what is behind them: less than 4.5 to 1, or 3 to 1 when they are large.
pub const FAINT: &str = include_str!("contrast.js");

/// Says which headings leave out a level, and which code cannot be scrolled with the keyboard.
pub const STRUCTURE: &str = "(() => { \
     const levels = [...document.querySelectorAll('main :is(h1, h2, h3, h4, h5, h6)')]; \
     const jumps = levels.filter((one, place) => place && one.tagName[1] - levels[place - 1].tagName[1] > 1); \
     const stuck = [...document.querySelectorAll('pre')].filter((one) => one.tabIndex < 0); \
     return [...jumps, ...stuck].map((one) => one.outerHTML.slice(0, 80)); })()";

const PAGES: &[(&str, &str)] = &[
    ("queues", "/admin/queues"),
    ("work", "/admin/work"),
    ("fleet", "/admin/fleet"),
    ("platforms", "/admin/platforms"),
    ("readings", "/admin/readings"),
    ("webhooks", "/admin/webhooks"),
    ("waiting", "/admin/waiting"),
    ("audit", "/admin/audit"),
    ("pause", "/admin/act/pause?target=platform:bluesky"),
    ("retry", "/admin/act/retry?status=failed"),
    ("nothing", "/admin/work?platform=threads&status=draft"),
    ("refused", "/admin/work?id=seven"),
];

async fn logged_in(app: &TestApp) -> Browser {
    Operator::log_in(app, "ada@example.com").await;
    let mut browser = Browser::start().await;
    browser.set_viewport(1280, false).await;
    browser.open(&format!("{}/admin/login", app.origin)).await;
    let fill = format!(
        "document.getElementById('email').value = 'ada@example.com'; \
         document.getElementById('password').value = '{PASSWORD}'; \
         document.querySelector('main button').click()"
    );
    browser.eval(&fill).await;
    browser.until("location.pathname === '/admin/queues'").await;
    browser
}

#[tokio::test]
async fn the_pages_keep_themselves_up_to_date() {
    let app = TestApp::start().await;
    let mut browser = logged_in(&app).await;
    browser.open(&format!("{}/admin/fleet", app.origin)).await;
    browser.until("document.querySelectorAll('#live .card').length === 1").await;
    fleet::write_heartbeat(&app.domain, &beat("second-7", &app)).await.unwrap();
    browser.until("document.querySelectorAll('#live .card').length === 2").await;
    // The page can be paused.
    browser.eval("document.querySelector('.livebar button').click()").await;
    browser.until("document.querySelector('.livebar').textContent.includes('Held still')").await;
    fleet::write_heartbeat(&app.domain, &beat("third-8", &app)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(browser.eval("document.querySelectorAll('#live .card').length").await, 2);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[tokio::test]
async fn a_story_goes_on_while_it_is_read() {
    let app = TestApp::start().await;
    let mut browser = logged_in(&app).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let post = json!({"account_id": account, "caption": "Soon", "scheduled_at": app.at(600)});
    let made = user.post("/api/v1/posts", post).await.expect(201);
    let id = made.body["post"]["id"].as_i64().unwrap();
    browser.open(&format!("{}/admin/work/post/{id}", app.origin)).await;
    browser.until("document.querySelector('h1').textContent.includes('scheduled')").await;
    app.advance(Duration::from_secs(601));
    browser.until("document.querySelector('h1').textContent.includes('published')").await;
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[tokio::test]
async fn the_first_key_offers_to_skip_the_menu() {
    let app = TestApp::start().await;
    let mut browser = logged_in(&app).await;
    browser.open(&format!("{}/admin/queues", app.origin)).await;
    browser.press("Tab", 9).await;
    assert_eq!(browser.eval("document.activeElement.className").await, "skip");
    assert!(
        browser.eval("document.activeElement.getBoundingClientRect().left").await.as_f64()
            > Some(0.0)
    );
    let unnamed = "[...document.querySelectorAll('input:not([type=hidden]), select, textarea')] \
                   .filter(field => field.labels.length === 0).map(field => field.name)";
    let uncaptioned =
        "[...document.querySelectorAll('table')].filter(table => !table.caption).length";
    for (name, path) in PAGES {
        browser.open(&format!("{}{path}", app.origin)).await;
        assert_eq!(browser.eval(unnamed).await, json!([]), "{name}");
        assert_eq!(browser.eval(uncaptioned).await, 0, "{name}");
        assert_eq!(browser.eval("document.querySelectorAll('h1').length").await, 1, "{name}");
    }
}

#[tokio::test]
async fn every_page_can_be_read_on_a_phone_and_in_the_dark() {
    let app = TestApp::start().await;
    let post = Box::pin(busy_day(&app)).await;
    let mut browser = logged_in(&app).await;
    let story = format!("/admin/work/post/{post}");
    let all = PAGES.iter().copied().chain([("story", story.as_str())]);
    for (name, path) in all.chain([("login", "/admin/login")]) {
        browser.open(&format!("{}{path}", app.origin)).await;
        for (width, dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
            browser.set_viewport(width, dark).await;
            keep(&mut browser, &format!("{name}-{width}-{}", if dark { "dark" } else { "light" }))
                .await;
            let wide = browser.eval("document.documentElement.scrollWidth").await.as_u64();
            assert!(wide <= Some(u64::from(width)), "{name} is {wide:?} wide at {width}");
            let faint = browser.eval(FAINT).await;
            assert_eq!(faint, json!([]), "{name} at {width}, dark: {dark}");
        }
    }
    let complaints: Vec<_> =
        browser.complaints.iter().filter(|said| !said.contains("status of 400")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}

#[expect(clippy::disallowed_methods, reason = "where whoever looks wants the pictures")]
pub async fn keep(browser: &mut Browser, name: &str) {
    let Ok(dir) = std::env::var("TEST_PICTURES") else { return };
    let picture = browser.screenshot().await;
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(PathBuf::from(dir).join(format!("{name}.png")), picture).unwrap();
}

fn beat(name: &str, app: &TestApp) -> Heartbeat {
    Heartbeat {
        name: name.to_owned(),
        host: name.rsplit_once('-').map_or(name, |(host, _)| host).to_owned(),
        pid: 4_711,
        version: "0.1.0",
        queues: "publish,webhook,media,upkeep".to_owned(),
        slots: 256,
        running: vec![RunningJob {
            kind: "publish_post".into(),
            id: 1,
            since: app.clock.now() - 12_000,
        }],
        running_count: 137,
        started_at: app.clock.now() - 9 * 3_600_000,
    }
}

/// A service as operators find it: a day of counts, a dead worker, failing webhooks, pauses, posts that wait for
/// somebody. The post whose story is the longest.
async fn busy_day(app: &TestApp) -> i64 {
    count_a_day(app).await;
    fleet::write_heartbeat(&app.domain, &beat("worker-eu-1.example.internal-812", app))
        .await
        .unwrap();
    app.advance(Duration::from_secs(60));
    fleet::write_heartbeat(&app.domain, &beat("worker-eu-2.example.internal-99431", app))
        .await
        .unwrap();
    let user = app.user().await;
    let dead = Receiver::start().await;
    dead.respond_with(500);
    for (events, path) in [("*", "/services/T024BE7LD/B8R2K/abcdefgh"), ("post.failed", "")] {
        let hook = json!({"url": format!("{}{path}", dead.url), "events": [events]});
        let _ = user.post("/api/v1/webhooks", hook).await.expect(201);
    }
    let last = publish_some(app, &user).await;
    let ada = Actor {
        name: "ada@example.com".into(),
        request_id: format!("req_{}", Uuid::nil().simple()),
    };
    for target in ["platform:threads", "account:1"] {
        let action = Action::Pause(target.parse().unwrap());
        let reason =
            "They answer 503 to everything since noon; ticket 4711 is open with them".to_owned();
        perform(&app.domain, &ada, Order { id: Uuid::now_v7(), action, reason }).await.unwrap();
    }
    last
}

/// Posts on every network, some of them in trouble; the one whose outcome is unknown.
async fn publish_some(app: &TestApp, user: &User) -> i64 {
    let long =
        "We are opening a second shop on the harbour, and everybody is invited to come and see.";
    let mut last = 0;
    for platform in ["bluesky", "discord", "threads", "wordpress", "telegram"] {
        let account = user.connect(platform).await;
        let post = json!({"account_id": account, "caption": long});
        let mut later = post.clone();
        later["scheduled_at"] = app.at(86_400).into();
        let _ = user.post("/api/v1/posts", later).await.expect(201);
        let sent = user.post("/api/v1/posts", post.clone()).await.expect(201);
        // The fault below is for the next post, so this one has to be through.
        // Threads is still at work on it: its next step waits for time to pass.
        let through = &["published", "processing"];
        app.wait_for_status(user, sent.body["post"]["id"].as_i64().unwrap(), through).await;
        let kind = if platform == "telegram" { "drop_after_change" } else { "status" };
        user.faults(platform, account, json!([{"on": "commit", "kind": kind, "status": 400}]))
            .await;
        let made = user.post("/api/v1/posts", post).await;
        last = made.body["post"]["id"].as_i64().unwrap_or(last);
    }
    app.wait_for_status(user, last, &["failed"]).await;
    last
}

/// Counts as workers write them, for every quarter of an hour of a day and every minute of the last hour.
async fn count_a_day(app: &TestApp) {
    let mut steps: Vec<i64> = (4..96).rev().map(|quarter| quarter * 15).collect();
    steps.extend((0..60).rev());
    let (now, mut at) = (app.clock.now(), app.clock.now());
    for (place, back) in steps.into_iter().enumerate() {
        let then = now - back * 60_000;
        app.clock.advance(then - at);
        at = then;
        let place = i64::try_from(place).unwrap();
        // Something like a day: slow waves, and fifteen times as much in a quarter as in a minute.
        let wave = (place % 23 - 11).abs() + place % 5;
        let long = if back >= 60 { 15 } else { 1 };
        let mut counts = SampleCounts::new();
        let mut add = |kind, platform: &str, measure: &str, n: i64| {
            counts
                .insert(SampleKey { kind, platform: platform.into(), measure: measure.into() }, n);
        };
        for (scale, platform) in [(9, "bluesky"), (4, "telegram"), (2, "wordpress"), (1, "threads")]
        {
            add("publish_post", platform, "done", long * scale * (20 + wave * wave));
            add("publish_post", platform, "failed", if wave > 12 { long * scale * 6 } else { 0 });
            add("publish_post", platform, "retried", wave);
            add("publish_post", platform, "late:1", scale * 20);
            add("publish_post", platform, "late:8", i64::from(wave > 13));
            add("publish_post", platform, "error:platform_unavailable", wave);
            add("publish_post", platform, "error:outcome_unknown", i64::from(wave == 15));
            add("publish_post", platform, "depth", wave * 3);
        }
        add("deliver_webhook", "", "done", long * (60 + wave * 9));
        add("deliver_webhook", "", "retried", wave);
        samples::add(&app.domain, &counts).await.unwrap();
    }
    app.clock.advance(now - at);
}
