//! Threads: consent, tokens, their ends.

use reqwest::{Client, redirect};
use serde_json::json;

use crate::harness::{Net, send};
use crate::threads::{contain, get};

#[tokio::test]
async fn tokens_expire_and_are_refreshed() {
    let net = Net::new().await;
    let account = net.account("threads").await;
    let me = get(&net, &account, "me", "id,username").await.is(200);
    assert_eq!(
        (me["id"].as_str(), me["username"].as_str()),
        (Some(account.remote_id.as_str()), Some(account.username.as_str()))
    );
    let token = account.credential("access_token").to_owned();
    let refresh = async |token: &str| {
        let query = [("grant_type", "th_refresh_token"), ("access_token", token)];
        send(net.client.get(format!("{}/refresh_access_token", account.base)).query(&query)).await
    };
    refresh(&token).await.is(400);
    net.settings(json!({"clock_offset_ms": 86_400_000})).await;
    let fresh = refresh(&token).await.is(200);
    assert_eq!(fresh["expires_in"], 5_184_000);
    net.settings(json!({"clock_offset_ms": 60_u64 * 86_400_000 + 1_000})).await;
    let expired = get(&net, &account, "me", "id").await.is(400)["error"].clone();
    assert_eq!(
        (expired["code"].as_u64(), expired["error_subcode"].as_u64()),
        (Some(190), Some(463))
    );
    refresh(&token).await.is(400);
    refresh(fresh["access_token"].as_str().unwrap()).await.is(200);

    let url = format!("{}/v1.0/me", account.base);
    assert_eq!(
        send(net.client.get(&url).query(&[("access_token", "nonsense")])).await.is(401)["error"]["code"],
        190
    );
    assert_eq!(send(net.client.get(&url)).await.is(400)["error"]["code"], 104);
}

#[tokio::test]
async fn an_expired_token_fault_stays() {
    let net = Net::new().await;
    let account = net.account("threads").await;
    net.faults(&account, json!([{"on": "prepare", "kind": "token_expired"}])).await;
    for _ in 0..2 {
        let got = contain(&net, &account, &[("media_type", "TEXT"), ("text", "x")]).await.is(400);
        assert_eq!(got["error"]["code"], 190);
    }
    net.faults(&account, json!([])).await;
    contain(&net, &account, &[("media_type", "TEXT"), ("text", "x")]).await.is(200);
}

#[tokio::test]
async fn a_person_consents_and_the_code_becomes_a_token() {
    let net = Net::new().await;
    let account = net.account("threads").await;
    let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
    let authorize = format!("{}/oauth/authorize", account.base);
    let back = "http://127.0.0.1/back";
    let query = [
        ("client_id", "1"),
        ("redirect_uri", back),
        ("response_type", "code"),
        ("scope", "threads_basic"),
        ("state", "s&1"),
    ];
    let page = send(client.get(&authorize).query(&query)).await;
    assert!(page.status == 200 && page.text.contains(&account.username));
    let chosen = client.get(&authorize).query(&query).query(&[("account", &account.remote_id)]);
    let location = send(chosen).await.headers["location"].to_str().unwrap().to_owned();
    let url = url::Url::parse(&location).unwrap();
    let param = |name: &str| {
        url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    };
    assert_eq!(param("state").as_deref(), Some("s&1"));
    let code = param("code").unwrap();
    let exchange = || {
        let form = [
            ("client_id", "1"),
            ("client_secret", "s"),
            ("grant_type", "authorization_code"),
            ("redirect_uri", back),
            ("code", &code),
        ];
        send(client.post(format!("{}/oauth/access_token", account.base)).form(&form))
    };
    let short = exchange().await.is(200);
    assert_eq!(short["user_id"].to_string(), account.remote_id);
    exchange().await.is(400);
    let query = [
        ("grant_type", "th_exchange_token"),
        ("client_secret", "s"),
        ("access_token", short["access_token"].as_str().unwrap()),
    ];
    let long =
        send(client.get(format!("{}/access_token", account.base)).query(&query)).await.is(200);
    assert_eq!(long["expires_in"], 5_184_000);
    let me = client
        .get(format!("{}/v1.0/me", account.base))
        .query(&[("access_token", long["access_token"].as_str().unwrap())]);
    assert_eq!(send(me).await.is(200)["id"], account.remote_id.as_str());
    let denied = [
        ("client_id", "1"),
        ("redirect_uri", back),
        ("response_type", "code"),
        ("scope", "threads_basic"),
        ("account", "none"),
    ];
    let location = send(client.get(&authorize).query(&denied)).await.headers["location"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(location.contains("error=access_denied"));
}
