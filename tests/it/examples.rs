//! Every example of the OpenAPI document is a request that does what it says: sent as it stands, but for the ids and
//! addresses of what is there, it is answered with a success of its operation.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use fanfare_api::{Example, routes::ROUTES};
use fanfare_core::access::Scope;
use fanfare_tests::{Options, TestApp, User, Visitor, files::plain_png};
use serde_json::{Value, json};

use crate::{business, oauth, subscriptions::subscriber};

/// Fields of examples that name something that has to be there.
const NAMES: [&str; 7] =
    ["account_id", "review_id", "source_url", "url", "credentials", "posts", "targets"];

/// Examples that need nothing but a workspace.
const PLAIN: [&str; 48] = [
    "update_connect_settings",
    "list_accounts",
    "list_activity",
    "submit_agent_feedback",
    "generate_captions",
    "generate_image",
    "generate_video",
    "run_video_function",
    "list_video_jobs",
    "get_video_options",
    "list_account_analytics",
    "list_insights",
    "list_post_analytics",
    "list_brands",
    "list_connect_options",
    "get_connect_link",
    "create_connect_session",
    "get_credits",
    "list_credit_entries",
    "list_events",
    "submit_product_feedback",
    "audit_business_profile",
    "list_business_media",
    "get_review_link",
    "list_reviews",
    "list_comments",
    "list_conversations",
    "list_api_keys",
    "create_api_key",
    "list_media",
    "create_media_drop",
    "create_signed_upload",
    "relay_media",
    "upload_media",
    "list_notifications",
    "list_oauth_clients",
    "create_oauth_client",
    "list_oauth_grants",
    "list_platforms",
    "list_posts",
    "list_post_sets",
    "create_sandbox_account",
    "list_suggestions",
    "ask_support",
    "list_updates",
    "list_webhooks",
    "whoami",
    "get_x_posting_quota",
];

/// Examples about an account, a post, a file and what else a workspace holds.
const HELD: [&str; 56] = [
    "get_platform_schema",
    "get_account_slots",
    "set_account_slots",
    "get_performance_profile",
    "find_available_slot",
    "disconnect_account",
    "get_brand",
    "list_brand_accounts",
    "get_brand_profile",
    "get_connect_session",
    "connect_with_credentials",
    "revoke_api_key",
    "upload_media_from_url",
    "delete_media",
    "update_oauth_client",
    "delete_oauth_client",
    "end_oauth_grant",
    "create_post",
    "create_posts_batch",
    "get_post",
    "update_post",
    "update_post_status",
    "update_post_release_id",
    "get_post_missing",
    "list_attempts",
    "retry_post",
    "delete_post",
    "delete_post_group",
    "create_post_set",
    "get_post_set",
    "update_post_set",
    "update_post_set_status",
    "add_post_set_targets",
    "retry_post_set",
    "delete_post_set",
    "set_sandbox_faults",
    "list_sandbox_faults",
    "reset_sandbox_faults",
    "set_sandbox_clock",
    "get_sandbox_clock",
    "list_sandbox_posts",
    "create_sandbox_post",
    "delete_sandbox_post",
    "create_webhook",
    "update_webhook",
    "rotate_webhook_secret",
    "delete_earlier_webhook_secrets",
    "redeliver_failed",
    "test_webhook",
    "list_deliveries",
    "redeliver",
    "delete_webhook",
    "trigger_platform_helper",
    "get_video_job",
    "start_signup",
    "get_signup_session",
];

/// Examples about what people write to accounts.
const INBOX: [&str; 21] = [
    "create_sandbox_item",
    "list_sandbox_inbox",
    "update_sandbox_item",
    "delete_sandbox_item",
    "set_sandbox_metrics",
    "set_sandbox_reviews",
    "set_sandbox_video",
    "sync_inbox",
    "get_conversation",
    "reply_to_conversation",
    "get_comment",
    "reply_to_comment",
    "update_comment",
    "delete_comment",
    "suggest_review_reply",
    "reply_to_review",
    "delete_review_reply",
    "add_business_media",
    "delete_business_media",
    "create_sandbox_suggestions",
    "dismiss_suggestion",
];

/// Examples about money, and about a video that has not begun.
const PAID: [&str; 6] = [
    "get_subscription",
    "downgrade_subscription",
    "pause_subscription",
    "resume_subscription",
    "cancel_subscription",
    "cancel_video_job",
];

/// Examples about the end of a workspace.
const LEAVING: [&str; 3] =
    ["delete_workspace", "get_workspace_deletion", "stop_workspace_deletion"];

