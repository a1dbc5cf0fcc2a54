//! Every way in which connecting ends without an account.

use std::time::Duration;

use fanfare_core::access::PlanTier;
use fanfare_entities::{WorkspaceId, subscription};
use fanfare_tests::{TestApp, User};
use sea_orm::{ActiveValue::Set, EntityTrait};
use serde_json::json;

use super::{page, person, poll, session, stands, start};

#[tokio::test]
async fn a_person_may_refuse_cancel_or_come_too_late() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let refused = session(&user, "threads", json!({})).await;
    app.simulator.stand_in("threads").await;
    let network = ada.leave(&page(&refused)).await;
    let back = ada.answer(&network, Some("Cancel")).await;
    let _ = ada.get(&back).await.expect(303);
    let now = poll(&app, &user, &refused).await;
    assert_eq!(
        stands(&now),
        ("cancelled", "Access was not granted at Threads. Nothing was connected.")
    );

    let cancelled = session(&user, "threads", json!({})).await;
    let _ = ada.step(&page(&cancelled), "cancel", &[]).await.expect(303);
    assert_eq!(poll(&app, &user, &cancelled).await["status"], "cancelled");

    let broken = session(&user, "threads", json!({})).await;
    let network = ada.leave(&page(&broken)).await;
    let state = network.split("state=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    let path = format!(
        "/connect/threads/callback?state={state}&error=server_error&error_description=Try+%3Cb%3E+later"
    );
    let _ = ada.get(&path).await.expect(303);
    let now = poll(&app, &user, &broken).await;
    assert_eq!(
        stands(&now),
        ("failed", "Threads could not be connected. Threads says: Try <b> later")
    );
    assert_eq!(now["error"]["code"], "invalid_credentials");
    assert!(!ada.get(&page(&broken)).await.html.contains("<b>"), "a network's words are no markup");

    let late = session(&user, "threads", json!({})).await;
    let network = ada.leave(&page(&late)).await;
    let back = ada.answer(&network, None).await;
    app.advance(Duration::from_secs(31 * 60));
    assert_eq!(ada.get(&back).await.expect(303).location, page(&late));
    assert_eq!(poll(&app, &user, &late).await["status"], "expired");
    let shown = ada.get(&page(&late)).await.expect(200);
    assert!(shown.html.contains("The link has expired") && shown.html.contains("Start again"));
    assert!(user.get("/api/v1/accounts").await.body["accounts"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn a_code_that_the_network_refuses_fails_the_walk() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let made = session(&user, "threads", json!({"sandbox": true})).await;
    let network = ada.leave(&page(&made)).await;
    let back = ada.answer(&network, None).await;
    let forged = back.replace("code=", "code=x");
    let _ = ada.get(&forged).await.expect(303);
    let now = poll(&app, &user, &made).await;
    assert_eq!(
        (now["status"].as_str(), now["error"]["code"].as_str()),
        (Some("failed"), Some("invalid_credentials")),
        "{now}"
    );
}

/// Pauses the subscription of a person's own workspace, or lets it go on.
async fn pause(app: &TestApp, user: &User, active: bool) {
    let id = user.get("/api/v1/whoami").await.expect(200).body["workspaces"][0]["id"].clone();
    let changed = subscription::ActiveModel {
        workspace_id: Set(WorkspaceId(id.as_str().unwrap().parse().unwrap())),
        plan_tier: Set(PlanTier::Agency),
        active: Set(active),
        ..Default::default()
    };
    subscription::Entity::update(changed).exec(&app.domain.db.write).await.unwrap();
}

#[tokio::test]
async fn whoever_comes_back_while_the_subscription_is_paused_comes_back_later() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let made = session(&user, "threads", json!({})).await;
    app.simulator.stand_in("threads").await;
    let network = ada.leave(&page(&made)).await;
    let back = ada.answer(&network, None).await;
    pause(&app, &user, false).await;
    let refused = ada.get(&back).await.expect(403);
    assert!(refused.html.contains("The subscription is paused"), "{}", refused.html);
    assert_eq!(super::calls(&app, "oauth/access_token").await, 0, "the code was not used");
    pause(&app, &user, true).await;
    assert_eq!(poll(&app, &user, &made).await["status"], "awaiting_provider");
    assert!(user.get("/api/v1/accounts").await.body["accounts"].as_array().unwrap().is_empty());
    let _ = ada.get(&back).await.expect(303);
    assert_eq!(poll(&app, &user, &made).await["status"], "connected");
}
