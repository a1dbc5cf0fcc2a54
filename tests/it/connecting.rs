//! Connecting an account in a browser, while somebody else waits for it: the whole walk, and every way in which it may
//! go wrong.

use std::time::Duration;

use fanfare_domain::access::{Role, Scope};
use fanfare_tests::{Options, TestApp, User, Visitor};
use serde_json::{Value, json};

/// An app that is registered with every network, which are the simulated ones.
async fn start() -> TestApp {
    TestApp::with(Options { stand_ins: true, ..Options::default() }).await
}

async fn session(user: &User, platform: &str, body: Value) -> Value {
    let path = format!("/api/v1/connect/{platform}/sessions");
    user.post(&path, body).await.expect(201).body["connect_session"].clone()
}

async fn poll(app: &TestApp, user: &User, session: &Value) -> Value {
    let url = session["poll_url"].as_str().unwrap();
    let path = url.strip_prefix(&app.origin).unwrap();
    user.get(path).await.expect(200).body["connect_session"].clone()
}

fn page(session: &Value) -> String {
    let url = session["connect_url"].as_str().unwrap();
    url[url.find("/connect/").unwrap()..].to_owned()
}

fn stands(session: &Value) -> (&str, &str) {
    (session["status"].as_str().unwrap(), session["status_message"].as_str().unwrap())
}

/// The calls of one kind that the simulated network has seen for all its accounts.
async fn calls(app: &TestApp, path: &str) -> usize {
    let base = format!("{}_control/threads", app.sandbox_url);
    let http = reqwest::Client::new();
    let read = |url: String| {
        let http = http.clone();
        async move { http.get(url).send().await.unwrap().json::<Value>().await.unwrap() }
    };
    let mut count = 0;
    for account in read(format!("{base}/accounts")).await["accounts"].as_array().unwrap() {
        let id = account["remote_id"].as_str().unwrap();
        let calls = read(format!("{base}/calls?remote_id={id}")).await;
        let calls = calls["calls"].as_array().unwrap();
        count += calls.iter().filter(|call| call["path"].as_str().unwrap().contains(path)).count();
    }
    count
}

