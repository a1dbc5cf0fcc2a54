//! X: consent with PKCE, codes of half a minute, tokens that rotate.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::{Client, redirect};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Account, Got, Net, send};

const BACK: &str = "http://127.0.0.1/back";
const VERIFIER: &str = "a-verifier-that-nobody-has-guessed-so-far-0123456789";

/// Walks through the page as a person who chooses `account`; gives the query of the way back.
async fn consent(account: &Account, chosen: &str) -> Vec<(String, String)> {
    let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    let query = [
        ("client_id", "1"),
        ("redirect_uri", BACK),
        ("response_type", "code"),
        ("scope", "tweet.read users.read tweet.write offline.access"),
        ("state", "s&1"),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ];
    let url = format!("{}/i/oauth2/authorize", account.base);
    assert_eq!(send(client.get(&url).query(&query[..5])).await.status, 400, "no challenge");
    let page = send(client.get(&url).query(&query)).await;
    assert!(page.status == 200 && page.text.contains(&account.username));
    let answer = send(client.get(&url).query(&query).query(&[("account", chosen)])).await;
    let location = answer.headers["location"].to_str().unwrap();
    url::Url::parse(location).unwrap().query_pairs().into_owned().collect()
}

fn param(query: &[(String, String)], name: &str) -> String {
    query.iter().find(|(key, _)| key == name).unwrap().1.clone()
}

async fn token(net: &Net, account: &Account, form: &[(&str, &str)]) -> Got {
    let url = format!("{}/2/oauth2/token", account.base);
    send(net.client.post(url).basic_auth("1", Some("s")).form(form)).await
}

async fn exchange(net: &Net, account: &Account, code: &str, verifier: &str) -> Got {
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", BACK),
        ("code_verifier", verifier),
    ];
    token(net, account, &form).await
}

async fn refresh(net: &Net, account: &Account, refresh: &str) -> Got {
    token(net, account, &[("grant_type", "refresh_token"), ("refresh_token", refresh)]).await
}

async fn me(net: &Net, account: &Account, token: &str) -> u16 {
    send(net.client.get(format!("{}/2/users/me", account.base)).bearer_auth(token)).await.status
}

fn text(body: &Value, name: &str) -> String {
    body[name].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_code_is_good_once_for_half_a_minute_and_with_its_verifier() {
    let net = Net::new().await;
    let account = net.account("x").await;
    let back = consent(&account, &account.remote_id).await;
    assert_eq!(param(&back, "state"), "s&1");
    let code = param(&back, "code");
    exchange(&net, &account, &code, "another").await.is(400);
    let tokens = exchange(&net, &account, &code, VERIFIER).await.is(200);
    assert_eq!((&tokens["expires_in"], &tokens["token_type"]), (&json!(7_200), &json!("bearer")));
    assert_eq!(me(&net, &account, &text(&tokens, "access_token")).await, 200);
    exchange(&net, &account, &code, VERIFIER).await.is(400);
    let late = param(&consent(&account, &account.remote_id).await, "code");
    net.settings(json!({"clock_offset_ms": 30_000})).await;
    exchange(&net, &account, &late, VERIFIER).await.is(400);
    assert_eq!(param(&consent(&account, "none").await, "error"), "access_denied");
    let url = format!("{}/2/oauth2/token", account.base);
    let nobody = net.client.post(url).form(&[("grant_type", "refresh_token")]);
    assert_eq!(send(nobody).await.is(401)["error"], "unauthorized_client");
}

#[tokio::test]
async fn refresh_tokens_rotate_and_a_stolen_one_ends_them_all() {
    let net = Net::new().await;
    let account = net.account("x").await;
    let first = account.credential("refresh_token").to_owned();
    assert_eq!(me(&net, &account, account.credential("access_token")).await, 200);
    net.settings(json!({"clock_offset_ms": 7_200_000})).await;
    assert_eq!(me(&net, &account, account.credential("access_token")).await, 401);
    let fresh = refresh(&net, &account, &first).await.is(200);
    assert_eq!(me(&net, &account, &text(&fresh, "access_token")).await, 200);
    let next = refresh(&net, &account, &text(&fresh, "refresh_token")).await.is(200);
    refresh(&net, &account, &first).await.is(400);
    assert_eq!(me(&net, &account, &text(&next, "access_token")).await, 401);
    refresh(&net, &account, &text(&next, "refresh_token")).await.is(400);
}

#[tokio::test]
async fn a_token_is_given_back() {
    let net = Net::new().await;
    let account = net.account("x").await;
    let url = format!("{}/2/oauth2/revoke", account.base);
    let token = account.credential("refresh_token");
    let give = net.client.post(url).basic_auth("1", Some("s")).form(&[("token", token)]);
    assert_eq!(send(give).await.is(200)["revoked"], true);
    assert_eq!(me(&net, &account, account.credential("access_token")).await, 401);
    refresh(&net, &account, token).await.is(400);
}

#[tokio::test]
async fn an_expired_token_fault_ends_with_a_refresh() {
    let net = Net::new().await;
    let account = net.account("x").await;
    net.faults(&account, json!([{"on": "read", "kind": "token_expired"}])).await;
    let old = account.credential("access_token");
    assert_eq!((me(&net, &account, old).await, me(&net, &account, old).await), (401, 401));
    let fresh = refresh(&net, &account, account.credential("refresh_token")).await.is(200);
    assert_eq!(me(&net, &account, &text(&fresh, "access_token")).await, 200);
}
