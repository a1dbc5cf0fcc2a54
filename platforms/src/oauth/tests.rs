//! The four calls against a network on loopback: what is sent, and what each answer means.

use std::time::Duration;

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{
    AuthorizationRequest, ClientAuth, Endpoint, Oauth, Permission, TokenCall, TokenExchange,
    TokenRenewal, access_token_expiry, authorize_url, exchange_code, missing_permissions,
    refresh_tokens, revoke,
};
use crate::{
    CredentialField, ErrorKind, Secrets, Session,
    tests::test_server::{self, Network, at},
};

const LEAVE: AuthorizationRequest<'_> = AuthorizationRequest {
    redirect_uri: "https://fanfare.example/connect/x/callback",
    state: "st4te",
    verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
};

const STANDARD: Oauth = Oauth {
    authorize: Endpoint::at("https://login.example", "/authorize"),
    authorize_extra: &[("access_type", "offline")],
    permissions: &[Permission::required("read", "Read"), Permission::optional("write", "Write")],
    pkce: true,
    token: Endpoint::at("https://api.example", "/token"),
    client_auth: ClientAuth::Basic,
    renewal: TokenRenewal::RefreshToken { idle: Duration::from_secs(3_600) },
    revoke: Some(Endpoint::at("https://api.example", "/revoke")),
    ..Oauth::DEFAULTS
};

const META: Oauth = Oauth {
    token_call: TokenCall::Query,
    client_id_name: "client_key",
    long_lived: Some(TokenExchange {
        endpoint: Endpoint::at("https://api.example", "/long"),
        grant_type: "exchange",
        token_name: "short",
        with_client_id: true,
        with_client_secret: true,
    }),
    pkce: false,
    client_auth: ClientAuth::Body,
    ..STANDARD
};

fn session(network: &Network, secrets: Secrets) -> Session {
    network.session(test_server::account("1", json!({})), secrets)
}

async fn answering(status: u16, body: Value) -> Network {
    Network::start(move |_| (status, body.clone())).await
}

#[tokio::test]
async fn the_page_is_asked_for_with_all_it_needs() {
    let network = answering(500, json!({})).await;
    let url = authorize_url(&STANDARD, &session(&network, Secrets::new()), &LEAVE).unwrap();
    assert!(url.as_str().starts_with(&format!("{}/authorize?", network.base())), "{url}");
    let query: Vec<_> = url.query_pairs().into_owned().collect();
    let expected = [
        ("client_id", "app"),
        ("redirect_uri", LEAVE.redirect_uri),
        ("response_type", "code"),
        ("state", "st4te"),
        ("scope", "read write"),
        // The example of RFC 7636, appendix B.
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        ("code_challenge_method", "S256"),
        ("access_type", "offline"),
    ];
    assert_eq!(query, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    // A network's own address is used where none is configured.
    let session = Session { base: None, ..session(&network, Secrets::new()) };
    let url = authorize_url(&STANDARD, &session, &LEAVE).unwrap();
    assert_eq!(url.origin().ascii_serialization(), "https://login.example");
    let nobody = Session { app: None, ..session };
    let error = authorize_url(&STANDARD, &nobody, &LEAVE).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Misconfigured);
}

#[tokio::test]
async fn the_address_of_a_server_is_the_persons() {
    const MANY: Oauth = Oauth {
        instance: Some(CredentialField { name: "instance_url", required: true, doc: "" }),
        ..Oauth::DEFAULTS
    };
    let network = answering(500, json!({})).await;
    let at = |instance: &str| {
        let secrets = Secrets::new().with("instance_url", instance).with("client_id", "own");
        let session = Session { base: None, ..session(&network, secrets) };
        authorize_url(&MANY, &session, &LEAVE)
    };
    let urls = ["social.example", " https://social.example/about "].map(|named| at(named).unwrap());
    for url in urls {
        assert!(url.as_str().starts_with("https://social.example/oauth/authorize?client_id=own&"));
    }
    for bad in ["", "javascript:alert(1)", "https://user:pass@social.example", "ftp://x.example"] {
        assert_eq!(at(bad).unwrap_err().kind, ErrorKind::InvalidCredentials, "{bad}");
    }
}

