//! Drives everything that connectors say to networks, through a proxy that keeps it: connecting, every example, numbers, the inbox,
//! business profiles, helper tools, giving tokens back.

use std::time::Duration;

use fanfare_core::access::{PlanTier, Scope};
use fanfare_platforms::ConnectSpec;
use serde_json::{Value, json};

use crate::{
    Exchange, Options, Picture, TestApp, User, Visitor, files::plain_png, networks,
    networks::connector,
};

const HOUR: Duration = Duration::from_secs(3_660);
const DAYS: Duration = Duration::from_secs(44 * 3_600);
const PROFILE: &str = "/api/v1/google-business";

/// A service that was driven, with what was said to its networks.
pub struct Tour {
    /// The service, whose simulated networks still know its tokens.
    pub app: TestApp,
    /// All requests and answers.
    pub exchanges: Vec<Exchange>,
}

/// Drives every network.
///
/// # Panics
/// Something does not work that stories show.
pub async fn drive() -> Tour {
    let options = Options { stand_ins: true, record: true, ..Options::default() };
    let app = TestApp::with(options).await;
    let email = format!("{}@example.com", uuid::Uuid::now_v7().simple());
    let (id, mut visitor) = Visitor::person(&app, &email).await;
    let user = app.key(id, None, &Scope::ALL).await;
    let workspace =
        user.get("/api/v1/whoami").await.expect(200).body["workspaces"][0]["id"].clone();
    let workspace = workspace.as_str().expect("an id").parse().expect("an id");
    let plan = fanfare_people::users::set_plan(
        &app.domain,
        fanfare_core::WorkspaceId(workspace),
        PlanTier::Pro,
        None,
    );
    plan.await.expect("a plan");
    let granted = connect_all(&app, &user, &mut visitor).await;
    let accounts = publish_all(&app, &user).await;
    answer_people(&app, &user, &accounts).await;
    keep_profile(&app, &user, &accounts).await;
    read_numbers(&app, &user, &accounts).await;
    ask_tools(&user, &accounts).await;
    // Tokens are renewed meanwhile.
    for _ in 0..3 {
        app.step(Duration::from_secs(20 * 86_400)).await;
    }
    for account in granted {
        let _ = user.delete(&format!("/api/v1/accounts/{account}")).await.expect(200);
    }
    app.wait_until_idle().await;
    let exchanges = app.recorder.as_ref().expect("a recorder").exchanges();
    Tour { app, exchanges }
}

/// Connects an account on each network as a user does: in a browser, or with what the user types in.
async fn connect_all(app: &TestApp, user: &User, visitor: &mut Visitor) -> Vec<i64> {
    let mut ids = Vec::new();
    for name in networks::all() {
        let there = app.simulator.stand_in(name).await;
        let ConnectSpec::Oauth(_) = connector(name).spec().connect else {
            let body = json!({ "credentials": there["credentials"] });
            let connected = user.post(&format!("/api/v1/connect/{name}/credentials"), body).await;
            ids.push(connected.expect(200).body["account"]["id"].as_i64().expect("an id"));
            continue;
        };
        let made = user.post(&format!("/api/v1/connect/{name}/sessions"), json!({})).await;
        let made = made.expect(201).body["connect_session"].clone();
        let url = made["connect_url"].as_str().expect("a page");
        let page = &url[url.find("/connect/").expect("a page")..];
        let server = [("instance_url", "social.example")];
        let away = visitor.step(page, "go", &server).await.expect(200);
        let back = visitor.answer(&away.link("Continue to"), None).await;
        let _ = visitor.get(&back).await.expect(303);
        let polled = made["poll_url"].as_str().expect("an address").replace(&app.origin, "");
        let shown = user.get(&polled).await.expect(200).body["connect_session"].clone();
        if shown["status"] != "connected" {
            let _ = visitor.step(page, "choose", &[("account", "0")]).await.expect(303);
        }
        let done = user.get(&polled).await.expect(200).body["connect_session"].clone();
        assert_eq!(done["status"], "connected", "{name}: {done}");
        ids.push(done["accounts"][0]["id"].as_i64().expect("an id"));
    }
    ids
}

/// Publishes every example of every network.
async fn publish_all(app: &TestApp, user: &User) -> Vec<(&'static str, i64)> {
    let picture = Picture::lasting();
    let captions = b"WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n";
    let captions = user.upload("captions.vtt", "text/vtt", captions).await["url"].clone();
    let captions = captions.as_str().expect("an address");
    let (mut accounts, mut first, mut made) = (Vec::new(), Vec::new(), Vec::new());
    for name in networks::all() {
        let account = user.connect(name).await;
        accounts.push((name, account));
        first.push(user.publish(networks::post(name, account)).await);
    }
    for ((name, account), post) in accounts.iter().zip(first) {
        let earlier = networks::ended(app, user, &post["id"]).await;
        assert_eq!(earlier["status"], "published", "{name}: {earlier:#}");
        for example in connector(name).spec().examples.iter().filter(|one| one.needs.is_none()) {
            let body = networks::body_of(example, *account, picture, &earlier);
            let body = body.to_string().replace("<captions_url>", captions);
            let body = serde_json::from_str(&body).expect("still JSON");
            made.push((name, example.what, user.publish(body).await));
        }
    }
    for (name, what, post) in made {
        let post = networks::ended(app, user, &post["id"]).await;
        assert_eq!(post["status"], "published", "{name}, {what}: {post:#}");
    }
    accounts
}

