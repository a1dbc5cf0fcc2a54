//! The control API and the pages.

use reqwest::Method;
use serde_json::{Value, json};

use crate::bluesky::{Pds, TIDS, record};
use crate::harness::{Net, send};

#[tokio::test]
async fn accounts_are_made_listed_and_revoked() {
    let net = Net::new().await;
    for platform in net.control(Method::GET, "platforms", Value::Null).await.is(200)["platforms"]
        .as_array()
        .unwrap()
    {
        let platform = platform.as_str().unwrap();
        let path = format!("{platform}/accounts");
        let made =
            net.control(Method::POST, &path, json!({"username": "quietlantern"})).await.is(201);
        assert!(made["username"].as_str().unwrap().contains("quiet"), "{made}");
        assert!(!made["credentials"].as_object().unwrap().is_empty());
        let again =
            net.control(Method::POST, &path, json!({"username": "quietlantern"})).await.is(400);
        assert_eq!(
            (&again["code"], &again["field"]),
            (&json!("username_taken"), &json!("username"))
        );
        let (one, two) = (net.account(platform).await, net.account(platform).await);
        assert_ne!(one.username, two.username);
        let listed = net.control(Method::GET, &path, Value::Null).await.is(200);
        let names: Vec<_> = listed["accounts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|a| a["username"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(names[1..], [one.username.clone(), two.username.clone()]);
        assert!(listed["accounts"][0]["credentials"].is_null(), "secrets are shown once");
        assert!(net.posts(&one).await.is_empty());

        let gone = format!("{path}/{}", one.remote_id);
        net.control(Method::DELETE, &gone, Value::Null).await.is(200);
        net.control(Method::DELETE, &gone, Value::Null).await.is(404);
        net.control(
            Method::GET,
            &format!("{platform}/posts?remote_id={}", one.remote_id),
            Value::Null,
        )
        .await
        .is(404);
    }
}

#[tokio::test]
async fn a_clock_is_a_realms_own() {
    let net = Net::new().await;
    let ahead = json!({"ahead_seconds": 61 * 86_400});
    let set = net.control(Method::PUT, "clock?realm=early", ahead).await.is(200);
    assert_eq!(set["ahead_seconds"], 61 * 86_400);
    for (realm, ahead) in [("early", 61 * 86_400), ("shared", 0)] {
        let path = format!("clock?realm={realm}");
        let shown = net.control(Method::GET, &path, Value::Null).await.is(200);
        assert_eq!(shown["ahead_seconds"], ahead, "{realm}");
        // An account is as old as its network says, so its token has not ended.
        let path = format!("linkedin/accounts?realm={realm}");
        let made = net.control(Method::POST, &path, Value::Null).await.is(201);
        let day = |time: &Value| time.as_str().unwrap()[..10].to_owned();
        assert_eq!(day(&made["created_at"]), day(&shown["now"]), "{realm}");
        let token = made["credentials"]["access_token"].as_str().unwrap();
        let me = format!("{}/v2/userinfo", made["base_url"].as_str().unwrap());
        send(net.client.get(&me).bearer_auth(token)).await.is(200);
        let later = json!({"ahead_seconds": ahead + 61 * 86_400});
        net.control(Method::PUT, &format!("clock?realm={realm}"), later).await.is(200);
        send(net.client.get(&me).bearer_auth(token)).await.is(401);
        let back = json!({ "ahead_seconds": ahead });
        net.control(Method::PUT, &format!("clock?realm={realm}"), back).await.is(200);
        send(net.client.get(&me).bearer_auth(token)).await.is(200);
    }
    for wrong in [json!(-1), json!(315_360_001)] {
        let body = json!({ "ahead_seconds": wrong });
        let refused = net.control(Method::PUT, "clock", body).await.is(400);
        assert_eq!(refused["field"], "ahead_seconds");
    }
    net.control(Method::PUT, "clock?realm=A/B", json!({"ahead_seconds": 1})).await.is(400);
}

#[tokio::test]
async fn bad_control_requests_are_refused() {
    let net = Net::new().await;
    let account = net.account("bluesky").await;
    assert_eq!(
        net.control(Method::POST, "nowhere/accounts", Value::Null).await.is(404)["code"],
        "platform_not_found"
    );
    net.control(Method::POST, "bluesky/accounts", json!({"user": "x"})).await.is(400);
    net.control(Method::POST, "bluesky/accounts", json!({"username": "???"})).await.is(400);
    net.control(Method::GET, "bluesky/posts", Value::Null).await.is(400);
    let faults = |id: &str, faults: Value| {
        net.control(Method::PUT, "bluesky/faults", json!({"remote_id": id, "faults": faults}))
    };
    // The client is the same, so the futures run one after the other.
    faults("did:plc:nobody", json!([])).await.is(404);
    faults(&account.remote_id, json!([{"kind": "explode"}])).await.is(400);
    faults(&account.remote_id, json!([{"kind": "status", "status": 200}])).await.is(400);
    faults(&account.remote_id, json!([{"kind": "reset", "on": "never"}])).await.is(400);
}

#[tokio::test]
async fn calls_are_logged_with_their_phase() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    pds.write(TIDS[0], record("logged")).await.is(200);
    pds.write(TIDS[1], json!({})).await.is(400);
    send(pds.get(&format!("com.atproto.repo.describeRepo?repo={}", pds.account.remote_id)))
        .await
        .is(200);
    let calls = net.calls(&pds.account).await;
    let seen: Vec<_> = calls
        .iter()
        .map(|c| (c["phase"].as_str().unwrap(), c["status"].as_u64().unwrap()))
        .collect();
    assert_eq!(seen, [("prepare", 200), ("commit", 200), ("commit", 400), ("read", 200)]);
    assert_eq!(calls[1]["method"], "POST");
    assert_eq!(calls[1]["path"], "/xrpc/com.atproto.repo.applyWrites");
    assert!(calls[1]["at"].as_str().unwrap().ends_with('Z'));
}

#[tokio::test]
async fn a_realms_page_leads_to_its_networks() {
    let net = Net::new().await;
    let account = net.account("bluesky").await;
    let front = send(net.client.get(net.url("shared"))).await;
    assert_eq!(front.status, 200);
    assert!(front.text.contains(&format!("{}/ui", account.base)));
    let network = send(net.client.get(format!("{}/ui", account.base))).await;
    assert!(network.text.contains(&account.username));
    assert_eq!(send(net.client.get(net.url("nothing/here"))).await.status, 404);
}