#[tokio::test]
async fn a_code_becomes_tokens() {
    let body = json!({
        "access_token": "fresh-access", "refresh_token": "fresh-refresh", "expires_in": "7200",
        "refresh_token_expires_in": 86_400, "scope": "read,other",
    });
    let network = answering(200, body).await;
    let secrets = exchange_code(&STANDARD, &session(&network, Secrets::new()), "c0de#_", &LEAVE)
        .await
        .unwrap();
    assert_eq!(secrets.expose("access_token"), "fresh-access");
    assert_eq!(secrets.expose("refresh_token"), "fresh-refresh");
    assert_eq!(access_token_expiry(&secrets), Some(at(7_200)));
    assert_eq!(super::refresh_token_expiry(&secrets), Some(at(86_400)));
    assert!(missing_permissions(&STANDARD, &secrets).is_empty());
    assert_eq!(missing_permissions(&STANDARD, &secrets.with("scope", "write"))[0].name, "read");
    let [seen] = &network.seen()[..] else { panic!() };
    assert_eq!(seen.line, "POST /net/token");
    assert_eq!(seen.form("grant_type").as_deref(), Some("authorization_code"));
    assert_eq!(seen.form("code").as_deref(), Some("c0de"));
    assert_eq!(seen.form("redirect_uri").as_deref(), Some(LEAVE.redirect_uri));
    assert_eq!(seen.form("code_verifier").as_deref(), Some(LEAVE.verifier));
    assert_eq!(seen.form("client_secret"), None, "it goes in the header");
    assert!(seen.head.contains("authorization: basic "));
}

#[tokio::test]
async fn a_first_token_is_traded_for_a_lasting_one() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "GET /net/token" => {
            (200, json!({"data": [{"access_token": "short-one", "permissions": ["read"]}]}))
        }
        "GET /net/long" => (200, json!({"access_token": "long-one", "expires_in": 60})),
        other => panic!("{other}"),
    })
    .await;
    let secrets =
        exchange_code(&META, &session(&network, Secrets::new()), "c0de", &LEAVE).await.unwrap();
    assert_eq!(
        (secrets.expose("access_token"), access_token_expiry(&secrets)),
        ("long-one", Some(at(60)))
    );
    let seen = network.seen();
    assert_eq!(seen[0].query("client_key"), Some("app"));
    assert_eq!(seen[0].query("client_secret"), Some("app-secret"));
    assert_eq!(seen[0].query("code_verifier"), None);
    assert_eq!(seen[1].query("short"), Some("short-one"));
    assert_eq!(seen[1].query("client_secret"), Some("app-secret"));
}

#[tokio::test]
async fn a_refresh_keeps_what_the_answer_leaves_out() {
    let network = answering(200, json!({"access_token": "fresh-access", "expires_in": 10})).await;
    let known = Secrets::new().with("access_token", "old").with("refresh_token", "kept-one");
    let known = known.with("instance_url", "x.example");
    let fresh = refresh_tokens(&STANDARD, &session(&network, known)).await.unwrap().unwrap();
    assert_eq!(fresh.expires_at, Some(at(0) + TimeDelta::seconds(10)));
    let secrets = fresh.secrets;
    assert_eq!(secrets.expose("access_token"), "fresh-access");
    assert_eq!(
        (secrets.expose("refresh_token"), secrets.expose("instance_url")),
        ("kept-one", "x.example")
    );
    assert_eq!(network.seen()[0].form("refresh_token").as_deref(), Some("kept-one"));
    let none = refresh_tokens(&STANDARD, &session(&network, Secrets::new())).await.unwrap();
    assert!(none.is_none(), "an account without a refresh token is not refreshed");
}

#[tokio::test]
async fn an_end_that_is_no_longer_told_is_forgotten() {
    let network = answering(200, json!({"access_token": "endless"})).await;
    let known = Secrets::new().with("refresh_token", "r").with("expires_at", at(5).to_rfc3339());
    let fresh = refresh_tokens(&STANDARD, &session(&network, known)).await.unwrap().unwrap();
    assert_eq!((fresh.expires_at, access_token_expiry(&fresh.secrets)), (None, None));
}

