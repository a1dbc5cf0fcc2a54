//! `/dashboard/team`, `/dashboard/webhooks` and `/dashboard/settings`; and what a paused subscription stops.

use std::time::Duration;

use fanfare_core::access::{PlanTier, Role};
use fanfare_entities::subscription;
use fanfare_people::users;
use fanfare_tests::{Receiver, TestApp, Visitor, visitor::PASSWORD};
use sea_orm::{ActiveValue::Set, EntityTrait};

use super::{HOSTILE, Somebody, assert_escaped};

#[tokio::test]
async fn admins_change_roles_and_brands_and_the_last_admin_and_the_owner_stay() {
    let app = TestApp::start().await;
    let mut owner = Somebody::new(&app, "owner@example.com").await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let bob = Somebody::new(&app, "bob@example.com").await;
    let team = app.workspace(owner.id).await;
    for person in [ada.id, bob.id] {
        users::set_member(&app.domain, team, person, Role::Editor).await.unwrap();
    }
    let brand = app.brand(team, &[]).await.to_string();
    owner.choose(team).await;
    let page = owner.page("/dashboard/team").await;
    assert!(page.html.contains("ada@example.com") && page.html.contains("bob@example.com"));
    let of = |person: fanfare_core::UserId, verb: &str| format!("/dashboard/team/{person}/{verb}");
    let role = [("role", "viewer")];
    let _ = owner.send("/dashboard/team", &of(ada.id, "role"), &role).await.expect(303);
    let _ = owner
        .send("/dashboard/team", &of(bob.id, "brands"), &[("brands", &brand)])
        .await
        .expect(303);
    let refused = owner.send("/dashboard/team", &of(owner.id, "role"), &role).await.expect(400);
    assert!(refused.html.contains("owns the workspace"));
    let refused = owner.send("/dashboard/team", &of(owner.id, "remove"), &[]).await.expect(400);
    assert!(refused.html.contains("owns the workspace"));
    // A viewer sees the members and changes nothing; a membership that is locked to a brand sees itself.
    ada.choose(team).await;
    let page = ada.page("/dashboard/team").await;
    assert!(page.html.contains("bob@example.com") && !page.html.contains("Change the role"));
    let csrf = page.hidden("csrf");
    let sent = [("csrf", csrf), ("workspace_id", team.to_string()), ("role", "admin".to_owned())];
    assert_eq!(ada.browser.send(&of(ada.id, "role"), &sent).await.status, 403);
    let mut bob = bob;
    bob.choose(team).await;
    let page = bob.page("/dashboard/team").await;
    assert!(page.html.contains("bob@example.com") && !page.html.contains("ada@example.com"));
    let _ = owner.send("/dashboard/team", &of(bob.id, "remove"), &[]).await.expect(303);
    assert!(!owner.page("/dashboard/team").await.html.contains("bob@example.com"));
    let page = owner.page("/dashboard/team").await;
    let stale = [
        ("csrf", page.hidden("csrf")),
        ("workspace_id", owner.home.to_string()),
        ("role", "admin".to_owned()),
    ];
    let stale = owner.browser.send(&of(ada.id, "role"), &stale).await.expect(400);
    assert!(stale.html.contains("Another workspace was chosen"));
}

#[tokio::test]
async fn of_two_admins_who_remove_one_another_one_stays() {
    let app = TestApp::start().await;
    let owner = app.person("owner@example.com").await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let mut bob = Somebody::new(&app, "bob@example.com").await;
    let team = app.workspace(owner).await;
    for person in [ada.id, bob.id] {
        users::set_member(&app.domain, team, person, Role::Admin).await.unwrap();
    }
    // An operator may take the role from the owner; the pages never do.
    users::set_member(&app.domain, team, owner, Role::Viewer).await.unwrap();
    ada.choose(team).await;
    bob.choose(team).await;
    bob.browser = bob.browser.at(&app.second_instance().await);
    let of = |person: fanfare_core::UserId, verb: &str| format!("/dashboard/team/{person}/{verb}");
    let viewer = [("role", "viewer")];
    let (demote_bob, demote_ada) = (of(bob.id, "role"), of(ada.id, "role"));
    // Both see the page as admins.
    let shown = (ada.page("/dashboard/team").await, bob.page("/dashboard/team").await);
    let (first, second) = tokio::join!(
        ada.fill_in(&shown.0, &demote_bob, &viewer),
        bob.fill_in(&shown.1, &demote_ada, &viewer)
    );
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 403], "{} {}", first.html, second.html);
    let last = if first.status == 303 { &mut ada } else { &mut bob };
    for (verb, fields) in [("role", &viewer[..]), ("remove", &[])] {
        let refused = last.send("/dashboard/team", &of(last.id, verb), fields).await.expect(400);
        assert!(refused.html.contains("this is the last one"), "{verb}: {}", refused.html);
    }
}

