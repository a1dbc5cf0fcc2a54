//! Connecting: which page a token belongs to, and which pages a person runs.

use serde_json::{Value, json};

use super::session;
use crate::{
    ConnectSpec, ErrorKind, Platform,
    facebook::Facebook,
    oauth,
    tests::test_server::{Network, Seen},
};

/// A person with two pages in two answers, one of them a business's too.
fn person(permissions: Value) -> impl FnMut(&Seen) -> (u16, Value) + Send + 'static {
    move |seen| match seen.line.as_str() {
        "GET /net/v26.0/me/permissions" => (200, json!({ "data": permissions })),
        "GET /net/v26.0/me/accounts" if seen.query("after").is_none() => {
            let page = json!({"id": "1", "name": "One", "access_token": "EAAone"});
            let paging = json!({"cursors": {"after": "x1"}, "next": "https://graph/next"});
            (200, json!({"data": [page], "paging": paging}))
        }
        "GET /net/v26.0/me/accounts" => {
            let page = json!({"id": "2", "name": "Two", "access_token": "EAAtwo"});
            (200, json!({"data": [page], "paging": {"cursors": {"after": "x2"}}}))
        }
        "GET /net/v26.0/me/businesses" => (200, json!({"data": [{"id": "b1"}]})),
        "GET /net/v26.0/b1/owned_pages" => {
            let pages = [
                json!({"id": "2", "name": "Two", "access_token": "EAAtwo"}),
                json!({"id": "3", "name": "Three", "access_token": "EAAthree"}),
                json!({"id": "4", "name": "No role there"}),
            ];
            (200, json!({ "data": pages }))
        }
        "GET /net/v26.0/b1/client_pages" => (403, json!({"error": {"code": 200}})),
        line => panic!("{line}"),
    }
}

fn all(status: &str) -> Value {
    let ConnectSpec::Oauth(oauth) = Facebook.spec().connect else { panic!() };
    let entry = |one: &oauth::Permission| json!({"permission": one.name, "status": status});
    oauth.permissions.iter().map(entry).collect()
}

#[tokio::test]
async fn each_page_brings_its_own_token() {
    let network = Network::start(person(all("granted"))).await;
    let found = Facebook.identities(&session(&network)).await.unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|one| {
            (one.remote_id.as_str(), one.username.as_str(), one.secrets.expose("access_token"))
        })
        .collect();
    assert_eq!(shown, [("1", "One", "EAAone"), ("2", "Two", "EAAtwo"), ("3", "Three", "EAAthree")]);
    assert!(found.iter().all(|one| one.expires_at.is_none()), "page tokens do not end");
    assert!(!format!("{found:?}").contains("EAAone"));
}

#[tokio::test]
async fn a_permission_that_was_kept_back_is_named() {
    let network = Network::start(person(all("declined"))).await;
    let error = Facebook.identities(&session(&network)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidCredentials);
    assert!(error.message.contains("pages_show_list"), "{error}");
}

#[tokio::test]
async fn a_person_without_pages_is_told() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "GET /net/v26.0/me/permissions" => (200, json!({ "data": all("granted") })),
        _ => (200, json!({"data": []})),
    })
    .await;
    let error = Facebook.identities(&session(&network)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidCredentials);
}

#[tokio::test]
async fn a_page_token_says_whose_it_is() {
    let network = Network::start(|_| (200, json!({"id": "55", "name": "A Page"}))).await;
    let identity = Facebook.verify(&session(&network)).await.unwrap();
    assert_eq!((identity.remote_id.as_str(), identity.username.as_str()), ("55", "A Page"));
    let refused = Network::start(|_| (400, json!({"error": {"code": 190}}))).await;
    let error = Facebook.verify(&session(&refused)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidCredentials);
    assert!(Facebook.refresh(&session(&network)).await.unwrap().is_none());
}
