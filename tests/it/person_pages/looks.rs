//! Every page as it looks at a desk and on a phone, in light and in dark. With `TEST_PICTURES=<directory>` each is kept there.

use std::time::Duration;

use fanfare_core::access::Role;
use fanfare_people::{
    credits::{self, SHORT_EXPIRY, Spend},
    users,
};
use fanfare_tests::{Browser, Receiver, TestApp, visitor::PASSWORD};
use serde_json::json;

use super::{HOSTILE, Somebody};
use crate::{
    analytics::{dates, set},
    dashboard::{FAINT, STRUCTURE, keep},
};

/// Fills the workspace of a person, who is a member of a team besides. Returns the pages of single items.
pub(super) async fn fill(app: &TestApp, ada: &Somebody) -> Vec<(&'static str, String)> {
    credits::packs::credit(&app.domain, ada.id, 2_500, "pi_looks").await.unwrap();
    let tx = app.domain.db.begin().await.unwrap();
    for operation in ["captions:01JH", "image:01JJ", "video:01JK"] {
        let spend =
            Spend { workspace: ada.home, operation, credits: 12, expires_after: SHORT_EXPIRY };
        credits::reserve(&app.domain, &tx, spend).await.unwrap();
    }
    credits::settle(&app.domain, &tx, "captions:01JH", 10).await.unwrap();
    tx.commit().await.unwrap();
    let team = app.workspace(app.person("owner@example.com").await).await;
    users::set_member(&app.domain, team, ada.id, Role::Admin).await.unwrap();
    users::set_member(&app.domain, ada.home, app.person("bob@example.com").await, Role::Editor)
        .await
        .unwrap();
    app.brand(ada.home, &[]).await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": format!("{}/services/T024BE7LD/B8R2K", receiver.url), "events": ["post.published", "post.failed"]});
    let hook =
        ada.user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"]["id"].clone();
    let hook = hook.as_str().unwrap().to_owned();
    let _ = ada.user.post(&format!("/api/v1/webhooks/{hook}/test"), json!({})).await.expect(202);
    let (facebook, google) =
        (ada.user.connect("facebook").await, ada.user.connect("google_business").await);
    for (place, date) in dates(&ada.user, facebook).await.iter().rev().take(20).enumerate() {
        let numbers = match place {
            5 | 6 | 11 => continue,
            _ => {
                json!({"views": 900 + place * 37 % 400, "engagements": 40 + place * 17 % 60})
            }
        };
        set(&ada.user, "facebook", facebook, json!({"date": date}), numbers).await;
    }
    let post = fanfare_tests::networks::post("facebook", facebook);
    let post = fanfare_tests::networks::publish(app, &ada.user, post).await["id"].to_string();
    let author = json!({"id": "77001", "username": "grace.h"});
    for item in [
        json!({"account_id": facebook, "kind": "message", "author": author, "text": "Are you open on Sunday? We would come with eight people and a dog."}),
        json!({"account_id": facebook, "kind": "message", "author": author, "text": format!("{HOSTILE}{}", "wide".repeat(300))}),
        json!({"account_id": facebook, "kind": "comment", "author": author, "text": "What a lovely shop!", "post_id": post}),
    ] {
        let _ = ada.user.post("/api/v1/sandbox/facebook/inbound", item).await.expect(201);
    }
    for (text, rating) in
        [("Friendly people, fine paper.", 5), ("Closed when it should be open", 2)]
    {
        let item = json!({"account_id": google, "kind": "review", "text": text, "rating": rating});
        let _ = ada.user.post("/api/v1/sandbox/google_business/inbound", item).await.expect(201);
    }
    let (conversation, comment) = app
        .eventually_in_time("all is read", Duration::from_secs(16 * 60), || async {
            let first = async |path: &str, list: &str| {
                ada.user.get(path).await.expect(200).body[list][0]["id"].as_i64()
            };
            first("/api/v1/google-business/reviews", "reviews").await?;
            let conversation = first("/api/v1/inbox/conversations", "conversations").await?;
            Some((conversation, first("/api/v1/inbox/comments", "comments").await?))
        })
        .await;
    let metrics = json!({"account_id": facebook, "post_id": post, "metrics": {"views": 812, "likes": 31, "comments": 4}});
    let _ = ada.user.put("/api/v1/sandbox/facebook/metrics", metrics).await.expect(200);
    app.eventually_in_time("numbers are read", Duration::from_secs(2 * 3_600), || async {
        let shown = ada.user.get("/api/v1/analytics/posts").await.expect(200).body;
        shown["posts"].as_array()?.iter().find(|post| post["likes"] == 31).map(|_| ())
    })
    .await;
    let item = json!({"account_id": facebook, "kind": "message", "author": author, "text": "So?"});
    let _ = ada.user.post("/api/v1/sandbox/facebook/inbound", item).await.expect(201);
    let path = format!("/api/v1/inbox/conversations/{conversation}");
    app.eventually("the conversation can be answered", || async {
        let shown = ada.user.get(&path).await.expect(200).body;
        (shown["conversation"]["last_message"]["text"] == "So?").then_some(())
    })
    .await;
    let reply = json!({"text": "Yes, from ten to six. The dog is welcome."});
    let _ = ada.user.post(&format!("{path}/reply"), reply).await.expect(201);
    vec![
        ("conversation", format!("/dashboard/inbox/conversations/{conversation}")),
        ("comment", format!("/dashboard/inbox/comments/{comment}")),
        ("post", format!("/dashboard/analytics/posts/{post}")),
        ("deliveries", format!("/dashboard/webhooks/{hook}")),
    ]
}

