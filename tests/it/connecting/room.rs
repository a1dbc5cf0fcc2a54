//! The number of accounts a plan has room for.

use fanfare_core::access::{PlanTier, Scope};
use fanfare_tests::{ApiReply, User};
use serde_json::{Value, json};

use super::{at_once::credentials, offer, page, poll, session, start};

/// The number of accounts the smallest plan includes.
const ROOM: usize = 10;

async fn connect(user: &User, given: &Value) -> ApiReply {
    let given = json!({"identifier": given["identifier"], "app_password": given["app_password"]});
    user.post("/api/v1/connect/bluesky/credentials", json!({ "credentials": given })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_has_room_for_so_many_accounts_and_says_when_it_is_full() {
    let app = start().await;
    let (owner, mut ada) = fanfare_tests::Visitor::person(&app, "ada@example.com").await;
    let team = app.workspace(owner).await;
    fanfare_people::users::set_plan(&app.domain, team, PlanTier::Starter, None).await.unwrap();
    let user = app.key(owner, Some(team), &Scope::ALL).await;
    let (mut known, mut first) = (Vec::new(), 0);
    for _ in 1..ROOM {
        let given = credentials(&app, "bluesky").await;
        first = connect(&user, &given).await.expect(200).body["account"]["id"].as_i64().unwrap();
        known.push(given);
    }
    // Two want the last place at once.
    let (one, two) = (credentials(&app, "bluesky").await, credentials(&app, "bluesky").await);
    let both = tokio::join!(connect(&user, &one), connect(&user, &two));
    let mut answers = [both.0, both.1];
    answers.sort_by_key(|answer| answer.status);
    let [welcome, full] = answers;
    let _ = welcome.expect(200);
    let full = full.refused(403, "plan_limit");
    assert_eq!((&full.body["limit"], &full.body["plan"]), (&json!(ROOM), &json!("starter")));
    assert!(full.body["remedy"].as_str().unwrap().contains("Disconnect an account"));
    // A connected account can be connected again, and simulated accounts do not count.
    let _ = connect(&user, &known[0]).await.expect(200);
    let _ = user.connect("bluesky").await;
    // At the page it is the same: the session that was granted something says why it came to nothing.
    let made = session(&user, "threads", json!({})).await;
    let _ = credentials(&app, "threads").await;
    let network = ada.leave(&page(&made)).await;
    let back = ada.answer(&network, None).await;
    let _ = ada.get(&back).await.expect(303);
    let failed = poll(&app, &user, &made).await;
    assert_eq!(failed["error"]["code"], "plan_limit", "{failed}");
    assert!(failed["status_message"].as_str().unwrap().contains("has room for 10 accounts"));
    // A person who chooses among several accounts may choose fewer.
    let made = session(&user, "threads", json!({})).await;
    let _ = ada.leave(&page(&made)).await;
    offer(&app, &made).await;
    let _ = user.delete(&format!("/api/v1/accounts/{first}")).await.expect(200);
    let many = ada.step(&page(&made), "choose", &[("account", "0"), ("account", "2")]).await;
    assert!(many.expect(403).html.contains("has room for 10 accounts"));
    let _ = ada.step(&page(&made), "choose", &[("account", "2")]).await.expect(303);
    assert_eq!(poll(&app, &user, &made).await["status"], "connected");
    let _ = connect(&user, &known[ROOM - 2]).await.refused(403, "plan_limit");
    fanfare_people::users::set_plan(&app.domain, team, PlanTier::Pro, None).await.unwrap();
    let again = connect(&user, &known[ROOM - 2]).await.expect(200);
    assert_eq!(again.body["account"]["id"], first, "it comes back as what it was");
}
