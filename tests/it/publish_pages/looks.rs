//! The look of the pages: on a phone, in the dark, by keyboard.

use fanfare_tests::{Browser, TestApp};
use serde_json::json;

use super::{person, post, posts::log_in, send, tomorrow, workspace};
use crate::dashboard::{FAINT, STRUCTURE, keep};

#[tokio::test]
async fn every_page_can_be_read_on_a_phone_and_in_the_dark() {
    let app = TestApp::start().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let mut browser = Browser::start().await;
    browser.set_viewport(1280, false).await;
    log_in(&mut browser, &app, "ada@example.com", "/dashboard").await;
    for (name, path) in
        [("home-empty", ""), ("posts-empty", "/posts"), ("accounts-empty", "/accounts")]
    {
        look(&mut browser, &app, name, &format!("/dashboard{path}")).await;
    }
    let failed = Box::pin(busy(&app, &mut ada, &user)).await;
    let post = format!("/dashboard/posts/{failed}");
    let set = Box::pin(half_published(&app, &user)).await;
    for (name, path) in [
        ("home", "/dashboard"),
        ("posts", "/dashboard/posts"),
        ("month", "/dashboard/posts?view=month"),
        ("week", "/dashboard/posts?view=week"),
        ("post", post.as_str()),
        ("set", set.as_str()),
        ("accounts", "/dashboard/accounts"),
        ("composer", "/dashboard/posts/new"),
        ("keys", "/dashboard/api"),
        ("refused", "/dashboard/posts/none"),
    ] {
        look(&mut browser, &app, name, path).await;
    }
    compose(&mut browser, &app).await;
    for path in ["/", "/docs", "/docs/create_post", "/docs/errors", "/updates", "/feedback"] {
        browser.open(&format!("{}{path}", app.origin)).await;
        assert_eq!(browser.eval(STRUCTURE).await, json!([]), "{path}");
    }
    let unexpected = browser.complaints.iter().filter(|said| !said.contains("status of 4"));
    assert_eq!(unexpected.collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Looks at a page in four ways, and at what a screen reader needs.
async fn look(browser: &mut Browser, app: &TestApp, name: &str, path: &str) {
    browser.open(&format!("{}{path}", app.origin)).await;
    look_here(browser, name).await;
}

async fn look_here(browser: &mut Browser, name: &str) {
    for (width, dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
        browser.set_viewport(width, dark).await;
        let shade = if dark { "dark" } else { "light" };
        keep(browser, &format!("person-{name}-{width}-{shade}")).await;
        let wide = browser.eval("document.documentElement.scrollWidth").await.as_u64();
        assert!(wide <= Some(u64::from(width)), "{name} is {wide:?} wide at {width}");
        assert_eq!(browser.eval(FAINT).await, json!([]), "{name} at {width}, dark: {dark}");
    }
    assert_eq!(browser.eval(STRUCTURE).await, json!([]), "{name}");
    let unnamed = "[...document.querySelectorAll('input:not([type=hidden]), select, textarea')] \
                   .filter(field => field.labels.length === 0 && !field.closest('[hidden]')).map(field => field.name)";
    assert_eq!(browser.eval(unnamed).await, json!([]), "{name}");
    let twice = "[...document.querySelectorAll('[id]')].map(one => one.id) \
                 .filter((id, place, all) => all.indexOf(id) !== place)";
    assert_eq!(browser.eval(twice).await, json!([]), "{name} has an id twice");
    assert_eq!(browser.eval("document.querySelectorAll('h1').length").await, 1, "{name}");
}

/// Fills the composer in, and looks at what models wrote, at films and at what is missing.
async fn compose(browser: &mut Browser, app: &TestApp) {
    browser.open(&format!("{}/dashboard/posts/new", app.origin)).await;
    let fill =
        |id: &str, text: &str| format!("document.getElementById('{id}').value = {}; ", json!(text));
    let press = |step: &str| {
        format!("document.querySelector('button[value={step}]:not(.default)').click()")
    };
    let choose =
        "document.querySelectorAll('[name=account_id]').forEach(one => one.checked = true); ";
    let text =
        "Brunch every Sunday from 10am, 9 euros, at www.cafe-luna.de. Everybody is invited. "
            .repeat(5);
    let all = [
        choose.to_owned(),
        fill("caption", &text),
        fill("brief", "Brunch every Sunday from 10am, 9 euros, at www.cafe-luna.de"),
        fill("image_prompt", "A table in the sun"),
        fill("video_prompt", "A table in the sun"),
    ];
    for (step, done) in
        [("captions", ".variants"), ("image", ".preview img"), ("video", "#jobs li")]
    {
        browser.eval(&format!("{}{}", all.concat(), press(step))).await;
        browser
            .until(&format!(
                "document.querySelector('.flash.good') && document.querySelector('{done}')"
            ))
            .await;
    }
    look_here(browser, "composed").await;
}

/// A set of which one post is public, one failed and one has a text of its own and is still to come. Its page.
async fn half_published(app: &TestApp, user: &fanfare_tests::User) -> String {
    let [good, bad, later] = [
        user.connect("mastodon").await,
        user.connect("bluesky").await,
        user.connect("telegram").await,
    ];
    let refuses = json!([{"on": "commit", "kind": "status", "status": 400, "times": 50}]);
    user.faults("bluesky", bad, refuses).await;
    let body = json!({
        "targets": [
            {"account_id": good},
            {"account_id": bad},
            {"account_id": later, "caption": "For Telegram alone", "scheduled_at": app.at(86_400)},
        ],
        "caption": "The harbour shop opens on Sunday, and there is soup for everybody.",
    });
    let set = user.post("/api/v1/post-sets", body).await.expect(201).body["post_set"].clone();
    let path = format!("/api/v1/post-sets/{}", set["id"].as_str().unwrap());
    app.eventually("two of three are through", || async {
        let counts = user.get(&path).await.expect(200).body["post_set"]["counts"].clone();
        (counts == json!({"published": 1, "failed": 1, "scheduled": 1})).then_some(())
    })
    .await;
    format!("/dashboard/sets/{}", set["id"].as_str().unwrap())
}

/// A workspace at work: accounts, posts of each status, brands, two workspaces. The post that failed.
async fn busy(app: &TestApp, ada: &mut fanfare_tests::Visitor, user: &fanfare_tests::User) -> i64 {
    user.connect("mastodon").await;
    let workspace = workspace(user).await;
    let brand = app.brand(workspace, &[]).await;
    let owner = app.person("ada@example.com").await;
    app.workspace(owner).await;
    let long =
        "We are opening a second shop on the harbour, and everybody is invited to come and see.";
    let mut failed = 0;
    for platform in ["bluesky", "telegram", "threads"] {
        let own = json!({"platform": platform, "workspace_client_id": (platform == "threads").then_some(brand)});
        let made = user.post("/api/v1/sandbox/accounts", own).await.expect(201);
        let account = made.body["account"]["id"].as_i64().unwrap();
        for _ in 0..3 {
            tomorrow(app, user, account, long).await;
        }
        let paused = tomorrow(app, user, account, "Held back").await;
        let page = format!("/dashboard/posts/{paused}");
        let _ = send(ada, &page, &format!("{page}/pause"), &[]).await.expect(303);
        if platform == "bluesky" {
            let sent = post(user, json!({"account_id": account, "caption": "Public by now"})).await;
            app.wait_for_status(user, sent, &["published"]).await;
            let refuses = json!([{"on": "commit", "kind": "status", "status": 400, "times": 50}]);
            user.faults(platform, account, refuses).await;
            failed = post(user, json!({"account_id": account, "caption": long})).await;
            app.wait_for_status(user, failed, &["failed"]).await;
        }
    }
    failed
}
