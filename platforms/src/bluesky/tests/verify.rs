use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::{DID, account, secrets, xrpc_error};
use crate::{
    Account, ErrorKind, Platform, Secrets,
    bluesky::Bluesky,
    tests::test_server::{Network, Seen, at},
};

/// A token that ends 7,200 s after [`at`] 0.
fn token() -> String {
    let claims = json!({"exp": at(7_200).timestamp()}).to_string();
    format!("head.{}.sign", URL_SAFE_NO_PAD.encode(claims))
}

fn logged_in() -> (u16, Value) {
    let service = json!([{"id": "#atproto_pds", "serviceEndpoint": "https://pds.example"}]);
    (
        200,
        json!({
            "did": DID, "handle": "me.example", "accessJwt": token(), "refreshJwt": "next-refresh",
            "didDoc": {"service": service}, "active": true,
        }),
    )
}

fn given() -> Secrets {
    Secrets::new().with("identifier", " @me.example ").with("app_password", "abcd-efgh")
}

#[tokio::test]
async fn connecting_stores_the_session_beside_the_credentials() {
    let network = Network::start(|_| logged_in()).await;
    let session = network.session(Account::default(), given());
    let identity = Bluesky.verify(&session).await.unwrap();
    assert_eq!((identity.remote_id.as_str(), identity.username.as_str()), (DID, "me.example"));
    let meta = json!({"did": DID, "handle": "me.example", "pds": "https://pds.example"});
    assert_eq!(Value::Object(identity.meta), meta);
    let names: Vec<String> = identity.secrets.to_pairs().into_keys().collect();
    assert_eq!(names, ["access_jwt", "app_password", "identifier", "refresh_jwt"]);
    assert_eq!(identity.expires_at, Some(at(7_200)));
    let seen = &network.seen()[0];
    assert_eq!(seen.line, "POST /net/xrpc/com.atproto.server.createSession");
    assert_eq!(seen.json(), json!({"identifier": "me.example", "password": "abcd-efgh"}));
}

#[tokio::test]
async fn what_keeps_an_account_from_connecting_is_told_apart() {
    let deactivated = {
        let (status, mut body) = logged_in();
        body["active"] = json!(false);
        body["status"] = json!("deactivated");
        (status, body)
    };
    let cases = [
        (xrpc_error(401, "AuthenticationRequired"), ErrorKind::InvalidCredentials),
        (xrpc_error(401, "AuthFactorTokenRequired"), ErrorKind::InvalidCredentials),
        (xrpc_error(401, "AccountTakedown"), ErrorKind::InvalidCredentials),
        (deactivated, ErrorKind::InvalidCredentials),
        ((404, json!("no such page")), ErrorKind::InvalidCredentials),
        (xrpc_error(500, "InternalServerError"), ErrorKind::Unreachable),
        ((200, json!("not a session")), ErrorKind::Unreachable),
    ];
    for (answer, kind) in cases {
        let shown = answer.1.to_string();
        let network = Network::start(move |_| answer.clone()).await;
        let session = network.session(Account::default(), given());
        let error = Bluesky.verify(&session).await.unwrap_err();
        assert_eq!(error.kind, kind, "{shown}: {error}");
    }
}

#[tokio::test]
async fn the_main_password_brings_a_hint_to_app_passwords() {
    let network = Network::start(|_| xrpc_error(401, "AuthFactorTokenRequired")).await;
    let session = network.session(Account::default(), given());
    let error = Bluesky.verify(&session).await.unwrap_err();
    assert!(error.remedy.is_some_and(|remedy| remedy.contains("app password")));
}

#[tokio::test]
async fn a_server_of_ones_own_passes_the_guard_like_any_address_a_user_gives() {
    let network = Network::start(|_| logged_in()).await;
    let with = |service: &str| {
        let mut session = network.session(Account::default(), given().with("service", service));
        session.base = None;
        session
    };
    for service in
        ["https://127.0.0.1", "https://10.0.0.1", "http://pds.example", "ftp://x", "https://x?y"]
    {
        let error = Bluesky.verify(&with(service)).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidCredentials, "{service}: {error}");
    }
    assert_eq!(network.seen().len(), 0);
}

#[tokio::test]
async fn a_configured_base_replaces_the_server_of_the_credentials() {
    let network = Network::start(|_| logged_in()).await;
    let given = given().with("service", "http://127.0.0.1:8080/sandbox/bluesky/");
    let identity = Bluesky.verify(&network.session(Account::default(), given)).await.unwrap();
    assert_eq!((identity.remote_id.as_str(), network.seen().len()), (DID, 1));
}

/// Answers a refresh and a log-in, each with its own.
async fn server(refresh: (u16, Value), log_in: (u16, Value)) -> Network {
    Network::start(move |seen: &Seen| {
        if seen.line.ends_with("refreshSession") { refresh.clone() } else { log_in.clone() }
    })
    .await
}

#[tokio::test]
async fn refreshing_uses_the_refresh_token_and_keeps_the_credentials() {
    let network = server(logged_in(), xrpc_error(500, "NotToBeAsked")).await;
    let fresh = Bluesky.refresh(&network.session(account(), secrets())).await.unwrap().unwrap();
    assert_eq!(fresh.secrets.expose("refresh_jwt"), "next-refresh");
    assert_eq!(fresh.secrets.expose("app_password"), "abcd-efgh");
    assert_eq!(fresh.expires_at, Some(at(7_200)));
    let seen = network.seen();
    assert_eq!(seen.len(), 1);
    assert!(seen[0].head.contains("authorization: bearer refresh-token"));
}

#[tokio::test]
async fn only_an_ended_refresh_token_leads_to_a_log_in() {
    for code in ["ExpiredToken", "InvalidToken"] {
        let network = server(xrpc_error(400, code), logged_in()).await;
        let fresh = Bluesky.refresh(&network.session(account(), secrets())).await.unwrap().unwrap();
        assert_eq!(fresh.secrets.expose("access_jwt"), token());
        assert_eq!(network.seen().len(), 2);
    }
    let network = server(xrpc_error(503, "UpstreamFailure"), logged_in()).await;
    let error = Bluesky.refresh(&network.session(account(), secrets())).await.unwrap_err();
    assert_eq!((error.kind, network.seen().len()), (ErrorKind::Server, 1));
}

#[tokio::test]
async fn a_log_in_that_is_refused_asks_to_reconnect() {
    let expired = || xrpc_error(400, "ExpiredToken");
    for code in ["AuthenticationRequired", "AuthFactorTokenRequired", "AccountTakedown"] {
        let network = server(expired(), xrpc_error(401, code)).await;
        let error = Bluesky.refresh(&network.session(account(), secrets())).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Reconnect, "{code}");
    }
    let network = server(expired(), xrpc_error(429, "RateLimitExceeded")).await;
    let error = Bluesky.refresh(&network.session(account(), secrets())).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::RateLimited);
}

#[tokio::test]
async fn an_account_that_moved_names_its_new_server() {
    let (status, mut body) = logged_in();
    body["active"] = json!(false);
    body["status"] = json!("deactivated");
    for (before, moved) in [("https://old.example", true), ("https://pds.example", false)] {
        let network = server((status, body.clone()), xrpc_error(500, "NotToBeAsked")).await;
        let mut account = account();
        account.meta.insert("pds".to_owned(), json!(before));
        let error = Bluesky.refresh(&network.session(account, secrets())).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Reconnect);
        let remedy = error.remedy.unwrap();
        assert_eq!(remedy.contains("https://pds.example"), moved, "{remedy}");
    }
}