#[tokio::test]
async fn a_webhook_is_added_tested_redelivered_and_deleted() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let receiver = Receiver::start().await;
    let refused = ada.send("/dashboard/webhooks", "/dashboard/webhooks", &[("url", "x")]).await;
    assert!(refused.expect(400).html.contains("role=\"alert\""));
    let new = [("url", receiver.url.as_str()), ("events", "*")];
    let made = ada.send("/dashboard/webhooks", "/dashboard/webhooks", &new).await.expect(200);
    assert!(made.html.contains("It is shown only now") && made.html.contains("whsec_"));
    let page = ada.page("/dashboard/webhooks").await;
    assert!(page.html.contains(&receiver.url) && !page.html.contains("whsec_"));
    let listed = ada.user.get("/api/v1/webhooks").await.expect(200).body;
    let id = listed["webhooks"][0]["id"].as_str().unwrap().to_owned();
    let of = format!("/dashboard/webhooks/{id}");
    let _ = ada.send("/dashboard/webhooks", &format!("{of}/test"), &[]).await.expect(303);
    app.eventually("the test arrives", || async {
        (!receiver.received().is_empty()).then_some(())
    })
    .await;
    let deliveries = ada.page(&of).await;
    let again = deliveries.html.split("action=\"").find(|part| part.contains("/redeliver\""));
    let again = again.unwrap().split('"').next().unwrap().to_owned();
    let _ = ada.send(&of, &again, &[]).await.expect(303);
    app.eventually("it arrives again", || async { (receiver.received().len() > 1).then_some(()) })
        .await;
    let _ = ada.send("/dashboard/webhooks", &format!("{of}/disable"), &[]).await.expect(303);
    assert!(ada.page("/dashboard/webhooks").await.html.contains("disabled"));
    let fresh = ada.send("/dashboard/webhooks", &format!("{of}/rotate"), &[]).await.expect(200);
    assert!(fresh.html.contains("whsec_"));
    let mut bob = Somebody::new(&app, "bob@example.com").await;
    assert!(!bob.page("/dashboard/webhooks").await.html.contains(&receiver.url));
    assert_eq!(bob.browser.get(&of).await.status, 404);
    assert_eq!(bob.send("/dashboard/webhooks", &format!("{of}/delete"), &[]).await.status, 404);
    let _ = ada.send("/dashboard/webhooks", &format!("{of}/delete"), &[]).await.expect(303);
    assert!(ada.page("/dashboard/webhooks").await.html.contains("There is no webhook yet"));
}

#[tokio::test]
async fn names_zone_times_and_password_are_set() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let account = ada.user.connect("bluesky").await.to_string();
    let page = "/dashboard/settings";
    let part = |name: &str| format!("{page}/{name}");
    let _ = ada.send(page, &part("name"), &[("name", HOSTILE)]).await.expect(303);
    let workspace = [("name", "Harbour shop"), ("timezone", "Europe/Berlin")];
    let _ = ada.send(page, &part("workspace"), &workspace).await.expect(303);
    let shown = ada.page(page).await;
    assert_escaped(&shown);
    assert!(shown.html.contains("Harbour shop") && shown.html.contains("Europe/Berlin"));
    let wrong = [("name", ""), ("timezone", "Mars/Olympus")];
    assert!(ada.send(page, &part("workspace"), &wrong).await.expect(400).html.contains("Mars"));
    let times = [
        ("account_id", account.as_str()),
        ("times", "08:15, 20:45"),
        ("days", "friday"),
        ("timezone", "UTC"),
    ];
    let _ = ada.send(page, &part("times"), &times).await.expect(303);
    let slots = ada.user.get(&format!("/api/v1/accounts/{account}/slots")).await.expect(200).body;
    assert_eq!(slots["slots"]["times"], serde_json::json!(["08:15", "20:45"]));
    // Another browser of hers, which she ends.
    let mut other = Visitor::nobody(&app);
    let _ = other.try_password_at("/login", "ada@example.com", PASSWORD).await.expect(303);
    assert!(ada.page(page).await.html.contains("another browser"));
    let _ = ada.send(page, &part("log-ins"), &[]).await.expect(303);
    let _ = other.get(page).await.expect(303);
    let change = |current: &'static str, again: &'static str| {
        [("password", current), ("new_password", "a new and long one"), ("password_again", again)]
    };
    for (current, again) in [("not it", "a new and long one"), (PASSWORD, "another long one")] {
        let refused = ada.send(page, &part("password"), &change(current, again)).await;
        assert!(refused.expect(400).html.contains("role=\"alert\""));
    }
    let changed = ada.send(page, &part("password"), &change(PASSWORD, "a new and long one")).await;
    assert_eq!(changed.expect(303).location, "/login");
    let _ = ada.browser.get(page).await.expect(303);
    let mut fresh = Visitor::nobody(&app);
    let old = fresh.try_password_at("/login", "ada@example.com", PASSWORD).await;
    assert_eq!(old.status, 401);
    let _ =
        fresh.try_password_at("/login", "ada@example.com", "a new and long one").await.expect(303);
}

