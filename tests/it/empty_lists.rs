//! An empty list says why it is empty: nothing was made yet, nothing can be, or it was filtered away.

use std::collections::BTreeSet;

use fanfare_core::{WorkspaceId, access::Scope};
use fanfare_tests::{Options, TestApp, User, files::plain_png};
use serde_json::{Value, json};

/// Lists that are the same for everybody and never empty.
const CONSTANT: [&str; 4] =
    ["list_ai_prices", "list_connect_options", "list_platforms", "list_rate_limits"];

/// Each list of somebody who has nothing, in a workspace with an empty brand, and why it is empty. A reason of `null` is that
/// of a list that is not empty: the caller's own key, the news of the service.
const OF_NOBODY: [(&str, &str, Option<&str>); 23] = [
    ("list_accounts", "accounts", Some("no_accounts")),
    ("list_brand_accounts", "brands/{brand}/accounts", Some("no_accounts")),
    ("list_activity", "activity", Some("nothing_yet")),
    ("list_notifications", "notifications", Some("nothing_yet")),
    ("list_events", "events", Some("nothing_yet")),
    ("list_video_jobs", "ai/video-jobs", Some("nothing_yet")),
    ("list_account_analytics", "analytics/accounts", Some("no_accounts")),
    ("list_insights", "analytics/insights", Some("no_accounts")),
    ("list_suggestions", "suggestions", Some("no_accounts")),
    ("list_post_analytics", "analytics/posts", Some("nothing_published")),
    ("get_credit_usage", "credits/usage", Some("nothing_yet")),
    ("audit_business_profile", "google-business/audit", Some("no_accounts")),
    ("get_review_link", "google-business/review-link", Some("no_accounts")),
    ("list_business_media", "google-business/media", Some("no_accounts")),
    ("list_reviews", "google-business/reviews", Some("no_accounts")),
    ("list_comments", "inbox/comments", Some("no_accounts")),
    ("list_conversations", "inbox/conversations", Some("no_accounts")),
    ("list_media", "media", Some("nothing_yet")),
    ("list_posts", "posts", Some("no_accounts")),
    ("list_post_sets", "post-sets", Some("no_accounts")),
    ("list_webhooks", "webhooks", Some("nothing_yet")),
    ("list_api_keys", "keys", None),
    ("list_updates", "updates", None),
];

/// Lists that belong to something, or to a person who has not made any.
const OF_SOMETHING: [&str; 9] = [
    "list_brands",
    "list_oauth_clients",
    "list_oauth_grants",
    "list_credit_entries",
    "list_attempts",
    "list_deliveries",
    "list_sandbox_faults",
    "list_sandbox_inbox",
    "list_sandbox_posts",
];

async fn why(user: &User, path: &str) -> Option<String> {
    let body = user.get(&format!("/api/v1/{path}")).await.expect(200).body;
    let said =
        body.get("empty_because").unwrap_or_else(|| panic!("{path} has no reason: {body:#}"));
    said.as_str().map(str::to_owned)
}

#[track_caller]
fn because(user: &User, path: &str, reason: &str) -> impl Future<Output = ()> {
    let (path, reason) = (path.to_owned(), reason.to_owned());
    async move { assert_eq!(why(user, &path).await.as_deref(), Some(&*reason), "{path}") }
}

/// The operations that answer with a list of one kind of thing.
fn lists(document: &Value) -> BTreeSet<&str> {
    let paths = document["paths"].as_object().unwrap().values();
    let reads = paths.filter_map(|path| path.get("get"));
    let named = reads.filter_map(|read| read["operationId"].as_str());
    let known: Vec<_> = OF_NOBODY.iter().map(|(name, ..)| *name).collect();
    named.filter(|name| name.starts_with("list_") || known.contains(name)).collect()
}

#[test]
fn every_operation_that_lists_something_is_in_a_table() {
    let document = fanfare_api::document("https://service.example");
    let mut known: BTreeSet<&str> = OF_NOBODY.iter().map(|(name, ..)| *name).collect();
    known.extend(OF_SOMETHING);
    known.extend(CONSTANT);
    assert_eq!(lists(&document), known);
}

#[tokio::test]
async fn every_list_says_why_it_is_empty() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let id = app.person("ada@example.com").await;
    let user = app.key(id, None, &Scope::ALL).await;
    let me = user.get("/api/v1/whoami").await.expect(200).body;
    let home = WorkspaceId(me["workspaces"][0]["id"].as_str().unwrap().parse().unwrap());
    for list in ["brands", "oauth/clients", "oauth/grants", "credits/ledger"] {
        because(&user, list, "nothing_yet").await;
    }
    let brand = app.brand(home, &[]).await.to_string();
    for (name, path, reason) in OF_NOBODY {
        let path = path.replace("{brand}", &brand);
        assert_eq!(why(&user, &path).await.as_deref(), reason, "{name}");
    }

    // Nothing can be measured, read or offered.
    let discord = user.connect("discord").await;
    for list in ["analytics/insights", "suggestions"] {
        because(&user, list, "not_measurable").await;
    }
    for list in ["audit", "review-link", "media", "reviews"] {
        because(&user, &format!("google-business/{list}"), "not_offered").await;
    }
    user.connect("google_business").await;
    for list in ["media", "reviews"] {
        because(&user, &format!("google-business/{list}"), "not_read_yet").await;
    }
    let sky = user.connect("bluesky").await;
    for list in ["analytics/insights", "suggestions"] {
        because(&user, list, "nothing_yet").await;
    }

    // Something is beyond the filter, or before the page.
    because(&user, &format!("brands/{brand}/accounts"), "filtered").await;
    because(&user, "activity?type=post.failed", "filtered").await;
    because(&user, "events?type=post.failed", "filtered").await;
    because(&user, "updates?since=2999-01-01", "filtered").await;
    let last = user.get("/api/v1/events").await.expect(200).body["latest_sequence"].clone();
    because(&user, &format!("events?after={last}"), "past_the_end").await;
    because(&user, "activity?offset=10000", "past_the_end").await;
    because(&user, "accounts?cursor=999999999999999999", "past_the_end").await;
    let beyond = "ffffffff-ffff-ffff-ffff-ffffffffffff";
    because(&user, &format!("brands?cursor={beyond}"), "past_the_end").await;
    because(&user, "media?offset=10", "nothing_yet").await;
    user.upload("a.png", "image/png", &plain_png(64, 64)).await;
    because(&user, "media?offset=10", "past_the_end").await;
    because(&user, &format!("media?drop_session_id={beyond}"), "filtered").await;

    // What belongs to one thing.
    let later = json!({"account_id": discord, "caption": "Later", "scheduled_at": app.at(3_600)});
    let post = user.publish(later).await["id"].clone();
    because(&user, &format!("posts/{post}/attempts"), "nothing_yet").await;
    because(&user, &format!("posts/{post}/attempts?cursor=7"), "past_the_end").await;
    because(&user, "posts?status=failed", "filtered").await;
    let hook = json!({"url": "https://example.com/hook", "events": ["post.failed"]});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"]["id"].clone();
    because(&user, &format!("webhooks/{}/deliveries", hook.as_str().unwrap()), "nothing_yet").await;
    for list in ["faults", "inbox", "posts"] {
        let path = format!("sandbox/bluesky/{list}?account_id={sky}");
        because(&user, &path, "nothing_yet").await;
    }
}