#[tokio::test]
async fn only_a_dead_token_is_a_reason_to_connect_again() {
    let cases = [
        (400, json!({"error": "invalid_grant", "error_description": "gone"}), ErrorKind::Reconnect),
        (200, json!({"ok": false, "error": "token_revoked"}), ErrorKind::Reconnect),
        (
            400,
            json!({"error": {"message": "no", "type": "OAuthException", "code": 190}}),
            ErrorKind::Reconnect,
        ),
        (
            400,
            json!({"error_type": "OAuthException", "code": 400, "error_message": "used"}),
            ErrorKind::Reconnect,
        ),
        (
            400,
            json!({"error": {"message": "used", "code": 100, "error_subcode": 36_009}}),
            ErrorKind::Reconnect,
        ),
        (
            400,
            json!({"error": "invalid_request", "error_description": "Value passed for the token was invalid."}),
            ErrorKind::Reconnect,
        ),
        (
            400,
            json!({"error": "invalid_request", "error_description": "Missing required parameter [grant_type]."}),
            ErrorKind::Transient,
        ),
        (400, json!({"code": 283, "message": "Invalid refresh token."}), ErrorKind::Reconnect),
        (400, json!({"code": 1, "message": "Invalid request."}), ErrorKind::Transient),
        (401, json!({"error": "invalid_client"}), ErrorKind::Misconfigured),
        (400, json!({"error": {"message": "slow", "code": 4}}), ErrorKind::RateLimited),
        (429, json!({}), ErrorKind::RateLimited),
        (400, json!({"error": "temporarily_unavailable"}), ErrorKind::Transient),
        (500, json!("not an object"), ErrorKind::Server),
        (200, json!({"token_type": "bearer"}), ErrorKind::Ambiguous),
        (200, json!([]), ErrorKind::Ambiguous),
    ];
    for (status, body, kind) in cases {
        let network = answering(status, body.clone()).await;
        let secrets = Secrets::new().with("refresh_token", "s3cret-refresh");
        let error = refresh_tokens(&STANDARD, &session(&network, secrets)).await.unwrap_err();
        assert_eq!(error.kind, kind, "{status} {body}");
    }
}

#[tokio::test]
async fn a_refused_code_is_told_apart_from_a_network_that_is_away() {
    for (status, kind) in [(400, ErrorKind::InvalidCredentials), (503, ErrorKind::Unreachable)] {
        let network =
            answering(status, json!({"error": if status == 400 { "invalid_grant" } else { "" }}))
                .await;
        let error = exchange_code(&STANDARD, &session(&network, Secrets::new()), "c", &LEAVE)
            .await
            .unwrap_err();
        assert_eq!(error.kind, kind, "{status}");
    }
}

#[tokio::test]
async fn what_a_network_repeats_of_a_token_is_not_kept() {
    let network = answering(
        400,
        json!({"error": "invalid_grant", "error_description": "s3cret-refresh is old"}),
    )
    .await;
    let secrets = Secrets::new().with("refresh_token", "s3cret-refresh");
    let error = refresh_tokens(&STANDARD, &session(&network, secrets)).await.unwrap_err();
    assert_eq!(error.reply.unwrap().message.as_deref(), Some("[redacted] is old"));
}

#[tokio::test]
async fn a_token_is_given_back_where_there_is_a_call_for_it() {
    let network = answering(200, json!({})).await;
    let secrets = Secrets::new().with("access_token", "a").with("refresh_token", "r");
    assert!(revoke(&STANDARD, &session(&network, secrets.clone())).await.unwrap());
    let [seen] = &network.seen()[..] else { panic!() };
    assert_eq!(
        (seen.line.as_str(), seen.form("token").as_deref()),
        ("POST /net/revoke", Some("r"))
    );
    let none = Oauth { revoke: None, ..STANDARD };
    assert!(!revoke(&none, &session(&network, secrets)).await.unwrap());
    let network = answering(503, json!({})).await;
    let secrets = Secrets::new().with("access_token", "a");
    assert!(revoke(&STANDARD, &session(&network, secrets)).await.is_err());
}
