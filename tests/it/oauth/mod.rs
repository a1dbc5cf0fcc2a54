//! Tools that persons let in: the OAuth provider, seen from outside.

mod agents;
mod button;
mod clients;
mod dashboard;
mod documents;
mod flow;
mod generous;
mod keys;
mod kills;
mod passwords;
mod refusals;
mod registration;
mod rotation;
mod rows;
mod signing_up;

pub use fanfare_tests::consent::{checked, values};
use fanfare_tests::{TestApp, User, Visitor};
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

/// A verifier, and its challenge.
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
pub const REDIRECT: &str = "https://tool.example/callback";

/// The service's answer to a program.
#[derive(Debug)]
pub struct Said {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Said {
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.body
    }

    #[track_caller]
    pub fn refused(self, status: u16, error: &str) {
        assert_eq!((self.status, &self.body["error"]), (status, &json!(error)), "{}", self.body);
        assert!(self.body["error_description"].is_string() && self.body["request_id"].is_string());
        assert_eq!(self.headers["cache-control"], "no-store");
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}

/// Sends a form to an endpoint.
pub async fn post_form(origin: &str, path: &str, fields: &[(&str, &str)]) -> Said {
    let http = fanfare_tests::local_client();
    read(http.post(format!("{origin}{path}")).form(fields).send().await.unwrap()).await
}

/// Sends JSON to an endpoint.
pub async fn post_json(origin: &str, path: &str, body: &Value) -> Said {
    let http = fanfare_tests::local_client();
    read(http.post(format!("{origin}{path}")).json(body).send().await.unwrap()).await
}

pub async fn get(origin: &str, path: &str) -> Said {
    let http = fanfare_tests::local_client();
    read(http.get(format!("{origin}{path}")).send().await.unwrap()).await
}

pub async fn read(reply: reqwest::Response) -> Said {
    let (status, headers) = (reply.status().as_u16(), reply.headers().clone());
    let body = serde_json::from_str(&reply.text().await.unwrap()).unwrap_or(Value::Null);
    Said { status, headers, body }
}

/// Registers a client that is sent back to [`REDIRECT`].
pub async fn register(origin: &str) -> String {
    let asked = json!({"client_name": "A tool", "redirect_uris": [REDIRECT]});
    let made = post_json(origin, "/api/oauth/register", &asked).await.expect(201);
    made["client_id"].as_str().unwrap().to_owned()
}

/// The address with which a client sends a person to the service.
pub fn authorize(fields: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    format!("/api/oauth/authorize?{}", query.extend_pairs(fields).finish())
}

/// The usual request of a client.
pub fn usual(client_id: &str) -> Vec<(&str, &str)> {
    vec![
        ("response_type", "code"),
        ("client_id", client_id),
        ("redirect_uri", REDIRECT),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("state", "xyz"),
    ]
}

/// A person decides on the page; where the browser is sent.
pub async fn decide(visitor: &mut Visitor, page: &str, decision: &str) -> Url {
    visitor.decide(page, decision).await
}

/// A parameter of an address.
#[track_caller]
pub fn parameter(url: &Url, name: &str) -> String {
    let found = url.query_pairs().find(|(known, _)| known == name);
    found.unwrap_or_else(|| panic!("no {name} in {url}")).1.into_owned()
}

/// Redeems a code.
pub async fn redeem(origin: &str, client_id: &str, code: &str) -> Said {
    redeem_at(origin, client_id, REDIRECT, code).await
}

pub async fn redeem_at(origin: &str, client_id: &str, redirect_uri: &str, code: &str) -> Said {
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("client_id", client_id),
        ("redirect_uri", redirect_uri),
        ("code_verifier", VERIFIER),
    ];
    post_form(origin, "/api/oauth/token", &fields).await
}

pub async fn refresh(origin: &str, client_id: &str, token: &str) -> Said {
    let fields =
        [("grant_type", "refresh_token"), ("client_id", client_id), ("refresh_token", token)];
    post_form(origin, "/api/oauth/token", &fields).await
}

/// A person lets a client in; the tokens.
pub async fn let_in(app: &TestApp, visitor: &mut Visitor, client_id: &str) -> Value {
    let back = decide(visitor, &authorize(&usual(client_id)), "allow").await;
    redeem(&app.origin, client_id, &parameter(&back, "code")).await.expect(200)
}

pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}"))
}

/// The caller with the access token.
pub fn bearer(app: &TestApp, tokens: &Value) -> User {
    User::new(&app.origin, text(tokens, "access_token").to_owned())
}
