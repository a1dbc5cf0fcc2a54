use serde_json::{Value, json};

use super::{AUTHORIZATION, secrets};
use crate::{
    Account, ErrorKind, Identity, Platform, Result,
    tests::test_server::{Network, Seen},
    wordpress::Wordpress,
};

fn user(may_publish: bool) -> (u16, Value) {
    let capabilities = json!({"publish_posts": may_publish, "read": true});
    (200, json!({"id": 7, "name": "The Writer", "slug": "writer", "capabilities": capabilities}))
}

fn refusal(status: u16, code: &str) -> (u16, Value) {
    (status, json!({"code": code, "message": "Sorry.", "data": {"status": status}}))
}

async fn verify(
    answers: impl FnMut(&Seen) -> (u16, Value) + Send + 'static,
) -> (Result<Identity>, Vec<Seen>) {
    let network = Network::start(answers).await;
    let session = network.session(Account::default(), secrets());
    (Wordpress.verify(&session).await, network.seen())
}

#[tokio::test]
async fn a_user_who_may_publish_is_connected() {
    let (identity, seen) = verify(|_| user(true)).await;
    let identity = identity.unwrap();
    assert_eq!(identity.remote_id, "blog.example/news:7");
    assert_eq!(
        (identity.username.as_str(), identity.display_name.as_deref()),
        ("writer", Some("The Writer"))
    );
    let meta = json!({"site_url": "https://blog.example/news", "user_id": 7});
    assert_eq!(Value::Object(identity.meta), meta);
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].line, "GET /net/wp-json/wp/v2/users/me");
    assert_eq!(seen[0].query("context"), Some("edit"));
    assert!(seen[0].head.contains(AUTHORIZATION));
}

#[tokio::test]
async fn the_other_address_of_the_api_is_found_and_remembered() {
    for first in [(404, json!("page")), (404, json!({"code": "rest_no_route"}))] {
        let (identity, seen) = verify(move |seen| match seen.query("rest_route") {
            Some("/wp/v2/users/me") => user(true),
            _ => first.clone(),
        })
        .await;
        assert_eq!(identity.unwrap().meta["rest_route"], json!(true));
        assert_eq!(seen[1].line, "GET /net/");
        assert_eq!(seen[1].query("context"), Some("edit"));
    }
}

#[tokio::test]
async fn what_keeps_an_account_from_connecting_is_told_apart() {
    let cases = [
        (user(false), ErrorKind::InvalidCredentials, "role"),
        (refusal(401, "incorrect_password"), ErrorKind::InvalidCredentials, "application password"),
        (refusal(401, "rest_not_logged_in"), ErrorKind::InvalidCredentials, "Authorization header"),
        (refusal(403, "rest_forbidden"), ErrorKind::InvalidCredentials, "role"),
        ((301, json!({})), ErrorKind::InvalidCredentials, "address"),
        ((404, json!({})), ErrorKind::Unreachable, "REST API"),
    ];
    for (answer, kind, advice) in cases {
        let shown = answer.1.to_string();
        let (found, _) = verify(move |_| answer.clone()).await;
        let error = found.unwrap_err();
        assert_eq!(error.kind, kind, "{shown}");
        assert!(error.remedy.is_some_and(|remedy| remedy.contains(advice)), "{shown}");
    }
    let (found, _) = verify(|_| refusal(503, "")).await;
    assert_eq!(found.unwrap_err().kind, ErrorKind::Unreachable);
}

#[tokio::test]
async fn a_site_at_a_private_address_is_refused_by_the_guard() {
    let network = Network::start(|_| user(true)).await;
    let mut session =
        network.session(Account::default(), secrets().with("site_url", "https://127.0.0.1"));
    session.base = None;
    let error = Wordpress.verify(&session).await.unwrap_err();
    assert_eq!((error.kind, network.seen().len()), (ErrorKind::InvalidCredentials, 0));
}
