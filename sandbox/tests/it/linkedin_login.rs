//! LinkedIn: consent, codes, tokens, their ends and their revocation.

use reqwest::{Client, redirect};
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, send};

const BACK: &str = "http://127.0.0.1/back";
const DAY: u64 = 86_400_000;

async fn me(net: &Net, account: &Account, token: &str) -> Got {
    send(net.client.get(format!("{}/v2/userinfo", account.base)).bearer_auth(token)).await
}

async fn token(net: &Net, account: &Account, fields: &[(&str, &str)]) -> Got {
    let mut form = vec![("client_id", "1"), ("client_secret", "s")];
    form.extend(fields);
    send(net.client.post(format!("{}/oauth/v2/accessToken", account.base)).form(&form)).await
}

/// Goes to the page on which a person grants, and back; answers the parameters that come back.
async fn granted(account: &Account, chosen: &str, scope: &str) -> Value {
    let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
    let query = [
        ("client_id", "1"),
        ("redirect_uri", BACK),
        ("response_type", "code"),
        ("scope", scope),
        ("state", "s&1"),
    ];
    let page = client.get(format!("{}/oauth/v2/authorization", account.base)).query(&query);
    let shown = send(page.try_clone().unwrap()).await;
    assert!(shown.status == 200 && shown.text.contains(&account.username), "{}", shown.text);
    let answer = send(page.query(&[("account", chosen)])).await;
    let location = url::Url::parse(answer.headers["location"].to_str().unwrap()).unwrap();
    location
        .query_pairs()
        .map(|(name, value)| (name.into_owned(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[tokio::test]
async fn a_person_consents_and_the_code_becomes_tokens() {
    let net = Net::new().await;
    let account = net.account("linkedin").await;
    let back = granted(&account, &account.remote_id, "openid profile w_member_social").await;
    assert_eq!(back["state"], "s&1");
    let code = back["code"].as_str().unwrap().to_owned();
    let fields =
        [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", BACK)];
    let other = [fields[0], fields[1], ("redirect_uri", "http://127.0.0.1/other")];
    token(&net, &account, &other).await.is(400);
    let tokens = token(&net, &account, &fields).await.is(200);
    assert_eq!(
        (tokens["expires_in"].as_u64(), tokens["refresh_token_expires_in"].as_u64()),
        (Some(5_184_000), Some(31_536_000))
    );
    token(&net, &account, &fields).await.is(400);
    let fresh = tokens["access_token"].as_str().unwrap();
    let sub = me(&net, &account, fresh).await.is(200)["sub"].clone();
    assert_eq!(account.remote_id, format!("urn:li:person:{}", sub.as_str().unwrap()));
    // A permission that was not asked for is not granted.
    let pages = net.client.get(format!("{}/rest/organizationAcls?q=roleAssignee", account.base));
    let pages = pages.header("linkedin-version", "202608");
    send(pages.bearer_auth(fresh)).await.is(403);

    let refused = granted(&account, "none", "openid").await;
    assert_eq!(refused["error"], "user_cancelled_authorize");
    let unknown = granted(&account, &account.remote_id, "openid everything").await;
    assert_eq!(unknown["error"], "unauthorized_scope_error");
}

#[tokio::test]
async fn tokens_end_are_refreshed_and_are_given_back() {
    let net = Net::new().await;
    let account = net.account("linkedin").await;
    let (access, refresh) =
        (account.credential("access_token"), account.credential("refresh_token"));
    net.settings(json!({"clock_offset_ms": 60 * DAY + 1_000})).await;
    assert_eq!(me(&net, &account, access).await.is(401)["serviceErrorCode"], 65_602);
    let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh)];
    let fresh = token(&net, &account, &fields).await.is(200);
    // Using a refresh token does not prolong it.
    assert_eq!(fresh["refresh_token"], refresh);
    assert!(fresh["refresh_token_expires_in"].as_u64().unwrap() < 306 * DAY / 1_000);
    let fresh = fresh["access_token"].as_str().unwrap().to_owned();
    me(&net, &account, &fresh).await.is(200);
    assert_eq!(me(&net, &account, refresh).await.is(401)["serviceErrorCode"], 65_600);

    let form = [("client_id", "1"), ("client_secret", "s"), ("token", refresh)];
    send(net.client.post(format!("{}/oauth/v2/revoke", account.base)).form(&form)).await.is(200);
    assert_eq!(me(&net, &account, &fresh).await.is(401)["serviceErrorCode"], 65_601);
    assert_eq!(token(&net, &account, &fields).await.is(400)["error"], "invalid_grant");
    assert_eq!(me(&net, &account, "nonsense").await.is(401)["serviceErrorCode"], 65_600);
}

#[tokio::test]
async fn an_expired_token_fault_lasts_until_the_token_is_refreshed() {
    let net = Net::new().await;
    let account = net.account("linkedin").await;
    net.faults(&account, json!([{"on": "read", "kind": "token_expired"}])).await;
    for _ in 0..2 {
        let told = me(&net, &account, account.credential("access_token")).await.is(401);
        assert_eq!(told["serviceErrorCode"], 65_602);
    }
    let refresh = account.credential("refresh_token");
    let fresh =
        token(&net, &account, &[("grant_type", "refresh_token"), ("refresh_token", refresh)])
            .await
            .is(200);
    me(&net, &account, fresh["access_token"].as_str().unwrap()).await.is(200);
}