const PAGES: &[(&str, &str)] = &[
    ("usage", "/dashboard/usage"),
    ("analytics", "/dashboard/analytics"),
    ("inbox", "/dashboard/inbox"),
    ("comments", "/dashboard/inbox?view=comments"),
    ("reviews", "/dashboard/reviews"),
    ("team", "/dashboard/team"),
    ("webhooks", "/dashboard/webhooks"),
    ("settings", "/dashboard/settings"),
];

#[tokio::test]
async fn every_page_can_be_read_on_a_phone_and_in_the_dark() {
    let app = TestApp::start().await;
    let ada = Somebody::new(&app, "ada@example.com").await;
    let single = Box::pin(fill(&app, &ada)).await;
    let mut browser = Browser::start().await;
    browser.set_viewport(1280, false).await;
    browser.open(&format!("{}/login?next=/dashboard/usage", app.origin)).await;
    let fill = format!(
        "document.getElementById('email').value = 'ada@example.com'; \
         document.getElementById('password').value = '{PASSWORD}'; \
         document.querySelector('main button').click()"
    );
    browser.eval(&fill).await;
    browser.until("location.pathname === '/dashboard/usage'").await;
    let all = PAGES.iter().copied().chain(single.iter().map(|(name, path)| (*name, path.as_str())));
    for (name, path) in all {
        browser.open(&format!("{}{path}", app.origin)).await;
        for (width, dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
            browser.set_viewport(width, dark).await;
            let shade = if dark { "dark" } else { "light" };
            keep(&mut browser, &format!("person-{name}-{width}-{shade}")).await;
            let wide = browser.eval("document.documentElement.scrollWidth").await.as_u64();
            assert!(wide <= Some(u64::from(width)), "{name} is {wide:?} wide at {width}");
            assert_eq!(browser.eval(FAINT).await, json!([]), "{name} at {width}, dark: {dark}");
        }
        browser.eval("document.querySelectorAll('details').forEach(one => one.open = true)").await;
        let wide = browser.eval("document.documentElement.scrollWidth").await.as_u64();
        assert!(wide <= Some(390), "{name} is {wide:?} wide with all opened");
        assert_eq!(browser.eval(STRUCTURE).await, json!([]), "{name}");
        let unnamed = "[...document.querySelectorAll('input:not([type=hidden]), select, textarea')] \
                       .filter(field => field.labels.length === 0).map(field => field.name)";
        assert_eq!(browser.eval(unnamed).await, json!([]), "{name}");
        assert_eq!(browser.eval("document.querySelectorAll('h1').length").await, 1, "{name}");
        let twice = "[...document.querySelectorAll('[id]')].map(one => one.id) \
                     .filter((id, place, all) => all.indexOf(id) !== place)";
        assert_eq!(browser.eval(twice).await, json!([]), "{name}");
        let uncaptioned =
            "[...document.querySelectorAll('table')].filter(table => !table.caption).length";
        assert_eq!(browser.eval(uncaptioned).await, 0, "{name}");
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}