/// A person, logged in, with a key.
async fn person(app: &TestApp) -> (Visitor, User) {
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
    user.connect("threads").await;

    let shown = ada.get(&page(&made)).await.expect(200);
    assert!(shown.html.contains("Publish posts") && shown.html.contains("can be kept back"));
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
    app.public(&user, &post).await;
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
        app.public(&user, &post).await;
    }
    assert_eq!(ids[0], ids[1]);
    assert_eq!(user.on_network("threads", ids[0]).await.len(), 2);
    let posts = user.get(&format!("/api/v1/posts?account_id={}", ids[0])).await.expect(200);
    assert_eq!(posts.body["posts"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_code_is_exchanged_once_however_often_the_network_sends_back() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let made = session(&user, "threads", json!({"sandbox": true})).await;
    let back = {
        let network = ada.leave(&page(&made)).await;
        ada.answer(&network, None).await
    };
    let twins = (0..5).map(|_| {
        let (mut ada, back) = (ada.clone(), back.clone());
        tokio::spawn(async move { ada.get(&back).await.status })
    });
    for twin in twins.collect::<Vec<_>>() {
        // Whoever comes after the end finds that the way back is used up.
        assert!(matches!(twin.await.unwrap(), 303 | 404));
    }
    assert_eq!(poll(&app, &user, &made).await["status"], "connected");
    assert_eq!(calls(&app, "oauth/access_token").await, 1);
    let again = ada.get(&back).await.expect(404);
    assert!(again.html.contains("not known here any more"), "{}", again.html);
}

#[tokio::test]
async fn a_kill_between_code_and_account_leaves_a_walk_that_can_be_walked_again() {
    for place in fanfare_domain::failpoint::CONNECTING {
        let options = Options { stand_ins: true, failpoint: Some(*place), ..Options::default() };
        let app = TestApp::with(options).await;
        let (mut ada, user) = person(&app).await;
        let made = session(&user, "threads", json!({"sandbox": true})).await;
        let back = {
            let network = ada.leave(&page(&made)).await;
            ada.answer(&network, None).await
        };
        // This process never answers: it is as good as killed. Another serves from now on.
        let (mut stuck, first) = (ada.clone(), back.clone());
        let stuck = tokio::spawn(async move { stuck.get(&first).await });
        app.eventually("the code is taken", || async {
            let now = poll(&app, &user, &made).await;
            stands(&now).1.contains("being finished").then_some(())
        })
        .await;
        let other = app.twin().await;
        let mut elsewhere = ada.at(&other);
        let finishing = elsewhere.get(&back.replace(&app.origin, "")).await.expect(303);
        let finishing = elsewhere.get(&finishing.location).await.expect(200);
        assert!(finishing.html.contains("http-equiv=\"refresh\""), "it looks again by itself");
        app.advance(Duration::from_secs(61));
        assert!(stands(&poll(&app, &user, &made).await).1.contains("interrupted"), "{place}");
        let network = elsewhere.leave(&page(&made)).await;
        let again = elsewhere.answer(&network, None).await;
        assert_ne!(again, back);
        let _ = elsewhere.get(&again.replace(&app.origin, "")).await.expect(303);
        let done = poll(&app, &user, &made).await;
        assert_eq!(done["status"], "connected", "{place}: {done}");
        let exchanged = if *place == "code_taken" { 1 } else { 2 };
        assert_eq!(calls(&app, "oauth/access_token").await, exchanged, "{place}");
        stuck.abort();
    }
}

#[tokio::test]
async fn a_person_may_refuse_cancel_or_come_too_late() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let refused = session(&user, "threads", json!({})).await;
    user.connect("threads").await;
    let network = ada.leave(&page(&refused)).await;
    let back = ada.answer(&network, Some("Cancel")).await;
    let _ = ada.get(&back).await.expect(303);
    let now = poll(&app, &user, &refused).await;
    assert_eq!(
        stands(&now),
        ("cancelled", "Access was not granted at Threads. Nothing was connected.")
    );

    let cancelled = session(&user, "threads", json!({})).await;
    let _ = ada.step(&page(&cancelled), "cancel", &[]).await.expect(303);
    assert_eq!(poll(&app, &user, &cancelled).await["status"], "cancelled");

    let broken = session(&user, "threads", json!({})).await;
    let network = ada.leave(&page(&broken)).await;
    let state = network.split("state=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    let path = format!(
        "/connect/threads/callback?state={state}&error=server_error&error_description=Try+%3Cb%3E+later"
    );
    let _ = ada.get(&path).await.expect(303);
    let now = poll(&app, &user, &broken).await;
    assert_eq!(
        stands(&now),
        ("failed", "Threads could not be connected. Threads says: Try <b> later")
    );
    assert_eq!(now["error"]["code"], "invalid_credentials");
    assert!(!ada.get(&page(&broken)).await.html.contains("<b>"), "a network's words are no markup");

    let late = session(&user, "threads", json!({})).await;
    let network = ada.leave(&page(&late)).await;
    let back = ada.answer(&network, None).await;
    app.advance(Duration::from_secs(31 * 60));
    assert_eq!(ada.get(&back).await.expect(303).location, page(&late));
    assert_eq!(poll(&app, &user, &late).await["status"], "expired");
    let shown = ada.get(&page(&late)).await.expect(200);
    assert!(shown.html.contains("The link has expired") && shown.html.contains("Start again"));
    assert!(user.get("/api/v1/accounts").await.body["accounts"].as_array().unwrap().len() == 1);
}

#[tokio::test]
async fn a_code_that_the_network_refuses_fails_the_walk() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let made = session(&user, "threads", json!({"sandbox": true})).await;
    let network = ada.leave(&page(&made)).await;
    let back = ada.answer(&network, None).await;
    let forged = back.replace("code=", "code=x");
    let _ = ada.get(&forged).await.expect(303);
    let now = poll(&app, &user, &made).await;
    assert_eq!(
        (now["status"].as_str(), now["error"]["code"].as_str()),
        (Some("failed"), Some("invalid_credentials")),
        "{now}"
    );
}

