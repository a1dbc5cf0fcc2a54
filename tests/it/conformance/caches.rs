//! Reads that a cache answers, and answers that hold more or less than the API's own: they prove no absence, and a post
//! goes out once, under the address that was chosen for it.

use std::time::Duration;

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

/// An account whose network keeps answers.
struct Blog<'a> {
    app: &'a TestApp,
    name: &'static str,
    user: User,
    account: i64,
    remote_id: String,
}

impl<'a> Blog<'a> {
    async fn open(app: &'a TestApp, name: &'static str, behaviour: Value) -> Self {
        let user = app.user().await;
        let account = user.connect(name).await;
        let remote_id = networks::newest_account(app, name).await;
        app.simulator.behave(name, &remote_id, &behaviour).await;
        Self { app, name, user, account, remote_id }
    }

    async fn held(&self) -> Vec<Value> {
        self.user.on_network(self.name, self.account).await
    }

    /// Publishes a post whose call meets a fault, with a slug of its own or one that the connector makes.
    async fn publish(&self, slug: Option<&str>, fault: &str) -> Value {
        let faults = match fault {
            "" => json!([]),
            kind => json!([{"on": "commit", "kind": kind}]),
        };
        self.user.faults(self.name, self.account, faults).await;
        let mut post = networks::post(self.name, self.account);
        if let Some(slug) = slug {
            post["settings"]["slug"] = json!(slug);
        }
        networks::publish(self.app, &self.user, post).await
    }

    /// Checks that a post went out once, and is called what it came to.
    async fn is_published_once(&self, story: &str, slug: Option<&str>, fault: &str) {
        let before = self.held().await.len();
        let post = self.publish(slug, fault).await;
        let made = self.held().await.split_off(before);
        let story = format!("{}, {story}, {slug:?}, {fault}: {post:#}, {made:#?}", self.name);
        assert_eq!(post["status"], "published", "{story}");
        assert_eq!(made.len(), 1, "{story}");
        assert_eq!(post["platform_post_id"], made[0]["id"], "{story}");
        if let Some(slug) = slug {
            assert_eq!(made[0]["slug"], slug, "{story}");
        }
    }
}

#[tokio::test]
async fn what_a_cache_kept_is_never_taken_for_an_absence() {
    let app = TestApp::start().await;
    for name in ["wordpress", "hashnode"] {
        for seconds in [0, 30, 600] {
            let blog =
                Blog::open(&app, name, json!({"reads": {"cache_ms": seconds * 1_000}})).await;
            for fault in ["drop_after_change", "reset"] {
                let story = format!("cached for {seconds} s");
                blog.is_published_once(&story, None, fault).await;
                let slug = format!("chosen-{}-{seconds}", fault.replace('_', "-"));
                blog.is_published_once(&story, Some(&slug), fault).await;
            }
        }
    }
}

#[tokio::test]
async fn a_number_that_the_site_adds_leads_to_no_second_post() {
    let app = TestApp::start().await;
    let blog = Blog::open(&app, "wordpress", json!({})).await;
    // Somebody takes the slug after it was found to be free.
    let mut post = networks::post(blog.name, blog.account);
    post["settings"]["slug"] = json!("taken");
    post["scheduled_at"] = json!(app.at(60));
    let fault = json!([{"on": "commit", "kind": "drop_after_change"}]);
    blog.user.faults(blog.name, blog.account, fault).await;
    let made = blog.user.publish(post).await;
    app.step(Duration::from_secs(30)).await;
    let body = json!({"remote_id": blog.remote_id, "text": "taken", "media_urls": []});
    let _ = app.simulator.ask(reqwest::Method::POST, "wordpress/posts", &body).await;
    let ended = networks::ended(&app, &blog.user, &made["id"]).await;
    let held = blog.held().await;
    assert_eq!(held.len(), 2, "{ended:#} {held:#?}");
    if ended["status"] == "published" {
        assert_eq!(ended["platform_post_id"], held[1]["id"], "{ended:#} {held:#?}");
    } else {
        assert_eq!(ended["error"]["code"], "outcome_unknown", "{ended:#} {held:#?}");
    }
}

#[tokio::test]
async fn an_answer_behind_other_output_is_read() {
    let app = TestApp::start().await;
    let notice = "<br />\n<b>Warning</b>: Undefined array key \"a\" in <b>/x/{y}.php</b> on line <b>7</b><br />\n";
    for preface in [notice, "\u{feff}", "\u{feff}\n\n"] {
        let blog = Blog::open(&app, "wordpress", json!({ "preface": preface })).await;
        for fault in ["", "drop_after_change", "reset"] {
            let story = format!("behind {preface:?}");
            blog.is_published_once(&story, None, fault).await;
            let slug = format!("behind-{}", if fault.is_empty() { "none" } else { &fault[..4] });
            blog.is_published_once(&story, Some(&slug), fault).await;
        }
    }
}

#[tokio::test]
async fn a_page_in_place_of_an_answer_is_no_evidence() {
    let app = TestApp::start().await;
    let page = "<!doctype html><title>Maintenance</title><h1>Briefly unavailable</h1>";
    let away = json!({"on": "posts", "match": "-2", "times": 3, "status": 200, "body": page});
    let blog = Blog::open(&app, "wordpress", json!({ "answers": [away] })).await;
    for fault in ["nonsense", "drop_after_change", "reset"] {
        blog.is_published_once("maintenance", None, fault).await;
        let slug = format!("away-{}", fault.replace('_', "-"));
        blog.is_published_once("maintenance", Some(&slug), fault).await;
    }
}

/// The dates of a site whose zone is set wrongly are hours off, although its clock is right.
#[tokio::test]
async fn a_zone_that_is_off_leads_to_no_second_post() {
    let app = TestApp::start().await;
    for hours in [2, 5] {
        let zone = json!({"op": "zone", "field": "date_gmt", "at": hours});
        let blog = Blog::open(&app, "wordpress", json!({ "rewrite": [zone] })).await;
        for (slug, fault) in
            [(None, "drop_after_change"), (None, "reset"), (Some("zone"), "drop_after_change")]
        {
            let before = blog.held().await.len();
            let post = blog.publish(slug, fault).await;
            let made = blog.held().await.len() - before;
            let story = format!("{hours} h off, {slug:?}, {fault}: {post:#}");
            assert_eq!(made, 1, "{story}");
            let is_doubt = post["error"]["code"] == "outcome_unknown" && slug.is_some();
            assert!(post["status"] == "published" || is_doubt, "{story}");
        }
    }
}
