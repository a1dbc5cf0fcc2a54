//! The way to tokens on networks that ask a person: the page, codes that are good once, and what is refused.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::{Client, redirect};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Account, BACK, Got, Net, send};

const VERIFIER: &str = "a-verifier-that-nobody-else-knows-0123456789";

/// The paths of each network's page and tokens.
const PLACES: [(&str, &str, &str); 2] = [
    ("mastodon", "oauth/authorize", "oauth/token"),
    ("slack", "oauth/v2/authorize", "api/oauth.v2.access"),
];

/// Returns the address the page sends a person to who continues as `id`.
async fn choose(account: &Account, page: &str, id: &str) -> String {
    let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER.as_bytes()));
    let query = [
        ("client_id", "app"),
        ("redirect_uri", BACK),
        ("response_type", "code"),
        ("scope", "all of it"),
        ("state", "s1"),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
        ("account", id),
    ];
    let got = send(client.get(format!("{}/{page}", account.base)).query(&query)).await;
    assert_eq!(got.status, 302, "{}", got.text);
    got.headers["location"].to_str().unwrap().to_owned()
}

async fn exchange(
    net: &Net,
    account: &Account,
    place: &str,
    code: &str,
    change: (&str, &str),
) -> Got {
    let mut form = vec![
        ("grant_type", "authorization_code"),
        ("client_id", "app"),
        ("client_secret", "secret"),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
        ("code", code),
    ];
    if let Some(field) = form.iter_mut().find(|field| field.0 == change.0) {
        field.1 = change.1;
    }
    send(net.client.post(format!("{}/{place}", account.base)).form(&form)).await
}

#[tokio::test]
async fn a_code_is_good_once_for_whoever_asked_for_it() {
    let net = Net::new().await;
    for (platform, page, tokens) in PLACES {
        let account = net.account(platform).await;
        let shown = net.client.get(format!("{}/{page}", account.base));
        let asked = [
            ("client_id", "app"),
            ("redirect_uri", BACK),
            ("response_type", "code"),
            ("scope", "all of it"),
        ];
        let shown = send(shown.query(&asked)).await;
        assert!(shown.status == 200 && shown.text.contains(&account.username), "{platform}");
        let denied = choose(&account, page, "none").await;
        assert!(denied.contains("error=access_denied") && denied.contains("state=s1"), "{denied}");
        let code = async || {
            let back = choose(&account, page, &account.remote_id).await;
            assert!(back.starts_with(BACK) && back.contains("state=s1"), "{back}");
            back.split("code=").nth(1).unwrap().to_owned()
        };
        let good = code().await;
        let got = exchange(&net, &account, tokens, &good, ("", "")).await.is(200);
        assert!(got["access_token"].as_str().is_some_and(|token| token.len() > 20), "{platform}");
        let refused =
            |got: Got| got.body["access_token"] == Value::Null && got.body["error"].is_string();
        assert!(
            refused(exchange(&net, &account, tokens, &good, ("", "")).await),
            "{platform}: twice"
        );
        for change in [
            ("redirect_uri", "https://other.example"),
            ("client_id", "other"),
            ("code_verifier", "other"),
            ("client_secret", ""),
        ] {
            let code = code().await;
            assert!(
                refused(exchange(&net, &account, tokens, &code, change).await),
                "{platform}: {change:?}"
            );
        }
        let late = code().await;
        net.settings(json!({"clock_offset_ms": 601_000})).await;
        assert!(
            refused(exchange(&net, &account, tokens, &late, ("", "")).await),
            "{platform}: late"
        );
        net.settings(json!({"clock_offset_ms": 0})).await;
    }
}

#[tokio::test]
async fn an_instance_takes_apps_on_its_list() {
    let net = Net::new().await;
    let account = net.account("mastodon").await;
    let url = format!("{}/api/v1/apps", account.base);
    let form = |scopes: &'static str| {
        [("client_name", "Fanfare"), ("redirect_uris", BACK), ("scopes", scopes)]
    };
    let made =
        send(net.client.post(&url).form(&form("read:accounts write:statuses"))).await.is(200);
    assert!(made["client_id"].is_string() && made["client_secret"].is_string());
    send(net.client.post(&url).form(&form("write:everything"))).await.is(422);
    send(net.client.post(&url).form(&[("client_name", "Fanfare")])).await.is(422);
}