#[tokio::test]
async fn nobody_comes_back_for_somebody_else() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let (mut eve, eves) = person(&app).await;
    let made = session(&user, "threads", json!({"sandbox": true})).await;
    // Neither the page nor the record is there for a stranger.
    assert!(
        eve.get(&page(&made)).await.expect(404).html.contains("There is no such connect session")
    );
    let id = made["id"].as_str().unwrap();
    let _ = eves
        .get(&format!("/api/v1/connect/sessions/{id}"))
        .await
        .refused(404, "connect_session_not_found");
    let _ = user.get("/api/v1/connect/sessions/7").await.refused(404, "connect_session_not_found");
    let network = ada.leave(&page(&made)).await;
    let back = ada.answer(&network, None).await;
    let _ = eve.get(&back).await.expect(404);
    let nobody = Visitor::nobody(&app).get(&back).await.expect(303);
    assert!(nobody.location.starts_with("/login?next=%2Fconnect%2Fthreads%2Fcallback"));
    let _ = ada.get("/connect/threads/callback?state=guessed&code=x").await.expect(404);
    assert_eq!(poll(&app, &user, &made).await["status"], "awaiting_provider", "it is still hers");
    let _ = ada.get(&back).await.expect(303);
    assert_eq!(poll(&app, &user, &made).await["status"], "connected");
}

#[tokio::test]
async fn a_member_of_the_same_workspace_cannot_finish_what_another_began() {
    let app = start().await;
    let (mut ada, _) = person(&app).await;
    let email = "bob@example.com";
    let (bob_id, mut bob) = Visitor::person(&app, email).await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    fanfare_domain::people::set_member(&app.domain, team, bob_id, Role::Publisher).await.unwrap();
    let user = app.key(owner, Some(team), &Scope::ALL).await;
    let made = session(&user, "threads", json!({"sandbox": true})).await;
    let _ = ada.get(&page(&made)).await.expect(404);
    let network = bob.leave(&page(&made)).await;
    let back = bob.answer(&network, None).await;
    let (cara_id, mut cara) = Visitor::person(&app, "cara@example.com").await;
    fanfare_domain::people::set_member(&app.domain, team, cara_id, Role::Admin).await.unwrap();
    let _ = cara.get(&back).await.expect(404);
    fanfare_domain::people::set_member(&app.domain, team, cara_id, Role::Editor).await.unwrap();
    let _ = cara.get(&page(&made)).await.expect(403);
    let _ = bob.get(&back).await.expect(303);
    assert_eq!(poll(&app, &user, &made).await["status"], "connected");
}

