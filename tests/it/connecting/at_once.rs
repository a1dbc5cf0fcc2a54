//! Several who connect the same account at the same time.

use fanfare_core::access::Scope;
use serde_json::{Value, json};

use super::{page, person, poll, session, start};

/// Returns the credentials of a new account of a simulated network.
pub(super) async fn credentials(app: &fanfare_tests::TestApp, platform: &str) -> Value {
    app.simulator.stand_in(platform).await["credentials"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_account_brought_by_many_at_once_is_one_account() {
    let app = start().await;
    let owner = app.person("owner@example.com").await;
    let user = app.key(owner, None, &Scope::ALL).await;
    let other = fanfare_tests::User { origin: app.second_instance().await, ..user.clone() };
    for round in 1..=5 {
        let given = credentials(&app, "bluesky").await;
        let body = json!({"credentials": {"identifier": given["identifier"], "app_password": given["app_password"]}});
        let tries = (0..6).map(|n| {
            let (caller, body) = (if n % 2 == 0 { &user } else { &other }.clone(), body.clone());
            tokio::spawn(
                async move { caller.post("/api/v1/connect/bluesky/credentials", body).await },
            )
        });
        let mut ids = Vec::new();
        for answer in tries.collect::<Vec<_>>() {
            let answer = answer.await.unwrap().expect(200);
            ids.push(answer.body["account"]["id"].as_i64().unwrap());
        }
        ids.dedup();
        assert_eq!(ids.len(), 1, "one account: {ids:?}");
        let listed = user.get("/api/v1/accounts").await.expect(200);
        assert_eq!(listed.body["accounts"].as_array().unwrap().len(), round);
        assert_eq!(
            app.secrets().await,
            u64::try_from(round).unwrap(),
            "and one set of credentials"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_links_for_the_same_account_may_be_walked_at_once() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let (one, two) = (
        session(&user, "threads", json!({"sandbox": true})).await,
        session(&user, "threads", json!({"sandbox": true})).await,
    );
    let mut backs = Vec::new();
    for made in [&one, &two] {
        let network = ada.leave(&page(made)).await;
        backs.push(ada.answer(&network, None).await);
    }
    let arriving = backs.into_iter().map(|back| {
        let mut ada = ada.clone();
        tokio::spawn(async move { ada.get(&back).await.status })
    });
    for arrived in arriving.collect::<Vec<_>>() {
        assert_eq!(arrived.await.unwrap(), 303);
    }
    let (one, two) = (poll(&app, &user, &one).await, poll(&app, &user, &two).await);
    assert_eq!(
        (&one["status"], &two["status"]),
        (&json!("connected"), &json!("connected")),
        "{one} {two}"
    );
    assert_eq!(one["accounts"], two["accounts"]);
    assert_eq!(user.get("/api/v1/accounts").await.body["accounts"].as_array().unwrap().len(), 1);
}