/// Sends examples, and remembers which.
struct Sender<'a> {
    app: &'a TestApp,
    user: User,
    sent: Mutex<BTreeSet<&'static str>>,
}

impl<'a> Sender<'a> {
    fn new(app: &'a TestApp, user: User) -> Self {
        Self { app, user, sent: Mutex::default() }
    }

    /// Sends an example with these ids in its path or query and these names in its body; its reply.
    async fn send(&self, name: &'static str, ids: &[(&str, &Value)], names: Value) -> Value {
        let route = ROUTES.iter().find(|route| route.name == name).unwrap();
        let examples: Vec<Example> = fanfare_api::examples(&self.app.origin);
        let example = examples.into_iter().find(|example| example.name == name).unwrap();
        let (path, query) = example.address.split_once('?').unwrap_or((&example.address, ""));
        let plain = |value: &Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>()
        };
        let of = |name: &str| ids.iter().find(|(id, _)| *id == name).map(|(_, value)| plain(value));
        let steps = route.path.split('/').zip(path.split('/')).map(|(step, shown)| {
            let parameter = step.strip_prefix('{').and_then(|step| step.strip_suffix('}'));
            parameter.and_then(of).unwrap_or_else(|| shown.to_owned())
        });
        let path = steps.collect::<Vec<_>>().join("/");
        let query = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, shown) = pair.split_once('=').unwrap();
            format!("{name}={}", of(name).unwrap_or_else(|| shown.to_owned()))
        });
        let query = query.collect::<Vec<_>>().join("&");
        let address = if query.is_empty() { path } else { format!("{path}?{query}") };
        let mut body = example.body.clone();
        for (field, value) in names.as_object().into_iter().flatten() {
            assert!(NAMES.contains(&field.as_str()), "{name}: {field} is no name");
            let shown = body.as_mut().and_then(|body| body.get_mut(field));
            *shown.unwrap_or_else(|| panic!("{name} has no {field}")) = value.clone();
        }
        let method = example.method.parse().unwrap();
        let reply = self.user.send(method, &address, &[], body.as_ref()).await;
        let is_said = example.replies.iter().any(|(status, _)| *status == reply.status);
        assert!(is_said, "{} {address}: {} {}", example.method, reply.status, reply.text);
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
        reply.body
    }

    /// Checks that these and no others were sent.
    fn end(self, names: &[&'static str]) {
        let sent = self.sent.into_inner().unwrap();
        assert_eq!(sent, names.iter().copied().collect::<BTreeSet<_>>());
    }
}

#[test]
fn no_example_is_left_out() {
    let named = [&PLAIN[..], &HELD, &INBOX, &PAID, &LEAVING].concat();
    let named: BTreeSet<_> = named.into_iter().collect();
    let all: BTreeSet<_> = ROUTES.iter().map(|route| route.name).collect();
    // Reading the limits of a caller and the like: whatever needs nothing is sent by the first story below.
    let missing: Vec<_> = all.difference(&named).filter(|name| !is_plain(name)).collect();
    assert_eq!(missing, Vec::<&&str>::new());
    assert!(named.is_subset(&all), "{:?}", named.difference(&all).collect::<Vec<_>>());
}

/// True for reads that name nothing.
fn is_plain(name: &str) -> bool {
    let route = ROUTES.iter().find(|route| route.name == name).unwrap();
    PLAIN.contains(&name)
        || (!route.method.writes()
            && !route.path.contains('{')
            && !HELD.contains(&name)
            && !PAID.contains(&name))
}

#[tokio::test]
async fn examples_that_need_nothing() {
    let app = TestApp::start().await;
    let sender = Sender::new(&app, app.user().await);
    let plain: Vec<_> =
        ROUTES.iter().map(|route| route.name).filter(|name| is_plain(name)).collect();
    for name in &plain {
        let reply = sender.send(name, &[], json!({})).await;
        match *name {
            "generate_captions" => {
                let networks = reply["captions"].as_array().map_or(0, Vec::len);
                assert!(networks > 0 || reply["variants"].is_array(), "{reply}");
            }
            "ask_support" => assert!(!reply["sources"].as_array().unwrap().is_empty(), "{reply}"),
            _ => {}
        }
    }
    sender.end(&plain);
}

#[tokio::test]
async fn examples_about_the_end_of_a_workspace() {
    let app = TestApp::start().await;
    let person = app.person("leaver@example.com").await;
    let team = json!(app.workspace(person).await);
    let sender = Sender::new(&app, app.key(person, None, &Scope::ALL).await);
    let ids = [("id", &team), ("name", &json!("Team"))];
    for (name, state) in [
        ("delete_workspace", "waiting"),
        ("get_workspace_deletion", "waiting"),
        ("stop_workspace_deletion", "stopped"),
    ] {
        let shown = sender.send(name, &ids, json!({})).await["deletion"].clone();
        assert_eq!(shown["state"], state, "{shown}");
    }
    sender.end(&LEAVING);
}

