//! Forms and choices on the page itself.

use fanfare_tests::TestApp;
use serde_json::{Value, json};

use super::{page, person, poll, session, stands, start};

#[tokio::test]
async fn credentials_are_filled_in_at_the_page_and_may_be_corrected() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let made = session(&user, "bluesky", json!({})).await;
    assert_eq!(made["method"], "manual_credentials");
    let form = ada.get(&page(&made)).await.expect(200);
    assert!(form.html.contains("App password") && form.html.contains("type=\"password\""));
    assert_eq!(poll(&app, &user, &made).await["status"], "awaiting_credentials");
    let wrong = [("identifier", "nobody.test"), ("app_password", "aaaa-bbbb-cccc-dddd")];
    let wrong = ada.step(&page(&made), "connect", &wrong).await.expect(400);
    assert!(wrong.html.contains("value=\"nobody.test\"") && !wrong.html.contains("aaaa-bbbb"));
    assert_eq!(
        poll(&app, &user, &made).await["status"],
        "awaiting_credentials",
        "it can be corrected"
    );
    let empty = ada.step(&page(&made), "connect", &[("identifier", "x")]).await.expect(400);
    assert!(empty.html.contains("credentials.app_password is required"), "{}", empty.html);

    let there = app.simulator.stand_in("bluesky").await;
    let known = |name: &str| there["credentials"][name].as_str().unwrap().to_owned();
    let (identifier, password) = (known("identifier"), known("app_password"));
    let right = [("identifier", identifier.as_str()), ("app_password", password.as_str())];
    let _ = ada.step(&page(&made), "connect", &right).await.expect(303);
    let done = poll(&app, &user, &made).await;
    assert_eq!(
        (done["status"].as_str(), done["connected_count"].as_i64()),
        (Some("connected"), Some(1)),
        "{done}"
    );
    let after = ada.get(&page(&made)).await.expect(200);
    assert!(
        after.html.contains("Bluesky is connected as")
            && !after.html.contains("name=\"app_password\"")
    );

    // The same by the API, which ends the session it names.
    let credentials = json!({"identifier": identifier, "app_password": password});
    let named = session(&user, "bluesky", json!({})).await;
    let body = json!({"credentials": credentials, "connect_session_id": named["id"]});
    let connected =
        user.post("/api/v1/connect/bluesky/credentials", body.clone()).await.expect(200);
    assert_eq!(connected.body["account"]["id"], done["accounts"][0]["id"], "the same account");
    assert_eq!(poll(&app, &user, &named).await["status"], "connected");
    let _ = user
        .post("/api/v1/connect/bluesky/credentials", body)
        .await
        .refused(409, "invalid_transition");
    let failing = session(&user, "bluesky", json!({})).await;
    let bad = json!({"credentials": {"identifier": identifier, "app_password": "wrong-one"}, "connect_session_id": failing["id"]});
    let _ = user
        .post("/api/v1/connect/bluesky/credentials", bad)
        .await
        .refused(400, "invalid_credentials");
    let failed = poll(&app, &user, &failing).await;
    assert_eq!(
        (failed["status"].as_str(), failed["error"]["code"].as_str()),
        (Some("failed"), Some("invalid_credentials"))
    );
    let other = session(&user, "threads", json!({})).await;
    let mixed = json!({"credentials": credentials, "connect_session_id": other["id"]});
    let _ =
        user.post("/api/v1/connect/bluesky/credentials", mixed).await.refused(400, "invalid_field");
    let stranger = app.user().await;
    let foreign = json!({"credentials": credentials, "connect_session_id": other["id"]});
    let _ = stranger
        .post("/api/v1/connect/bluesky/credentials", foreign)
        .await
        .refused(404, "connect_session_not_found");
    for text in [failed.to_string(), after.html] {
        assert!(!text.contains(&password), "a credential is shown nowhere");
    }
}

#[tokio::test]
async fn several_accounts_are_chosen_among() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let made = session(&user, "threads", json!({"sandbox": true})).await;
    let _ = ada.leave(&page(&made)).await;
    offer(&app, &made).await;
    let waiting = poll(&app, &user, &made).await;
    assert_eq!(
        stands(&waiting),
        (
            "awaiting_provider",
            "Threads has granted access to 3 accounts. Choose in the browser which to connect."
        )
    );
    let none = ada.step(&page(&made), "choose", &[]).await.expect(400);
    assert!(none.html.contains("Choose at least one account"));
    let _ =
        ada.step(&page(&made), "choose", &[("account", "0"), ("account", "2")]).await.expect(303);
    let done = poll(&app, &user, &made).await;
    assert_eq!(stands(&done), ("connected", "Threads is connected as page-0 and page-2."));
    assert_eq!(done["accounts"].as_array().unwrap().len(), 2);
    assert!(!done.to_string().contains("token-of"));
    let _ = ada.step_blind(&page(&made), "choose", &[("account", "1")]).await.expect(409);
}

/// Puts a session where a network has granted access to three accounts.
pub async fn offer(app: &TestApp, session: &Value) {
    let reached: Vec<_> = (0..3)
        .map(|n| {
            json!({
                "remote_id": format!("page{n}"), "username": format!("page-{n}"), "display_name": format!("Page {n}"),
                "meta": {}, "secrets": {"access_token": format!("token-of-{n}")}, "expires_at": null,
            })
        })
        .collect();
    offer_these(app, session, &reached).await;
}

/// Puts a session where a network has granted access to these accounts.
pub async fn offer_these(app: &TestApp, session: &Value, reached: &[Value]) {
    use fanfare_entities::connect_session::{ActiveModel, Column, Entity};
    use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
    let plain = serde_json::to_vec(reached).unwrap();
    let (cx, id) = (&app.domain, session["id"].as_str().unwrap().parse::<uuid::Uuid>().unwrap());
    let secret =
        cx.vault.store(&cx.db.write, "connect_sessions", &plain, app.clock.now()).await.unwrap();
    let change = ActiveModel {
        secret_id: Set(Some(secret)),
        choices: Set(Some(json!(reached))),
        taken_at: Set(Some(app.clock.now())),
        ..Default::default()
    };
    Entity::update_many().set(change).filter(Column::Id.eq(id)).exec(&cx.db.write).await.unwrap();
}

#[tokio::test]
async fn a_simulated_account_is_made_at_the_page() {
    let app = TestApp::start().await;
    let (mut ada, user) = person(&app).await;
    let made = session(&user, "discord", json!({"sandbox": true})).await;
    assert!(ada.get(&page(&made)).await.html.contains("simulated network"));
    let _ = ada.step(&page(&made), "simulate", &[("username", "")]).await.expect(303);
    let done = poll(&app, &user, &made).await;
    assert_eq!(done["status"], "connected");
    // A step that does not belong here, or comes after the end, is refused.
    let _ = ada.step_blind(&page(&made), "simulate", &[]).await.expect(409);
    let _ = ada.step_blind(&page(&made), "go", &[]).await.expect(409);
    let _ = ada.step_blind(&page(&made), "fly", &[]).await.expect(404);
}
