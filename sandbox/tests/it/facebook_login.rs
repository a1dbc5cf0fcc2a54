//! Facebook: a person's consent, the tokens of a person and of pages, and how they end.

use reqwest::{Client, redirect};
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, send};

const BACK: &str = "http://127.0.0.1/back";

/// Walks through the dialog as a person who chooses `account`; gives the query of the way back.
async fn consent(page: &Account, account: &str, declined: &str) -> Vec<(String, String)> {
    let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
    let query = [
        ("client_id", "1"),
        ("redirect_uri", BACK),
        ("response_type", "code"),
        ("scope", "pages_show_list,pages_manage_posts"),
        ("state", "s&1"),
    ];
    let dialog = format!("{}/v25.0/dialog/oauth", page.base);
    let shown = send(client.get(&dialog).query(&query)).await;
    assert!(shown.status == 200 && shown.text.contains(&page.username));
    let choose = [("account", account), ("declined", declined)];
    let answer = send(client.get(&dialog).query(&query).query(&choose)).await;
    let location = answer.headers["location"].to_str().unwrap();
    url::Url::parse(location).unwrap().query_pairs().into_owned().collect()
}

fn param(query: &[(String, String)], name: &str) -> String {
    query.iter().find(|(key, _)| key == name).unwrap().1.clone()
}

async fn exchange(net: &Net, page: &Account, query: &[(&str, &str)]) -> Got {
    let app = [("client_id", "1"), ("client_secret", "s")];
    let url = format!("{}/v25.0/oauth/access_token", page.base);
    send(net.client.get(url).query(&app).query(query)).await
}

async fn get(net: &Net, page: &Account, token: &str, path: &str, fields: &str) -> Got {
    let url = format!("{}/v25.0/{path}", page.base);
    send(net.client.get(url).query(&[("fields", fields)]).bearer_auth(token)).await
}

fn token(body: &Value) -> String {
    body["access_token"].as_str().unwrap().to_owned()
}

/// A token of 60 days of a person who chose this account.
async fn lasting(net: &Net, page: &Account, account: &str, declined: &str) -> String {
    let code = param(&consent(page, account, declined).await, "code");
    let short = exchange(net, page, &[("code", &code), ("redirect_uri", BACK)]).await.is(200);
    let query = [("grant_type", "fb_exchange_token"), ("fb_exchange_token", &*token(&short))];
    let long = exchange(net, page, &query).await.is(200);
    assert_eq!(long["expires_in"], 5_184_000);
    token(&long)
}

#[tokio::test]
async fn a_person_ticks_pages_and_each_has_its_token() {
    let net = Net::new().await;
    let (one, two) = (net.account("facebook").await, net.account("facebook").await);
    let person = lasting(&net, &one, "all", "").await;
    let pages = get(&net, &one, &person, "me/accounts", "id,name,access_token").await.is(200);
    let pages = pages["data"].as_array().unwrap();
    assert_eq!(pages.len(), 2);
    assert_eq!(token(&pages[1]), two.credential("access_token"));
    let me = get(&net, &one, &token(&pages[0]), "me", "id,name").await.is(200);
    assert_eq!(me["id"], one.remote_id.as_str());
    let posts = format!("{}/published_posts", one.remote_id);
    let refused = get(&net, &one, &person, &posts, "id").await;
    assert_eq!(refused.is(403)["error"]["error_subcode"], 2_069_032);
    let url = format!("{}/v25.0/me/accounts", one.base);
    let first = net.client.get(&url).query(&[("limit", "1"), ("fields", "id")]);
    let first = send(first.bearer_auth(&person)).await.is(200);
    assert!(first["paging"]["next"].is_string());
    let after = first["paging"]["cursors"]["after"].as_str().unwrap();
    let rest = net.client.get(&url).query(&[("after", after), ("fields", "id")]);
    let rest = send(rest.bearer_auth(&person)).await.is(200);
    assert_eq!(rest["data"][0]["id"], two.remote_id.as_str());
}

#[tokio::test]
async fn a_code_is_good_once_and_for_its_address() {
    let net = Net::new().await;
    let page = net.account("facebook").await;
    let back = consent(&page, &page.remote_id, "").await;
    assert_eq!(param(&back, "state"), "s&1");
    let code = param(&back, "code");
    let with = async |redirect: &str| {
        exchange(&net, &page, &[("code", &code), ("redirect_uri", redirect)]).await
    };
    assert_eq!(with("http://127.0.0.1/other").await.is(400)["error"]["error_subcode"], 36_008);
    with(BACK).await.is(200);
    assert_eq!(with(BACK).await.is(400)["error"]["error_subcode"], 36_009);
    let denied = consent(&page, "none", "").await;
    assert_eq!(param(&denied, "error"), "access_denied");
}

#[tokio::test]
async fn what_was_kept_back_is_told() {
    let net = Net::new().await;
    let page = net.account("facebook").await;
    let person = lasting(&net, &page, &page.remote_id, "pages_manage_posts").await;
    let told = get(&net, &page, &person, "me/permissions", "").await.is(200);
    let expected = json!([
        {"permission": "pages_show_list", "status": "granted"},
        {"permission": "pages_manage_posts", "status": "declined"},
    ]);
    assert_eq!(told["data"], expected);
}

#[tokio::test]
async fn a_person_token_ends_and_a_page_token_is_taken_away() {
    let net = Net::new().await;
    let page = net.account("facebook").await;
    let person = lasting(&net, &page, &page.remote_id, "").await;
    let own = page.credential("access_token");
    net.settings(json!({"clock_offset_ms": 60_u64 * 86_400_000 + 1_000})).await;
    let ended = get(&net, &page, &person, "me", "id").await.is(400)["error"].clone();
    assert_eq!((ended["code"].as_u64(), ended["error_subcode"].as_u64()), (Some(190), Some(463)));
    get(&net, &page, own, "me", "id").await.is(200);
    let fresh = lasting(&net, &page, &page.remote_id, "").await;
    let url = format!("{}/v25.0/me/permissions", page.base);
    send(net.client.delete(url).bearer_auth(&fresh)).await.is(200);
    let gone = get(&net, &page, own, "me", "id").await.is(400)["error"].clone();
    assert_eq!((gone["code"].as_u64(), gone["error_subcode"].as_u64()), (Some(190), Some(458)));
    lasting(&net, &page, &page.remote_id, "").await;
    get(&net, &page, own, "me", "id").await.is(200);
    assert_eq!(get(&net, &page, "EAAnonsense", "me", "id").await.is(401)["error"]["code"], 190);
}