#[tokio::test]
async fn examples_about_what_a_workspace_holds() {
    let app = TestApp::with(Options { stand_ins: true, ..Options::default() }).await;
    let (person, mut ada) = Visitor::person(&app, "holder@example.com").await;
    let user = app.key(person, None, &Scope::ALL).await;
    let sender = Sender::new(&app, user.clone());
    let none = || json!({});

    let account = json!(user.connect("bluesky").await);
    let ids = [("id", &account), ("account_id", &account)];
    let of = json!({ "account_id": account });
    for name in [
        "get_platform_schema",
        "get_account_slots",
        "get_performance_profile",
        "find_available_slot",
        "list_sandbox_posts",
    ] {
        sender.send(name, &ids, none()).await;
    }
    let set = sender.send("set_account_slots", &ids, none()).await;
    assert!(set.to_string().contains("17:30"), "{set}");

    let scheduled = sender.send("create_post", &[], of.clone()).await["post"].clone();
    assert_eq!(scheduled["status"], "scheduled");
    let post = scheduled["id"].clone();
    let ids = [("id", &post)];
    for name in ["get_post", "get_post_missing", "list_attempts"] {
        sender.send(name, &ids, none()).await;
    }
    let changed = sender.send("update_post", &ids, none()).await;
    assert_eq!(changed["post"]["caption"], "Hello again!");
    assert_eq!(sender.send("update_post_status", &ids, none()).await["post"]["status"], "paused");
    sender.send("update_post_release_id", &ids, none()).await;
    let gone = sender.send("delete_post_group", &[], none()).await;
    assert_eq!(gone["deleted"], json!([post]), "the example before put it into this group");
    let second = sender.send("create_post", &[], of.clone()).await["post"]["id"].clone();
    assert_eq!(sender.send("delete_post", &[("id", &second)], none()).await["deleted"], true);

    sender.send("set_sandbox_faults", &[], of.clone()).await;
    let faulty = [("platform", &json!("bluesky")), ("account_id", &account)];
    let left = sender.send("list_sandbox_faults", &faulty, none()).await["faults"].clone();
    assert_eq!(left.as_array().map(Vec::len), Some(1), "{left}");
    let left = sender.send("reset_sandbox_faults", &faulty, none()).await["faults"].clone();
    assert_eq!(left, json!([]));
    let ahead = sender.send("set_sandbox_clock", &[], none()).await;
    assert_eq!(
        sender.send("get_sandbox_clock", &[], none()).await["ahead_seconds"],
        ahead["ahead_seconds"]
    );
    let _ = user.put("/api/v1/sandbox/clock", json!({"ahead_seconds": 0})).await.expect(200);
    user.faults(
        "bluesky",
        account.as_i64().unwrap(),
        json!([{"on": "commit", "kind": "status", "status": 400}]),
    )
    .await;
    let refused =
        user.publish(json!({"account_id": account, "caption": "Refused"})).await["id"].clone();
    app.wait_for_status(&user, refused.as_i64().unwrap(), &["failed"]).await;
    let again = sender.send("retry_post", &[("id", &refused)], none()).await;
    assert_eq!(again["post"]["id"], refused);

    let other = user.connect("mastodon").await;
    let posts = json!({"posts": [{"account_id": account, "caption": "One"}, {"account_id": other, "caption": "Two"}]});
    assert_eq!(sender.send("create_posts_batch", &[], posts).await["created"], 2);

    let targets = json!({"targets": [{"account_id": account}, {"account_id": other, "caption": "Hello, friends!"}]});
    let set = sender.send("create_post_set", &[], targets).await["post_set"]["id"].clone();
    let ids = [("id", &set)];
    for (name, part, expected) in [
        ("get_post_set", "status", "scheduled"),
        ("update_post_set", "caption", "Hello again!"),
        ("update_post_set_status", "status", "paused"),
    ] {
        assert_eq!(sender.send(name, &ids, none()).await["post_set"][part], expected);
    }
    let third = user.connect("discord").await;
    let more = json!({"targets": [{"account_id": third}]});
    let more = sender.send("add_post_set_targets", &ids, more).await;
    assert_eq!(more["post_set"]["targets"].as_array().map(Vec::len), Some(3));
    let gone = sender.send("delete_post_set", &ids, none()).await;
    assert_eq!(gone["kept"], json!([]));
    let faults = json!([{"on": "commit", "kind": "status", "status": 400}]);
    user.faults("bluesky", account.as_i64().unwrap(), faults).await;
    let fails = json!({"targets": [{"account_id": account}], "caption": "Refused as a set"});
    let fails = user.post("/api/v1/post-sets", fails).await.expect(201).body["post_set"].clone();
    let post = fails["targets"][0]["post_id"].clone();
    app.wait_for_status(&user, post.as_i64().unwrap(), &["failed"]).await;
    let again = sender.send("retry_post_set", &[("id", &fails["id"])], none()).await;
    assert_eq!(again["retried"], json!([post]));

    let made = sender.send("create_sandbox_post", &[], of.clone()).await["id"].clone();
    sender.send("delete_sandbox_post", &[("id", &made), ("account_id", &account)], none()).await;
    let boards = user.connect("pinterest").await;
    sender.send("trigger_platform_helper", &[], json!({"account_id": boards})).await;

    let whoami = user.get("/api/v1/whoami").await.expect(200).body;
    let workspace = whoami["workspaces"][0]["id"].as_str().unwrap().parse().unwrap();
    let brand = app.brand(fanfare_core::WorkspaceId(workspace), &[]).await;
    for name in ["get_brand", "list_brand_accounts", "get_brand_profile"] {
        sender.send(name, &[("id", &json!(brand))], none()).await;
    }

    let session = user.post("/api/v1/connect/bluesky/sessions", json!({"sandbox": true})).await;
    let session = session.expect(201).body["connect_session"]["id"].clone();
    sender.send("get_connect_session", &[("id", &session)], none()).await;
    let credentials = app.simulator.stand_in("bluesky").await["credentials"].clone();
    sender.send("connect_with_credentials", &[], json!({ "credentials": credentials })).await;
    let leaving = json!(user.connect("bluesky").await);
    assert_eq!(
        sender.send("disconnect_account", &[("id", &leaving)], none()).await["deleted"],
        true
    );

    let key = user.post("/api/v1/keys", json!({"name": "short"})).await.expect(201).body;
    sender.send("revoke_api_key", &[("id", &key["api_key"]["id"])], none()).await;
    let file = user.upload("dot.png", "image/png", &plain_png(3, 3)).await;
    let from = sender.send("upload_media_from_url", &[], json!({"url": file["url"]})).await;
    assert!(from["filename"].as_str().unwrap().starts_with("photo."), "{from}");
    sender.send("delete_media", &[("id", &from["id"])], none()).await;

    let client = json!({"client_name": "Mine", "allowed_redirect_uris": ["https://a.example/cb"]});
    let client = user.post("/api/v1/oauth/clients", client).await.expect(201).body;
    let ids = [("client_id", &client["client"]["client_id"])];
    let renamed = sender.send("update_oauth_client", &ids, none()).await;
    assert_eq!(renamed["client"]["client_name"], "My better tool");
    sender.send("delete_oauth_client", &ids, none()).await;
    let tool = oauth::register(&app.origin).await;
    oauth::let_in(&app, &mut ada, &tool).await;
    let grants = user.get("/api/v1/oauth/grants").await.expect(200).body;
    sender.send("end_oauth_grant", &[("id", &grants["grants"][0]["id"])], none()).await;

    let hook = sender.send("create_webhook", &[], none()).await["webhook"]["id"].clone();
    let ids = [("id", &hook)];
    let delivery = sender.send("test_webhook", &ids, none()).await["delivery"]["id"].clone();
    sender.send("list_deliveries", &ids, none()).await;
    sender.send("redeliver", &[("id", &hook), ("delivery_id", &delivery)], none()).await;
    sender.send("rotate_webhook_secret", &ids, none()).await;
    let ended = sender.send("delete_earlier_webhook_secrets", &ids, none()).await;
    assert_eq!(ended["ended"], 1);
    sender.send("redeliver_failed", &ids, none()).await;
    assert_eq!(sender.send("update_webhook", &ids, none()).await["webhook"]["enabled"], false);
    sender.send("delete_webhook", &ids, none()).await;

    let video = json!({"prompt": "A cat", "provider": "xai", "duration_seconds": 1});
    let video = user.post("/api/v1/ai/generate-video", video).await.expect(202).body;
    sender.send("get_video_job", &[("id", &video["job_id"])], none()).await;
    let signup = sender.send("start_signup", &[], none()).await;
    sender.send("get_signup_session", &[("session_id", &signup["session_id"])], none()).await;
    sender.end(&HELD);
}

