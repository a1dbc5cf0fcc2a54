//! Connecting an account in a browser, while somebody else waits for it: the whole walk, and every way in which it may
//! go wrong.

mod at_once;
mod ends;
mod once;
mod page;
mod people;
mod product;
mod room;
mod together;

use fanfare_core::access::Scope;
use fanfare_tests::{Options, TestApp, User, Visitor};
use serde_json::{Value, json};

pub use page::{offer, offer_these};

/// An app that is registered with every network, which are the simulated ones.
async fn start() -> TestApp {
    TestApp::with(Options { stand_ins: true, ..Options::default() }).await
}

pub async fn session(user: &User, platform: &str, body: Value) -> Value {
    let path = format!("/api/v1/connect/{platform}/sessions");
    user.post(&path, body).await.expect(201).body["connect_session"].clone()
}

pub async fn poll(app: &TestApp, user: &User, session: &Value) -> Value {
    let url = session["poll_url"].as_str().unwrap();
    let path = url.strip_prefix(&app.origin).unwrap();
    user.get(path).await.expect(200).body["connect_session"].clone()
}

pub fn page(session: &Value) -> String {
    let url = session["connect_url"].as_str().unwrap();
    url[url.find("/connect/").unwrap()..].to_owned()
}

fn stands(session: &Value) -> (&str, &str) {
    (session["status"].as_str().unwrap(), session["status_message"].as_str().unwrap())
}

/// The calls of one kind that the simulated network has seen for all its accounts.
async fn calls(app: &TestApp, path: &str) -> usize {
    let mut count = 0;
    for account in app.simulator.accounts("threads").await {
        let calls = app.simulator.calls("threads", account["remote_id"].as_str().unwrap()).await;
        count += calls.iter().filter(|call| call["path"].as_str().unwrap().contains(path)).count();
    }
    count
}

/// A person, logged in, with a key.
pub async fn person(app: &TestApp) -> (Visitor, User) {
    let email = format!("{}@example.com", uuid::Uuid::now_v7().simple());
    let (id, visitor) = Visitor::person(app, &email).await;
    (visitor, app.key(id, None, &Scope::ALL).await)
}

#[tokio::test]
async fn the_whole_walk_to_an_account_that_posts() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let made = session(&user, "threads", json!({})).await;
    assert_eq!(
        (made["method"].as_str(), made["connected_count"].as_i64()),
        (Some("dashboard_oauth"), Some(0))
    );
    assert_eq!(
        stands(&made),
        ("created", "Open the link and log in to connect Threads. It is good for 30 minutes.")
    );
    app.simulator.stand_in("threads").await;

    let shown = ada.get(&page(&made)).await.expect(200);
    assert!(shown.html.contains("Publish posts") && shown.html.contains("You can refuse this"));
    let opened = poll(&app, &user, &made).await;
    assert_eq!(stands(&opened).0, "opened");

    let network = ada.leave(&page(&made)).await;
    assert!(network.contains("client_id=our-app") && network.contains("scope=threads_basic%2C"));
    assert_eq!(
        stands(&poll(&app, &user, &made).await),
        ("awaiting_provider", "Threads is open in a browser. Grant access there to go on.")
    );

    let back = ada.answer(&network, None).await;
    assert!(back.starts_with(&format!("{}/connect/threads/callback?", app.origin)), "{back}");
    let shown = ada.get(&back).await.expect(303);
    assert_eq!(shown.location, page(&made));
    assert!(ada.get(&shown.location).await.expect(200).html.contains("Threads is connected as"));

    let done = poll(&app, &user, &made).await;
    assert_eq!(
        (done["status"].as_str(), done["error"].is_null()),
        (Some("connected"), true),
        "{done}"
    );
    let account = done["accounts"][0]["id"].as_i64().unwrap();
    let listed = user.get("/api/v1/accounts").await.expect(200);
    let row = listed.body["accounts"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["id"] == account)
        .unwrap();
    assert_eq!(
        (row["sandbox"].as_bool(), row["status"].as_str()),
        (Some(false), Some("connected"))
    );
    assert!(
        row["token_expires_at"].as_str() > Some(app.at(59 * 86_400).as_str()),
        "a token of 60 days: {row}"
    );
    let post =
        user.publish(json!({"account_id": account, "caption": "Through the front door"})).await;
    app.wait_until_published(&user, &post).await;
}

