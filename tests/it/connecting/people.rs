//! The right to connect an account, for oneself and others.

use fanfare_core::access::{Role, Scope};
use fanfare_tests::{TestApp, Visitor};
use serde_json::json;

use super::{page, person, poll, session, start};

#[tokio::test]
async fn nobody_comes_back_for_somebody_else() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let (mut eve, eves) = person(&app).await;
    let made = session(&user, "threads", json!({"sandbox": true})).await;
    // Neither the page nor the record is there for a stranger.
    assert!(
        eve.get(&page(&made)).await.expect(404).html.contains("There is no such connect session")
    );
    let id = made["id"].as_str().unwrap();
    let _ = eves
        .get(&format!("/api/v1/connect/sessions/{id}"))
        .await
        .refused(404, "connect_session_not_found");
    let _ = user.get("/api/v1/connect/sessions/7").await.refused(404, "connect_session_not_found");
    let network = ada.leave(&page(&made)).await;
    let back = ada.answer(&network, None).await;
    let _ = eve.get(&back).await.expect(404);
    let nobody = Visitor::nobody(&app).get(&back).await.expect(303);
    assert!(nobody.location.starts_with("/login?next=%2Fconnect%2Fthreads%2Fcallback"));
    let _ = ada.get("/connect/threads/callback?state=guessed&code=x").await.expect(404);
    assert_eq!(poll(&app, &user, &made).await["status"], "awaiting_provider", "it is still hers");
    let _ = ada.get(&back).await.expect(303);
    assert_eq!(poll(&app, &user, &made).await["status"], "connected");
}

#[tokio::test]
async fn a_member_of_the_same_workspace_cannot_finish_what_another_began() {
    let app = start().await;
    let (mut ada, _) = person(&app).await;
    let email = "bob@example.com";
    let (bob_id, mut bob) = Visitor::person(&app, email).await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    fanfare_people::users::set_member(&app.domain, team, bob_id, Role::Publisher).await.unwrap();
    let user = app.key(owner, Some(team), &Scope::ALL).await;
    let made = session(&user, "threads", json!({"sandbox": true})).await;
    let _ = ada.get(&page(&made)).await.expect(404);
    let network = bob.leave(&page(&made)).await;
    let back = bob.answer(&network, None).await;
    let (cara_id, mut cara) = Visitor::person(&app, "cara@example.com").await;
    fanfare_people::users::set_member(&app.domain, team, cara_id, Role::Admin).await.unwrap();
    let _ = cara.get(&back).await.expect(404);
    fanfare_people::users::set_member(&app.domain, team, cara_id, Role::Editor).await.unwrap();
    let _ = cara.get(&page(&made)).await.expect(403);
    let _ = bob.get(&back).await.expect(303);
    assert_eq!(poll(&app, &user, &made).await["status"], "connected");
}

#[tokio::test]
async fn a_colleague_finishes_a_link_that_another_began() {
    let app = start().await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (bob_id, mut bob) = Visitor::person(&app, "bob@example.com").await;
    let (cara_id, mut cara) = Visitor::person(&app, "cara@example.com").await;
    for id in [bob_id, cara_id] {
        fanfare_people::users::set_member(&app.domain, team, id, Role::Publisher).await.unwrap();
    }
    let user = app.key(owner, Some(team), &Scope::ALL).await;
    let made = session(&user, "threads", json!({"sandbox": true})).await;
    let bobs = bob.leave(&page(&made)).await;
    let bobs_way_back = bob.answer(&bobs, None).await;
    let caras = cara.leave(&page(&made)).await;
    let caras_way_back = cara.answer(&caras, None).await;
    let _ = bob.get(&bobs_way_back).await.expect(404);
    let _ = cara.get(&caras_way_back).await.expect(303);
    assert_eq!(poll(&app, &user, &made).await["status"], "connected");
}

#[tokio::test]
async fn who_may_begin_and_for_which_platform() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let refused = user.post("/api/v1/connect/threads/sessions", json!({})).await;
    let refused = refused.refused(409, "platform_not_configured");
    assert_eq!(
        refused.body["missing_environment"],
        json!(["FANFARE_THREADS_CLIENT_ID", "FANFARE_THREADS_CLIENT_SECRET"])
    );
    let _ = user
        .post("/api/v1/connect/nowhere/sessions", json!({}))
        .await
        .refused(404, "platform_not_found");
    let _ = user
        .post("/api/v1/connect/threads/sessions", json!({"autostart": true}))
        .await
        .refused(400, "unknown_field");
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (_, editor) = app.member(team, Role::Editor).await;
    let body = json!({"sandbox": true});
    let _ = editor
        .post("/api/v1/connect/threads/sessions", body.clone())
        .await
        .refused(403, "insufficient_workspace_permissions");
    let reader = app.key(owner, None, &[Scope::AccountsRead]).await;
    let _ = reader
        .post("/api/v1/connect/threads/sessions", body.clone())
        .await
        .refused(403, "insufficient_scope");
    let (locked, member) = app.member(team, Role::Publisher).await;
    let brand = app.brand(team, &[locked]).await;
    let _ =
        member.post("/api/v1/connect/threads/sessions", body).await.refused(403, "brand_required");
    let own = json!({"sandbox": true, "workspace_client_id": brand.to_string()});
    let made = session(&member, "threads", own).await;
    assert_eq!(made["workspace_client_id"], brand.to_string());
    let other = app.brand(team, &[]).await;
    let foreign = json!({"sandbox": true, "workspace_client_id": other.to_string()});
    let _ = member
        .post("/api/v1/connect/threads/sessions", foreign)
        .await
        .refused(403, "brand_required");
}