/// Waits for the first entry of a list.
async fn first(app: &TestApp, user: &User, path: &str, list: &str) -> Value {
    app.eventually_in_time(path, Duration::from_secs(10), || async {
        user.get(path).await.expect(200).body[list].get(0).cloned()
    })
    .await
}

#[tokio::test]
async fn examples_about_what_people_write() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let sender = Sender::new(&app, user.clone());
    let none = || json!({});
    let account = user.connect("instagram").await;
    let of = json!({ "account_id": account });
    let post = fanfare_tests::networks::post("instagram", account);
    let post = fanfare_tests::networks::publish(&app, &user, post).await;
    assert_eq!(post["status"], "published", "{post:#}");

    let item = sender.send("create_sandbox_item", &[], of.clone()).await["id"].clone();
    sender.send("sync_inbox", &[], of.clone()).await;
    let conversation = first(&app, &user, "/api/v1/inbox/conversations", "conversations").await;
    let ids = [("id", &conversation["id"])];
    sender.send("get_conversation", &ids, none()).await;
    sender.send("reply_to_conversation", &ids, none()).await;
    let comment =
        json!({"account_id": account, "kind": "comment", "text": "Lovely!", "post_id": post["id"]});
    let _ = user.post("/api/v1/sandbox/instagram/inbound", comment).await.expect(201);
    let comment = first(&app, &user, "/api/v1/inbox/comments", "comments").await;
    let ids = [("id", &comment["id"])];
    for name in ["get_comment", "reply_to_comment", "update_comment", "delete_comment"] {
        sender.send(name, &ids, none()).await;
    }
    let there = json!(account);
    sender.send("list_sandbox_inbox", &[("account_id", &there)], none()).await;
    sender.send("update_sandbox_item", &[("id", &item)], of.clone()).await;
    sender.send("delete_sandbox_item", &[("id", &item), ("account_id", &there)], none()).await;
    sender.send("set_sandbox_metrics", &[], of.clone()).await;
    let bluesky = user.connect("bluesky").await;
    sender.send("set_sandbox_video", &[], json!({ "account_id": bluesky })).await;

    let place = business::profile(&app, &user).await;
    business::review(&user, place, "Fine paper", 5).await;
    // A reading that had begun before the review was written does not show it.
    let review = app
        .eventually_in_time("a review", Duration::from_secs(5 * 60), || async {
            business::reviews(&user, "rating=5").await.first().map(|review| review["id"].clone())
        })
        .await;
    let of_review = json!({ "review_id": review });
    sender.send("suggest_review_reply", &[], of_review.clone()).await;
    sender.send("reply_to_review", &[], of_review).await;
    sender.send("set_sandbox_reviews", &[], json!({ "account_id": place })).await;
    sender.send("delete_review_reply", &[("review_id", &review)], none()).await;
    let file = user.upload("room.png", "image/png", &plain_png(300, 280)).await;
    sender.send("add_business_media", &[], json!({"source_url": file["url"]})).await;
    let media = app
        .eventually_in_time("a photo", Duration::from_secs(5), || async {
            let page = user.get("/api/v1/google-business/media").await.expect(200).body;
            let mut all = page["media"].as_array().unwrap().iter();
            all.find(|one| one["media_name"].is_string()).cloned()
        })
        .await;
    sender.send("delete_business_media", &[("media_name", &media["media_name"])], none()).await;
    sender.send("create_sandbox_suggestions", &[], of).await;

    let (other, ben, _) = crate::analytics::suggestions::account_with_suggestions().await;
    let pending = ben.get("/api/v1/suggestions").await.expect(200).body;
    let id = pending["suggestions"][0]["id"].clone();
    let of_ben = Sender::new(&other, ben);
    of_ben.send("dismiss_suggestion", &[("id", &id)], none()).await;
    sender.sent.lock().unwrap().insert("dismiss_suggestion");
    sender.end(&INBOX);
}

#[tokio::test]
async fn examples_about_money() {
    let app = TestApp::start().await;
    let (user, _) = subscriber(&app, "payer@example.com").await;
    let sender = Sender::new(&app, user);
    for name in [
        "get_subscription",
        "pause_subscription",
        "resume_subscription",
        "downgrade_subscription",
        "cancel_subscription",
    ] {
        sender.send(name, &[], json!({})).await;
    }
    let still = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let other = Sender::new(&still, still.user().await);
    let job = other.send("generate_video", &[], json!({})).await["job_id"].clone();
    other.send("cancel_video_job", &[("id", &job)], json!({})).await;
    sender.sent.lock().unwrap().insert("cancel_video_job");
    sender.end(&PAID);
}