#[tokio::test]
async fn connecting_again_keeps_the_account_with_its_posts() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let made = session(&user, "threads", json!({"sandbox": true})).await;
        let network = ada.leave(&page(&made)).await;
        let back = ada.answer(&network, None).await;
        let _ = ada.get(&back).await.expect(303);
        ids.push(poll(&app, &user, &made).await["accounts"][0]["id"].as_i64().unwrap());
        let post = user.publish(json!({"account_id": ids[0], "caption": "Hello"})).await;
        app.wait_until_published(&user, &post).await;
    }
    assert_eq!(ids[0], ids[1]);
    assert_eq!(user.on_network("threads", ids[0]).await.len(), 2);
    let posts = user.get(&format!("/api/v1/posts?account_id={}", ids[0])).await.expect(200);
    assert_eq!(posts.body["posts"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_link_may_start_by_itself() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let made = session(&user, "threads", json!({"auto_start": true, "sandbox": true})).await;
    let away = ada.get(&page(&made)).await.expect(200);
    assert!(away.html.contains("http-equiv=\"refresh\" content=\"0; url=http"));
    let back = ada.answer(&away.link("Continue to Threads"), None).await;
    // In another tab the page is open again; both take the same way back.
    let _ = ada.get(&page(&made)).await.expect(200);
    let _ = ada.get(&back).await.expect(303);
    assert_eq!(poll(&app, &user, &made).await["status"], "connected");
}

#[tokio::test]
async fn a_person_begins_without_a_link() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let options = user.get("/api/v1/connect/threads").await.expect(200).body["connect"].clone();
    assert_eq!(
        (options["configured"].as_bool(), options["missing_environment"].as_array().map(Vec::len)),
        (Some(true), Some(0))
    );
    assert!(options["oauth_url"].is_null());
    assert_eq!(options["callback_url"], format!("{}/connect/threads/callback", app.origin));
    let url = options["connection_url"].as_str().unwrap().to_owned();
    let list = ada.get("/connect").await.expect(200);
    assert!(
        list.html.contains("href=\"/connect/threads\"")
            && list.html.contains("href=\"/connect/bluesky\"")
    );
    let ask = ada.get(&url).await.expect(200);
    let fields = [
        ("csrf", ask.hidden("csrf")),
        ("workspace_id", ask.hidden("workspace_id")),
        ("sandbox", "1".into()),
    ];
    let shown = ada.send("/connect/threads", &fields).await.expect(303);
    let network = ada.leave(&shown.location).await;
    let back = ada.answer(&network, None).await;
    let _ = ada.get(&back).await.expect(303);
    assert_eq!(user.get("/api/v1/accounts").await.body["accounts"].as_array().unwrap().len(), 1);
    let _ = ada.get("/connect/nowhere").await.expect(404);
    let forged = [("csrf", "guessed".to_owned())];
    let _ = ada.send("/connect/threads", &forged).await.expect(400);
    let planned = user.get("/api/v1/connect/instagram").await.expect(200);
    assert!(
        planned.body["connect"]["connection_url"].is_null()
            || planned.body["connect"]["method"] != "planned"
    );
}

/// A network gets this by being listed: from its own page to an account, with an app of the account's own server where
/// there are many, and a choice where it grants several accounts.
#[tokio::test]
async fn every_network_that_grants_access_in_a_browser_can_be_walked() {
    use fanfare_platforms::ConnectSpec;
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    for spec in fanfare_platforms::all().iter().map(|platform| platform.spec()) {
        let ConnectSpec::Oauth(oauth) = spec.connect else { continue };
        let name = spec.id.as_str();
        app.simulator.stand_in(name).await;
        // Twice: the second time an app is known on the account's server, and the account is the same.
        let mut ids = Vec::new();
        for _ in 0..2 {
            let made = session(&user, name, json!({})).await;
            let shown = ada.get(&page(&made)).await.expect(200);
            assert_eq!(shown.html.contains("instance_url"), oauth.instance.is_some(), "{name}");
            if oauth.instance.is_some() {
                let empty = ada.step(&page(&made), "go", &[]).await.expect(400);
                assert!(empty.html.contains("many servers"), "{name}: {}", empty.html);
            }
            let fields = [("instance_url", "social.example")];
            let away = ada.step(&page(&made), "go", &fields).await.expect(200);
            let network = away.link("Continue to");
            assert_eq!(network.contains("code_challenge="), oauth.pkce, "{name}");
            let back = ada.answer(&network, None).await;
            let _ = ada.get(&back).await.expect(303);
            if stands(&poll(&app, &user, &made).await).1.contains("Choose in the browser") {
                let _ = ada.step(&page(&made), "choose", &[("account", "0")]).await.expect(303);
            }
            let done = poll(&app, &user, &made).await;
            assert_eq!(done["status"], "connected", "{name}: {done}");
            ids.push(done["accounts"][0]["id"].as_i64().unwrap());
        }
        assert_eq!(ids[0], ids[1], "{name}");
        // A disconnect gives the token back where the network takes it, and keeps nothing.
        let _ = user.delete(&format!("/api/v1/accounts/{}", ids[0])).await.expect(200);
        app.eventually("nothing is left to give back", || async {
            let id = fanfare_core::AccountId(ids[0]);
            let row = fanfare_publishing::accounts::row(&app.domain, id).await.unwrap().unwrap();
            (row.revoking_id.is_none() && row.secret_id.is_none()).then_some(())
        })
        .await;
    }
}
