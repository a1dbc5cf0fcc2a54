//! Connecting: the accounts that pages are linked to.

use serde_json::{Value, json};

use super::session;
use crate::{ConnectSpec, ErrorKind, Platform, instagram::Instagram, tests::test_server::Network};

fn granted() -> Value {
    let ConnectSpec::Oauth(oauth) = Instagram.spec().connect else { panic!() };
    let entry =
        |one: &crate::oauth::Permission| json!({"permission": one.name, "status": "granted"});
    oauth.permissions.iter().map(entry).collect()
}

#[tokio::test]
async fn only_pages_with_a_professional_account_are_offered() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "GET /net/v26.0/me/permissions" => (200, json!({ "data": granted() })),
        "GET /net/v26.0/me/accounts" => {
            let linked = json!({"id": "ig1", "username": "cat", "name": "A Cat"});
            let pages = [
                json!({"id": "1", "name": "One", "access_token": "EAAone", "instagram_business_account": linked}),
                json!({"id": "2", "name": "Two", "access_token": "EAAtwo"}),
            ];
            (200, json!({ "data": pages }))
        }
        _ => (403, json!({"error": {"code": 200}})),
    })
    .await;
    let found = Instagram.identities(&session(&network)).await.unwrap();
    let [one] = &found[..] else { panic!("{found:?}") };
    assert_eq!((one.remote_id.as_str(), one.username.as_str()), ("ig1", "cat"));
    assert_eq!(one.secrets.expose("access_token"), "EAAone");
    assert_eq!(one.meta["instagram_business_account_id"], "ig1");
    assert_eq!((one.meta["page_id"].as_str(), one.expires_at), (Some("1"), None));
}

#[tokio::test]
async fn a_page_token_says_which_account_it_is_linked_to() {
    let linked = json!({"id": "55", "name": "Page", "instagram_business_account": {"id": "ig1", "username": "cat"}});
    let network = Network::start(move |_| (200, linked.clone())).await;
    let identity = Instagram.verify(&session(&network)).await.unwrap();
    assert_eq!((identity.remote_id.as_str(), identity.username.as_str()), ("ig1", "cat"));
    let network = Network::start(|_| (200, json!({"id": "55", "name": "Page"}))).await;
    let error = Instagram.verify(&session(&network)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidCredentials);
    assert!(error.remedy.unwrap().contains("business"));
}
