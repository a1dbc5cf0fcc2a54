//! Accounts of one login: two channels of a workspace hold the same token, which ends after twelve hours, and what it is
//! exchanged with is good once.

use std::time::Duration;

use fanfare_core::{AccountId, PlatformId};
use fanfare_entities::account;
use fanfare_platforms::Secrets;
use fanfare_publishing::{accounts, accounts::RefreshOutcome};
use fanfare_tests::{Options, TestApp, User, Visitor};
use serde_json::json;

use super::{offer_these, page, person, poll, session};

/// Walks to the network and back.
async fn walk(app: &TestApp, (ada, user): (&mut Visitor, &User)) -> i64 {
    let made = session(user, "slack", json!({"sandbox": true})).await;
    let network = ada.leave(&page(&made)).await;
    let back = ada.answer(&network, None).await;
    let _ = ada.get(&back).await.expect(303);
    poll(app, user, &made).await["accounts"][0]["id"].as_i64().unwrap()
}

/// A second channel, from the same answer of the network.
async fn second(app: &TestApp, (ada, user): (&mut Visitor, &User), first: i64) -> i64 {
    let (row, secrets) = (row(app, first).await, secrets(app, first).await);
    let made = session(user, "slack", json!({"sandbox": true})).await;
    let _ = ada.leave(&page(&made)).await;
    let other = json!({
        "remote_id": format!("{}X", row.remote_id), "username": "#other", "display_name": "The team",
        "meta": row.meta, "secrets": secrets.with("channel_id", "C0OTHER").to_pairs(),
        "expires_at": row.token_expires_at,
    });
    offer_these(app, &made, &[other]).await;
    let _ = ada.step(&page(&made), "choose", &[("account", "0")]).await.expect(303);
    poll(app, user, &made).await["accounts"][0]["id"].as_i64().unwrap()
}

async fn row(app: &TestApp, id: i64) -> account::Model {
    accounts::row(&app.domain, AccountId(id)).await.unwrap().unwrap()
}

async fn secrets(app: &TestApp, id: i64) -> Secrets {
    accounts::session(&app.domain, &row(app, id).await).await.unwrap().unwrap().secrets
}

/// Returns the number of times the simulated workspace was asked this.
async fn asked(app: &TestApp, id: i64, method: &str) -> usize {
    let remote_id = row(app, id).await.remote_id;
    let calls = app.simulator.calls("slack", &remote_id).await;
    calls.iter().filter(|call| call["path"].as_str().unwrap().contains(method)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_of_one_login_get_fresh_tokens_together_and_give_them_back_last() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (mut ada, user) = person(&app).await;
    let first = walk(&app, (&mut ada, &user)).await;
    let ids = [first, second(&app, (&mut ada, &user), first).await];
    let (before, count) = (secrets(&app, first).await, asked(&app, first, "oauth.v2.access").await);
    let kept = app.secrets().await;
    let used = [row(&app, ids[0]).await.secret_id, row(&app, ids[1]).await.secret_id];
    let (other, mut workers) = (app.other_process().await, Vec::new());
    for n in 0..40 {
        let (id, used) = (AccountId(ids[n % 2]), used[n % 2]);
        let cx = if n % 4 < 2 { app.domain.clone() } else { other.clone() };
        workers.push(tokio::spawn(async move {
            let fresh = async || accounts::refresh(&cx, PlatformId::Slack, id, used).await.unwrap();
            while !matches!(fresh().await, RefreshOutcome::Fresh) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }));
    }
    for worker in workers {
        worker.await.unwrap();
    }
    assert_eq!(asked(&app, first, "oauth.v2.access").await, count + 1, "one exchange");
    let now = [secrets(&app, ids[0]).await, secrets(&app, ids[1]).await];
    for name in ["access_token", "refresh_token"] {
        assert_eq!(now[0].expose(name), now[1].expose(name), "{name}");
        assert_ne!(now[0].expose(name), before.expose(name), "{name}");
    }
    assert_ne!(now[0].expose("channel_id"), now[1].expose("channel_id"), "each keeps its own");
    assert_eq!(app.secrets().await, kept, "the old ones are gone");
    // Shared tokens that are given back are gone for all accounts, so they are given back with the last one.
    app.start_workers();
    let _ = user.delete(&format!("/api/v1/accounts/{}", ids[1])).await.expect(200);
    let post = user.publish(json!({"account_id": first, "caption": "Still here"})).await;
    app.wait_until_published(&user, &post).await;
    assert_eq!(asked(&app, first, "auth.revoke").await, 0);
    let _ = user.delete(&format!("/api/v1/accounts/{first}")).await.expect(200);
    app.eventually("they are forgotten", || async {
        (app.secrets().await == kept - 2).then_some(())
    })
    .await;
    assert_eq!(asked(&app, first, "auth.revoke").await, 1);
}

#[tokio::test]
async fn a_token_that_rotates_is_fresh_when_it_is_needed() {
    let app = TestApp::start().await;
    let (mut ada, user) = person(&app).await;
    let first = walk(&app, (&mut ada, &user)).await;
    let other = second(&app, (&mut ada, &user), first).await;
    for _ in 0..3 {
        app.pass_time(Duration::from_secs(13 * 3_600)).await;
        let post = user.publish(json!({"account_id": first, "caption": "Twice a day"})).await;
        app.wait_until_published(&user, &post).await;
    }
    let (one, two) = (secrets(&app, first).await, secrets(&app, other).await);
    assert_eq!(one.expose("access_token"), two.expose("access_token"), "they went along");
}

#[tokio::test]
async fn connecting_again_before_tokens_are_given_back_ends_no_new_connection() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (mut ada, user) = person(&app).await;
    let first = walk(&app, (&mut ada, &user)).await;
    let _ = user.delete(&format!("/api/v1/accounts/{first}")).await.expect(200);
    assert!(row(&app, first).await.revoking_id.is_some(), "it waits to be given back");
    assert_eq!(walk(&app, (&mut ada, &user)).await, first);
    assert_eq!(app.secrets().await, 1, "only the new ones are kept");
    app.start_workers();
    let post = user.publish(json!({"account_id": first, "caption": "Back again"})).await;
    app.wait_until_published(&user, &post).await;
    assert_eq!(asked(&app, first, "auth.revoke").await, 0);
}