#[tokio::test]
async fn a_paused_subscription_connects_and_changes_nothing() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let page = ada.page("/connect/discord").await;
    let begin = [("csrf", page.hidden("csrf")), ("sandbox", "1".to_owned())];
    let session = ada.browser.send("/connect/discord", &begin).await.expect(303).location;
    let paused = subscription::ActiveModel {
        workspace_id: Set(ada.home),
        plan_tier: Set(PlanTier::Agency),
        active: Set(false),
        ..Default::default()
    };
    subscription::Entity::update(paused).exec(&app.domain.db.write).await.unwrap();
    let refused = ada.browser.send("/connect/discord", &begin).await;
    assert!(refused.html.contains("The subscription is paused"), "{}", refused.html);
    let refused = ada.browser.step(&session, "simulate", &[]).await;
    assert!(refused.html.contains("The subscription is paused"), "{}", refused.html);
    let settings = "/dashboard/settings";
    let zone = [("name", "x"), ("timezone", "UTC")];
    let refused = ada.send(settings, &format!("{settings}/workspace"), &zone).await.expect(403);
    assert!(refused.html.contains("The subscription is paused"));
    let accounts = ada.user.get("/api/v1/accounts").await;
    assert!(
        accounts.body["accounts"].as_array().is_none_or(Vec::is_empty),
        "nothing was connected"
    );
    let _ = ada.browser.step(&session, "cancel", &[]).await.expect(303);
}

#[tokio::test]
async fn an_old_log_in_needs_the_password_to_revoke_a_key_and_a_replaced_key_ends_no_later() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let new = serde_json::json!({"name": "short", "expires_in_days": 30, "scopes": ["posts:read"]});
    let made = ada.user.post("/api/v1/keys", new).await.expect(201).body;
    let (id, end) = (made["api_key"]["id"].clone(), made["api_key"]["expires_at"].clone());
    assert!(end.is_string(), "{made}");
    let action = |verb: &str| format!("/dashboard/api/{}/{verb}", id.as_str().unwrap());
    app.advance(Duration::from_secs(7_200));
    let refused = ada.send("/dashboard/api", &action("revoke"), &[]).await.expect(400);
    assert!(refused.html.contains("needs your password"));
    let password = [("password", PASSWORD)];
    let _ = ada.send("/dashboard/api", &action("replace"), &password).await.expect(200);
    let keys = ada.user.get("/api/v1/keys").await.expect(200).body["keys"].clone();
    let keys = keys.as_array().unwrap();
    let replaced = keys.iter().find(|key| key["name"] == "short").unwrap();
    assert_ne!(replaced["id"], id);
    assert_eq!(
        replaced["expires_at"], end,
        "the key in its place ends when the old one would have"
    );
    let revoke = format!("/dashboard/api/{}/revoke", replaced["id"].as_str().unwrap());
    let _ = ada.send("/dashboard/api", &revoke, &[]).await.expect(303);
}

/// Every change of the workspace as a whole, by the form that asks for it.
#[tokio::test]
async fn an_admin_who_is_locked_to_a_brand_changes_nothing_of_the_whole_workspace() {
    let app = TestApp::start().await;
    let owner = Somebody::new(&app, "owner@example.com").await;
    let mut bob = Somebody::new(&app, "bob@example.com").await;
    let team = app.workspace(owner.id).await;
    users::set_member(&app.domain, team, bob.id, Role::Admin).await.unwrap();
    let brand = app.brand(team, &[bob.id]).await.to_string();
    bob.choose(team).await;
    let settings = bob.page("/dashboard/settings").await;
    assert!(!settings.html.contains("workspace-name"), "{}", settings.html);
    let of = |person: fanfare_core::UserId, verb: &str| format!("/dashboard/team/{person}/{verb}");
    let (own, owners) = (bob.id, owner.id);
    let changes: [(String, Vec<(&str, String)>); 8] = [
        (
            "/dashboard/settings/workspace".to_owned(),
            vec![("name", "Bob's".to_owned()), ("timezone", "Asia/Tokyo".to_owned())],
        ),
        (of(own, "brands"), vec![]),
        (of(owners, "role"), vec![("role", "viewer".to_owned())]),
        (of(owners, "remove"), vec![]),
        (of(owners, "brands"), vec![("brands", brand)]),
        (
            "/dashboard/team/invitations".to_owned(),
            vec![("email", "x@example.com".to_owned()), ("role", "admin".to_owned())],
        ),
        ("/dashboard/brands".to_owned(), vec![("name", "Another".to_owned())]),
        (
            "/dashboard/webhooks".to_owned(),
            vec![("url", "https://example.com/h".to_owned()), ("events", "*".to_owned())],
        ),
    ];
    for (action, fields) in changes {
        let mut sent = vec![("csrf", settings.hidden("csrf")), ("workspace_id", team.to_string())];
        sent.extend(fields);
        let answer = bob.browser.send(&action, &sent).await;
        assert_eq!(answer.status, 403, "{action}: {}", answer.html);
    }
    let row = fanfare_entities::workspace::Entity::find_by_id(team).one(&app.domain.db.read).await;
    let row = row.unwrap().unwrap();
    assert_eq!((row.name.as_str(), row.timezone.as_str()), ("Team", "UTC"));
    let hook =
        serde_json::json!({"url": "https://example.com/h", "events": ["*"], "workspace_id": team});
    bob.user
        .post("/api/v1/webhooks", hook)
        .await
        .refused(403, "insufficient_workspace_permissions");
}