#[tokio::test]
async fn who_may_begin_and_for_which_platform() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let refused = user.post("/api/v1/connect/threads/sessions", json!({})).await;
    let refused = refused.refused(409, "platform_not_configured");
    assert_eq!(
        refused.body["missing_environment"],
        json!(["FANFARE_THREADS_CLIENT_ID", "FANFARE_THREADS_CLIENT_SECRET"])
    );
    let _ = user
        .post("/api/v1/connect/nowhere/sessions", json!({}))
        .await
        .refused(404, "platform_not_found");
    let _ = user
        .post("/api/v1/connect/threads/sessions", json!({"autostart": true}))
        .await
        .refused(400, "unknown_field");
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (_, editor) = app.member(team, Role::Editor).await;
    let body = json!({"sandbox": true});
    let _ = editor
        .post("/api/v1/connect/threads/sessions", body.clone())
        .await
        .refused(403, "insufficient_workspace_permissions");
    let reader = app.key(owner, None, &[Scope::AccountsRead]).await;
    let _ = reader
        .post("/api/v1/connect/threads/sessions", body.clone())
        .await
        .refused(403, "insufficient_scope");
    let (locked, seat) = app.member(team, Role::Publisher).await;
    let brand = app.brand(team, &[locked]).await;
    let _ =
        seat.post("/api/v1/connect/threads/sessions", body).await.refused(403, "brand_required");
    let own = json!({"sandbox": true, "workspace_client_id": brand.to_string()});
    let made = session(&seat, "threads", own).await;
    assert_eq!(made["workspace_client_id"], brand.to_string());
    let other = app.brand(team, &[]).await;
    let foreign = json!({"sandbox": true, "workspace_client_id": other.to_string()});
    let _ =
        seat.post("/api/v1/connect/threads/sessions", foreign).await.refused(403, "brand_required");
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
async fn credentials_are_filled_in_at_the_page_and_may_be_corrected() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let made = session(&user, "bluesky", json!({})).await;
    assert_eq!(made["method"], "manual_credentials");
    let form = ada.get(&page(&made)).await.expect(200);
    assert!(form.html.contains("App password") && form.html.contains("type=\"password\""));
    assert_eq!(poll(&app, &user, &made).await["status"], "awaiting_credentials");
    let wrong = [("identifier", "nobody.test"), ("app_password", "aaaa-bbbb-cccc-dddd")];
    let wrong = ada.step(&page(&made), "connect", &wrong).await.expect(400);
    assert!(wrong.html.contains("value=\"nobody.test\"") && !wrong.html.contains("aaaa-bbbb"));
    assert_eq!(
        poll(&app, &user, &made).await["status"],
        "awaiting_credentials",
        "it can be corrected"
    );
    let empty = ada.step(&page(&made), "connect", &[("identifier", "x")]).await.expect(400);
    assert!(empty.html.contains("credentials.app_password is required"), "{}", empty.html);

    let made_there = format!("{}_control/bluesky/accounts", app.sandbox_url);
    let there: Value = reqwest::Client::new()
        .post(made_there)
        .json(&json!({}))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let known = |name: &str| there["credentials"][name].as_str().unwrap().to_owned();
    let (identifier, password) = (known("identifier"), known("app_password"));
    let right = [("identifier", identifier.as_str()), ("app_password", password.as_str())];
    let _ = ada.step(&page(&made), "connect", &right).await.expect(303);
    let done = poll(&app, &user, &made).await;
    assert_eq!(
        (done["status"].as_str(), done["connected_count"].as_i64()),
        (Some("connected"), Some(1)),
        "{done}"
    );
    let after = ada.get(&page(&made)).await.expect(200);
    assert!(
        after.html.contains("Bluesky is connected as")
            && !after.html.contains("name=\"app_password\"")
    );

    // The same by the API, which ends the session it names.
    let credentials = json!({"identifier": identifier, "app_password": password});
    let named = session(&user, "bluesky", json!({})).await;
    let body = json!({"credentials": credentials, "connect_session_id": named["id"]});
    let connected =
        user.post("/api/v1/connect/bluesky/credentials", body.clone()).await.expect(200);
    assert_eq!(connected.body["account"]["id"], done["accounts"][0]["id"], "the same account");
    assert_eq!(poll(&app, &user, &named).await["status"], "connected");
    let _ = user
        .post("/api/v1/connect/bluesky/credentials", body)
        .await
        .refused(409, "invalid_transition");
    let failing = session(&user, "bluesky", json!({})).await;
    let bad = json!({"credentials": {"identifier": identifier, "app_password": "wrong-one"}, "connect_session_id": failing["id"]});
    let _ = user
        .post("/api/v1/connect/bluesky/credentials", bad)
        .await
        .refused(400, "invalid_credentials");
    let failed = poll(&app, &user, &failing).await;
    assert_eq!(
        (failed["status"].as_str(), failed["error"]["code"].as_str()),
        (Some("failed"), Some("invalid_credentials"))
    );
    let other = session(&user, "threads", json!({})).await;
    let mixed = json!({"credentials": credentials, "connect_session_id": other["id"]});
    let _ =
        user.post("/api/v1/connect/bluesky/credentials", mixed).await.refused(400, "invalid_field");
    let stranger = app.user().await;
    let foreign = json!({"credentials": credentials, "connect_session_id": other["id"]});
    let _ = stranger
        .post("/api/v1/connect/bluesky/credentials", foreign)
        .await
        .refused(404, "connect_session_not_found");
    for text in [failed.to_string(), after.html] {
        assert!(!text.contains(&password), "a credential is shown nowhere");
    }
}

