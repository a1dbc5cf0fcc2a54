//! What a program may do with accounts on the simulated networks: lose and connect them again, see and remove their faults, and
//! set the clock of their networks.

use std::time::Duration;

use fanfare_entities::AccountId;
use fanfare_publishing::accounts;
use fanfare_tests::{Options, TestApp, User, networks};
use serde_json::{Value, json};

use crate::inbox::gate::Gate;

/// Every kind of account, with the body that makes one.
fn kinds() -> Vec<(&'static str, Value)> {
    let usual = networks::all().into_iter().map(|name| (name, json!({})));
    usual.chain([("linkedin", json!({"kind": "page"}))]).collect()
}

async fn made(user: &User, name: &str, more: &Value) -> Value {
    let mut body = json!({"platform": name, "username": "kestrel"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    user.post("/api/v1/sandbox/accounts", body).await.expect(201).body
}

async fn status_of(user: &User, id: i64) -> Option<String> {
    let listed = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
    let row = listed.as_array().unwrap().iter().find(|row| row["id"] == id).cloned();
    row.map(|row| row["status"].as_str().unwrap().to_owned())
}

/// Ends the account's token for good: a fresh one has ended, too.
async fn lose(app: &TestApp, user: &User, name: &str, id: i64) {
    let ended = |on: &str| json!({"on": on, "kind": "token_expired", "times": 100});
    let phases = ["prepare", "commit", "confirm", "read"];
    user.faults(name, id, phases.map(ended).into()).await;
    user.publish(networks::post(name, id)).await;
    app.eventually_in_time("the account is lost", Duration::from_secs(5), || async {
        (status_of(user, id).await? == "reconnect_required").then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_account_that_is_connected_again_in_the_middle_of_a_refusal_stays_connected() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let (gate, hook) = Gate::hook("commit_called");
    let _worker = app.work_on(app.other_process_at(hook).await);
    let first = made(&user, "x", &json!({})).await;
    let id = first["account"]["id"].as_i64().unwrap();
    let ended = |on: &str| json!({"on": on, "kind": "token_expired", "times": 100});
    user.faults("x", id, json!([ended("commit")])).await;
    let post = user.publish(networks::post("x", id)).await;
    // The second refusal, of fresh tokens, is the last word.
    gate.is_reached().await;
    gate.let_go();
    gate.is_reached().await;
    user.delete(&format!("/api/v1/sandbox/x/faults?account_id={id}")).await.expect(200);
    // Other work has met the same refusal, and the user has answered it.
    let row = accounts::row(&app.domain, AccountId(id)).await.unwrap().unwrap();
    accounts::mark_needs_reconnect(&app.domain, row.id, row.secret_id).await.unwrap();
    assert_eq!(status_of(&user, id).await.as_deref(), Some("reconnect_required"));
    let again = made(&user, "x", &json!({})).await;
    assert_eq!(again["account"]["status"], "connected");
    (0..9).for_each(|_| gate.let_go());
    let sent = networks::ended(&app, &user, &post["id"]).await;
    assert_eq!(sent["status"], "published", "{sent:#}");
    assert_eq!(status_of(&user, id).await.as_deref(), Some("connected"));
}

#[tokio::test]
async fn an_account_that_lost_its_connection_comes_back_by_its_name_on_every_network() {
    let app = TestApp::start().await;
    for (name, more) in kinds() {
        let user = app.user().await;
        let first = made(&user, name, &more).await;
        let id = first["account"]["id"].as_i64().unwrap();
        lose(&app, &user, name, id).await;
        // The faults that ended it go before it is connected again.
        let path = format!("/api/v1/sandbox/{name}/faults?account_id={id}");
        assert_eq!(user.delete(&path).await.expect(200).body["faults"], json!([]), "{name}");
        let back = made(&user, name, &more).await;
        assert_eq!(
            (&back["account"]["id"], &back["account"]["status"], &back["remote_id"]),
            (&json!(id), &json!("connected"), &first["remote_id"]),
            "{name} {more}"
        );
        let sent = networks::publish(&app, &user, networks::post(name, id)).await;
        assert_eq!(sent["status"], "published", "{name} {more}: {sent:#}");
    }
}

#[tokio::test]
async fn a_disconnected_account_comes_back_by_its_name_on_every_network() {
    let app = TestApp::start().await;
    for (name, more) in kinds() {
        let user = app.user().await;
        let first = made(&user, name, &more).await;
        let id = first["account"]["id"].as_i64().unwrap();
        let _ = user.delete(&format!("/api/v1/accounts/{id}")).await.expect(200);
        // Where a network takes tokens back, they are given back first.
        app.wait_until_idle().await;
        let back = made(&user, name, &more).await;
        assert_eq!(
            (&back["account"]["status"], &back["remote_id"]),
            (&json!("connected"), &first["remote_id"]),
            "{name} {more}"
        );
        let id = back["account"]["id"].as_i64().unwrap();
        let sent = networks::publish(&app, &user, networks::post(name, id)).await;
        assert_eq!(sent["status"], "published", "{name} {more}: {sent:#}");
    }
}

#[tokio::test]
async fn faults_that_are_left_are_shown_and_removed() {
    let app = TestApp::start().await;
    let (user, other) = (app.user().await, app.user().await);
    for name in networks::all() {
        let account = user.connect(name).await;
        let path = format!("/api/v1/sandbox/{name}/faults?account_id={account}");
        assert_eq!(user.get(&path).await.expect(200).body["faults"], json!([]));
        let faults = json!([
            {"on": "commit", "kind": "status", "status": 400},
            {"on": "confirm", "kind": "delay", "ms": 1, "times": 7},
        ]);
        user.faults(name, account, faults).await;
        let mut left = user.get(&path).await.expect(200).body;
        // Readings of the new account meet the second one, too.
        let times = left["faults"][1]["times"].as_u64();
        assert!(times.is_some_and(|times| (1..=7).contains(&times)), "{name}: {left:#}");
        left["faults"][1]["times"] = json!(7);
        let expected = json!({"account_id": account, "empty_because": null, "faults": [
            {"on": "commit", "kind": "status", "status": 400, "times": 1},
            {"on": "confirm", "kind": "delay", "ms": 1, "times": 7},
        ]});
        assert_eq!(left, expected, "{name}");
        for answer in [other.get(&path).await, other.delete(&path).await] {
            let _ = answer.refused(404, "account_not_found");
        }
        let met = networks::publish(&app, &user, networks::post(name, account)).await;
        // TikTok's answer to the last piece of an upload is not its last word: what became of it is asked afterwards.
        let ended = if name == "tiktok" { "published" } else { "failed" };
        assert_eq!(met["status"], ended, "{name}: {met:#}");
        let left = user.get(&path).await.expect(200).body["faults"].clone();
        assert!(left.as_array().unwrap().iter().all(|fault| fault["on"] == "confirm"), "{left}");

        // Some networks word the loss of an account like this.
        let account = user.connect(name).await;
        let path = format!("/api/v1/sandbox/{name}/faults?account_id={account}");
        user.faults(name, account, json!([{"kind": "status", "status": 400, "times": 9}])).await;
        assert_eq!(user.delete(&path).await.expect(200).body["faults"], json!([]), "{name}");
        assert_eq!(user.get(&path).await.expect(200).body["faults"], json!([]), "{name}");
        let sent = networks::publish(&app, &user, networks::post(name, account)).await;
        assert_eq!(sent["status"], "published", "{name}: {sent:#}");
    }
}

/// Returns a time as milliseconds since 1970.
fn millis(time: &Value) -> i64 {
    chrono::DateTime::parse_from_rfc3339(time.as_str().unwrap()).unwrap().timestamp_millis()
}

#[tokio::test]
async fn a_clock_moves_the_networks_of_one_workspace_alone() {
    const DAYS: i64 = 3 * 86_400;
    let app = TestApp::start().await;
    let (user, other) = (app.user().await, app.user().await);
    let path = "/api/v1/sandbox/clock";
    let right = user.get(path).await.expect(200).body;
    assert_eq!(right["ahead_seconds"], 0);
    let set = user.put(path, json!({"ahead_seconds": DAYS})).await.expect(200).body;
    assert_eq!(set["ahead_seconds"], DAYS);
    let moved = millis(&set["now"]) - millis(&right["now"]);
    assert!((DAYS * 1_000..DAYS * 1_000 + 60_000).contains(&moved), "{moved}");
    assert_eq!(user.get(path).await.expect(200).body["ahead_seconds"], DAYS);
    assert_eq!(other.get(path).await.expect(200).body["ahead_seconds"], 0);
    for name in networks::all() {
        for (caller, ahead) in [(&user, DAYS), (&other, 0)] {
            let account = caller.connect(name).await;
            let begun = app.clock.now();
            let sent = networks::publish(&app, caller, networks::post(name, account)).await;
            assert_eq!(sent["status"], "published", "{name}: {sent:#}");
            let made =
                millis(&caller.on_network(name, account).await[0]["created_at"]) - ahead * 1_000;
            // However long it took: publishing lets time pass where an attempt fails on a busy machine.
            let during = begun - 60_000..app.clock.now() + 60_000;
            assert!(during.contains(&made), "{name}, {ahead} s ahead: {made} is not in {during:?}");
        }
    }
    // An account whose token ended in those days gets a fresh one, or must be connected again.
    let account = other.connect("x").await;
    let _ = other.put(path, json!({"ahead_seconds": DAYS})).await.expect(200);
    let sent = networks::publish(&app, &other, networks::post("x", account)).await;
    assert_eq!(sent["status"], "published", "{sent:#}");
    for wrong in [json!(-1), json!(315_360_001), json!(1.5), json!("soon"), json!(null)] {
        let refused = user.put(path, json!({ "ahead_seconds": wrong })).await;
        let refused = refused.refused(400, "invalid_field");
        assert_eq!(refused.body["validation_errors"][0]["field"], "ahead_seconds", "{wrong}");
    }
    let _ = user.put(path, json!({})).await.refused(400, "field_required");
    let back = user.put(path, json!({"ahead_seconds": 0})).await.expect(200).body;
    assert_eq!(back["ahead_seconds"], 0);
}