/// Has people react, and lets the numbers be read.
async fn read_numbers(app: &TestApp, user: &User, accounts: &[(&str, i64)]) {
    for (platform, account) in accounts {
        if !connector(platform).spec().analytics {
            continue;
        }
        let posts = user.get(&format!("/api/v1/posts?account_id={account}")).await.expect(200);
        for post in posts.body["posts"].as_array().expect("a list") {
            let body =
                json!({"account_id": account, "post_id": post["id"], "metrics": {"likes": 3}});
            let _ = user.put(&format!("/api/v1/sandbox/{platform}/metrics"), body).await;
        }
    }
    app.step(HOUR).await;
    app.wait_until_idle().await;
    for _ in 0..2 {
        app.step(DAYS).await;
        app.wait_until_idle().await;
    }
}

/// Answers messages and comments, hides and deletes.
async fn answer_people(app: &TestApp, user: &User, accounts: &[(&str, i64)]) {
    for (platform, has_messages) in [("facebook", true), ("instagram", true), ("threads", false)] {
        let account = account_on(accounts, platform);
        let inbound = format!("/api/v1/sandbox/{platform}/inbound");
        let file = Picture::lasting().file("image/png", 0);
        if has_messages {
            let item = json!({"account_id": account, "kind": "message", "text": "Open?"});
            let _ = user.post(&inbound, item).await.expect(201);
            let found = listed(app, user, "conversations", account).await;
            let path = format!("/api/v1/inbox/conversations/{}/reply", found["id"]);
            let _ = user.post(&path, json!({"text": "Until six."})).await.expect(201);
            let _ = user.post(&path, json!({ "media_url": file })).await;
        }
        let post = user.publish(networks::post(platform, account)).await;
        let post = networks::ended(app, user, &post["id"]).await;
        let item = json!({"account_id": account, "kind": "comment", "text": "Lovely", "post_id": post["id"].to_string()});
        let _ = user.post(&inbound, item).await.expect(201);
        let found = listed(app, user, "comments", account).await;
        let path = format!("/api/v1/inbox/comments/{}", found["id"]);
        let _ = user.post(&format!("{path}/reply"), json!({"text": "Thank you"})).await.expect(201);
        for hidden in [true, false] {
            let _ = user.patch(&path, json!({ "hidden": hidden })).await;
        }
        let _ = user.delete(&path).await;
        let sync = json!({ "account_id": account });
        let _ = user.post("/api/v1/inbox/sync", sync).await;
        app.step(HOUR).await;
        app.wait_until_idle().await;
    }
}

async fn listed(app: &TestApp, user: &User, list: &str, account: i64) -> Value {
    let path = format!("/api/v1/inbox/{list}?account_id={account}");
    app.eventually_in_time(list, Duration::from_secs(10), || async {
        user.get(&path).await.expect(200).body[list].get(0).cloned()
    })
    .await
}

/// Answers a review, takes the answer back, adds and removes a photo.
async fn keep_profile(app: &TestApp, user: &User, accounts: &[(&str, i64)]) {
    let account = account_on(accounts, "google_business");
    let item = json!({"account_id": account, "kind": "review", "text": "Fine paper", "rating": 5});
    let _ = user.post("/api/v1/sandbox/google_business/inbound", item).await.expect(201);
    let review = app
        .eventually_in_time("a review", Duration::from_secs(300), || async {
            let path = format!("{PROFILE}/reviews?account_id={account}");
            user.get(&path).await.expect(200).body["reviews"].get(0).cloned()
        })
        .await;
    let body = json!({"review_id": review["id"], "text": "Thank you"});
    let _ = user.post(&format!("{PROFILE}/reviews/reply"), body).await.expect(201);
    let path = format!("{PROFILE}/reviews/reply?review_id={}", review["id"]);
    let _ = user.delete(&path).await.expect(200);
    let file = user.upload("room.png", "image/png", &plain_png(300, 280)).await;
    let body = json!({"source_url": file["url"], "category": "INTERIOR", "account_id": account});
    let _ = user.post(&format!("{PROFILE}/media"), body).await.expect(202);
    let media = app
        .eventually_in_time("a photo", Duration::from_secs(5), || async {
            let page = user.get(&format!("{PROFILE}/media?account_id={account}")).await.expect(200);
            let all = page.body["media"].as_array().cloned().unwrap_or_default();
            all.into_iter().find(|one| one["media_name"].is_string())
        })
        .await;
    let name = media["media_name"].as_str().expect("a name");
    let _ = user.delete(&format!("{PROFILE}/media?media_name={name}")).await;
    let _ = user.get(&format!("{PROFILE}/audit?account_id={account}")).await;
}

async fn ask_tools(user: &User, accounts: &[(&str, i64)]) {
    for (platform, account) in accounts {
        for tool in connector(platform).spec().tools {
            let params =
                if tool.ends_with("lookup") { json!({"vanity": "nobody"}) } else { json!({}) };
            let body = json!({"tool": tool, "account_id": account, "params": params});
            let _ = user.post("/api/v1/platforms/trigger", body).await;
        }
    }
}

fn account_on(accounts: &[(&str, i64)], platform: &str) -> i64 {
    accounts.iter().find(|(name, _)| *name == platform).expect("an account").1
}