#[tokio::test]
async fn several_accounts_are_chosen_among() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let made = session(&user, "threads", json!({"sandbox": true})).await;
    let _ = ada.leave(&page(&made)).await;
    offer(&app, &made).await;
    let waiting = poll(&app, &user, &made).await;
    assert_eq!(
        stands(&waiting),
        (
            "awaiting_provider",
            "Threads has granted access to 3 accounts. Choose in the browser which to connect."
        )
    );
    let none = ada.step(&page(&made), "choose", &[]).await.expect(400);
    assert!(none.html.contains("Choose at least one account"));
    let _ =
        ada.step(&page(&made), "choose", &[("account", "0"), ("account", "2")]).await.expect(303);
    let done = poll(&app, &user, &made).await;
    assert_eq!(stands(&done), ("connected", "Threads is connected as page-0 and page-2."));
    assert_eq!(done["accounts"].as_array().unwrap().len(), 2);
    assert!(!done.to_string().contains("token-of"));
    let _ = ada.step_blind(&page(&made), "choose", &[("account", "1")]).await.expect(409);
}

/// Puts a session where a network has granted access to three accounts.
pub async fn offer(app: &TestApp, session: &Value) {
    use fanfare_entities::connect_session::{ActiveModel, Column, Entity};
    use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
    let reached: Vec<_> = (0..3)
        .map(|n| {
            json!({
                "remote_id": format!("page{n}"), "username": format!("page-{n}"), "display_name": format!("Page {n}"),
                "meta": {}, "secrets": {"access_token": format!("token-of-{n}")}, "expires_at": null,
            })
        })
        .collect();
    let plain = serde_json::to_vec(&reached).unwrap();
    let (cx, id) = (&app.domain, session["id"].as_str().unwrap().parse::<uuid::Uuid>().unwrap());
    let secret =
        cx.vault.store(&cx.db.write, "connect_sessions", &plain, app.clock.now()).await.unwrap();
    let change = ActiveModel {
        secret_id: Set(Some(secret)),
        choices: Set(Some(json!(reached))),
        taken_at: Set(Some(app.clock.now())),
        ..Default::default()
    };
    Entity::update_many().set(change).filter(Column::Id.eq(id)).exec(&cx.db.write).await.unwrap();
}

#[tokio::test]
async fn a_simulated_account_is_made_at_the_page() {
    let app = TestApp::start().await;
    let (mut ada, user) = person(&app).await;
    let made = session(&user, "discord", json!({"sandbox": true})).await;
    assert!(ada.get(&page(&made)).await.html.contains("simulated network"));
    let _ = ada.step(&page(&made), "simulate", &[("username", "")]).await.expect(303);
    let done = poll(&app, &user, &made).await;
    assert_eq!(done["status"], "connected");
    // A step that does not belong here, or comes after the end, is refused.
    let _ = ada.step_blind(&page(&made), "simulate", &[]).await.expect(409);
    let _ = ada.step_blind(&page(&made), "go", &[]).await.expect(409);
    let _ = ada.step_blind(&page(&made), "fly", &[]).await.expect(404);
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
    use fanfare_platforms::Connect;
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    for spec in fanfare_platforms::all().iter().map(|platform| platform.spec()) {
        let Connect::Oauth(oauth) = spec.connect else { continue };
        let name = spec.id.as_str();
        user.connect(name).await;
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
            let id = fanfare_domain::AccountId(ids[0]);
            let row = fanfare_domain::accounts::row(&app.domain, id).await.unwrap().unwrap();
            (row.revoking_id.is_none() && row.secret_id.is_none()).then_some(())
        })
        .await;
    }
}
