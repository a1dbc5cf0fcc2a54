//! Texts that networks change on the way: what they are known to change is the same text, what merely resembles it is a
//! doubt, and what readers miss is a warning on the published post.

use std::sync::atomic::{AtomicUsize, Ordering};

use fanfare_tests::{Options, TestApp, User, networks};
use serde_json::{Value, json};

/// A change: the network, what it does to texts, and a text that it changes.
type Row = (&'static str, &'static str, &'static str);

const ROWS: &[Row] = &[
    (
        "lemmy",
        r#"[{"op": "drop_query", "field": "body", "at": "utm_"}]"#,
        "A title\n\nSee https://a.example/?utm_source=x&b=1 or https://a.example/?utm_source=x now",
    ),
    (
        "lemmy",
        r#"[{"op": "image_proxy", "field": "body", "at": "https://lemmy.example/api/v3/image_proxy?url="}]"#,
        "A title\n\nLook: ![a cat](https://a.example/cat.png?x=1&y=2) and more",
    ),
    (
        "lemmy",
        r#"[{"op": "mask", "field": "body", "at": "darned"}]"#,
        "A title\n\nWhat a darned day this is, and how darned hot",
    ),
    // Forem keeps no such signs in titles, without being asked to.
    ("devto", "[]", "A \u{2211} title\u{200b} of \u{2500} signs \u{1f44d}\n\nIts text"),
    (
        "devto",
        r#"[{"op": "strip", "field": "title"}]"#,
        "One\u{200b}word \u{1f469}\u{200d}\u{1f4bb}",
    ),
    (
        "linkedin",
        r#"[{"op": "hashtag_form", "field": "commentary"}]"#,
        "News (of today) for #rust and #web_dev",
    ),
    ("facebook", r#"[{"op": "trim"}, {"op": "fold"}]"#, "  One\r\n\r\ntwo  "),
    ("pinterest", r#"[{"op": "trim"}]"#, "A pin  "),
    ("x", r#"[{"op": "entities"}, {"op": "short_links"}]"#, "5 < 7 & https://a.example/b"),
    ("mastodon", r#"[{"op": "nfc"}, {"op": "trim"}]"#, "Cafe\u{301} "),
    ("threads", r#"[{"op": "nfc"}, {"op": "trim"}]"#, "Cafe\u{301} and more "),
];

struct Place<'a> {
    app: &'a TestApp,
    name: &'static str,
    user: User,
    account: i64,
    remote_id: String,
}

impl<'a> Place<'a> {
    async fn open(app: &'a TestApp, name: &'static str) -> Self {
        let user = app.user().await;
        let account = user.connect(name).await;
        let remote_id = networks::newest_account(app, name).await;
        Self { app, name, user, account, remote_id }
    }

    async fn behave(&self, behaviour: Value) {
        self.app.simulator.behave(self.name, &self.remote_id, &behaviour).await;
    }

    async fn held(&self) -> usize {
        self.user.on_network(self.name, self.account).await.len()
    }

    async fn publish(&self, caption: &str, fault: Option<&str>) -> Value {
        let faults = fault.map(|kind| json!({"on": "commit", "kind": kind}));
        let faults: Vec<_> = faults.into_iter().collect();
        self.user.faults(self.name, self.account, json!(faults)).await;
        let mut post = networks::post(self.name, self.account);
        post["caption"] = json!(caption);
        networks::publish(self.app, &self.user, post).await
    }
}

#[tokio::test]
async fn what_a_network_is_known_to_change_is_found_again() {
    static COUNT: AtomicUsize = AtomicUsize::new(1);
    let app = TestApp::with(Options::default()).await;
    for (name, rewrite, caption) in ROWS {
        let place = Place::open(&app, name).await;
        let rewrite: Value = serde_json::from_str(rewrite).unwrap();
        place.behave(json!({ "rewrite": rewrite })).await;
        for fault in ["drop_after_change", "reset"] {
            let caption = format!("{}. {caption}", COUNT.fetch_add(1, Ordering::Relaxed));
            let before = place.held().await;
            let post = place.publish(&caption, Some(fault)).await;
            let made = place.held().await - before;
            let story = format!("{name}, {rewrite}, {fault}: {made} there, {post:#}");
            if networks::can_be_asked(name) {
                assert_eq!((post["status"].as_str(), made), (Some("published"), 1), "{story}");
            } else {
                assert_eq!(post["error"]["code"], "outcome_unknown", "{story}");
            }
        }
    }
}

/// The list does not show the article until its title is refused as one that was just used.
#[tokio::test]
async fn a_title_that_is_refused_after_a_lost_call_is_looked_up_until_it_is_found() {
    let app = TestApp::start().await;
    let place = Place::open(&app, "devto").await;
    for (seconds, caption) in [(0, "Signs \u{2211} one"), (200, "Signs \u{2211} two")] {
        place.behave(json!({"reads": {"lag_ms": seconds * 1_000}})).await;
        let before = place.held().await;
        let post = place.publish(caption, Some("drop_after_change")).await;
        let story = format!("a lag of {seconds} s: {post:#}");
        assert_eq!(place.held().await - before, 1, "{story}");
        assert_eq!(post["status"], "published", "{story}");
    }
}

#[tokio::test]
async fn what_readers_miss_of_a_text_is_a_warning_on_the_post() {
    let app = TestApp::start().await;
    for (name, fault, field) in [
        ("lemmy", None, None),
        ("lemmy", Some("drop_after_change"), None),
        ("devto", None, None),
        ("wordpress", None, None),
        ("x", None, None),
        ("pinterest", None, None),
        ("discord", None, None),
        // Its posts have names as long as sentences.
        ("google_business", None, Some("summary")),
    ] {
        for (rewrite, code) in [
            (json!([]), None),
            (json!([{"op": "entities"}, {"op": "trim"}]), None),
            (json!([{"op": "cut", "at": 40}]), Some("text_cut")),
            (json!([{"op": "mask", "at": "tenth"}]), Some("text_changed")),
        ] {
            let place = Place::open(&app, name).await;
            let mut rewrite = rewrite;
            for op in rewrite.as_array_mut().unwrap() {
                if let Some(field) = field {
                    op["field"] = json!(field);
                }
            }
            place.behave(json!({ "rewrite": rewrite })).await;
            let text = "A title\n\nThe first second third fourth fifth sixth seventh & tenth word";
            let post = place.publish(text, fault).await;
            let story = format!("{name}, {rewrite}, {fault:?}: {post:#}");
            if post["error"]["code"] == "outcome_unknown" && fault.is_some() {
                // What was cut merely resembles what was sent.
                assert_eq!(code, Some("text_cut"), "{story}");
                continue;
            }
            assert_eq!(post["status"], "published", "{story}");
            let warnings = post["warnings"].as_array().cloned().unwrap_or_default();
            let codes: Vec<_> =
                warnings.iter().filter_map(|warning| warning["code"].as_str()).collect();
            assert_eq!(codes, code.into_iter().collect::<Vec<_>>(), "{story}");
        }
    }
}

/// LinkedIn counts the backslashes that it demands before brackets.
#[tokio::test]
async fn a_caption_full_of_brackets_is_counted_as_its_network_counts_it() {
    let app = TestApp::start().await;
    let place = Place::open(&app, "linkedin").await;
    place.behave(json!({"as": "real"})).await;
    let brackets = "()".repeat(745);
    let whole = format!("Brackets: {brackets}..........");
    let post = place.publish(&whole, None).await;
    assert_eq!(post["status"], "published", "{post:#}");
    let held = place.user.on_network("linkedin", place.account).await;
    assert_eq!(held[0]["text"], whole);
    let mut longer = networks::post("linkedin", place.account);
    longer["caption"] = json!(format!("{whole}."));
    let refused = place.user.post("/api/v1/posts", longer).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(refused.text.contains("caption_too_long"), "{}", refused.text);
}
