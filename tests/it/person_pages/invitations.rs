//! Invitations into team workspaces, and what a plan has room for.

use std::time::Duration;

use fanfare_core::{
    WorkspaceId,
    access::{PlanTier, Role},
};
use fanfare_people::users;
use fanfare_tests::{TestApp, Visitor, visitor::PASSWORD};
use serde_json::Value;

use super::{HOSTILE, Somebody, assert_escaped};

const TEAM: &str = "/dashboard/team";
const INVITE: &str = "/dashboard/team/invitations";
const WORKSPACES: &str = "/dashboard/team/workspaces";

/// An admin and a team workspace of the admin's, which the admin's pages show.
async fn team(app: &TestApp) -> (Somebody, WorkspaceId) {
    let mut admin = Somebody::new(app, "admin@example.com").await;
    let team = app.workspace(admin.id).await;
    admin.choose(team).await;
    (admin, team)
}

/// Waits for the newest letter to this address that is not among `known`; its link.
pub(super) async fn link(app: &TestApp, email: &str, known: &[&str]) -> String {
    let http = fanfare_tests::local_client();
    app.eventually("a letter", || async {
        let mail =
            http.get(format!("{}/dev/mail", app.origin)).header("Accept", "application/json");
        let said: Value = mail.send().await.unwrap().json().await.unwrap();
        let letters = said["letters"].as_array().unwrap().iter();
        let mut links = letters.filter(|letter| letter["to"] == email).filter_map(|letter| {
            let mut words = letter["text"].as_str().unwrap().split_whitespace();
            words.find(|word| word.contains("/invitations/")).map(str::to_owned)
        });
        links.find(|link| !known.contains(&link.as_str()))
    })
    .await
}

async fn invite(admin: &mut Somebody, email: &str, role: &str) {
    let sent = admin.send(TEAM, INVITE, &[("email", email), ("role", role)]).await;
    // Without a mail server the page hands out the link, and says where the e-mail lies.
    let page = sent.expect(200).html;
    assert!(page.contains("/invitations/") && page.contains("href=\"/dev/mail\""), "{page}");
}

fn new_user(name: &str, password: &str, again: &str) -> Vec<(&'static str, String)> {
    let fields = [("name", name), ("password", password), ("password_again", again)];
    fields.map(|(field, value)| (field, value.to_owned())).to_vec()
}

#[tokio::test]
async fn an_invited_person_joins_with_a_new_password() {
    let app = TestApp::start().await;
    let (mut admin, team) = team(&app).await;
    invite(&mut admin, " New@Example.com", "editor").await;
    assert!(admin.page(TEAM).await.html.contains("new@example.com"));
    let link = link(&app, "new@example.com", &[]).await;
    let mut person = Visitor::nobody(&app);
    // Programs that follow links in mail look at the page, also twice.
    for _ in 0..2 {
        let shown = person.get(&link).await.expect(200);
        assert!(shown.html.contains("new@example.com") && shown.html.contains("editor"));
    }
    let differ = person.submit(&link, &new_user("Nia", PASSWORD, "another one")).await.expect(400);
    assert!(differ.html.contains("The two passwords differ."));
    let short = person.submit(&link, &new_user("Nia", "short", "short")).await.expect(400);
    assert!(short.html.contains("5 characters"));
    assert!(short.html.contains("name=\"name\" aria") || short.html.contains("value=\"Nia\""));
    let nameless = person.submit(&link, &new_user(" ", PASSWORD, PASSWORD)).await.expect(400);
    assert!(nameless.html.contains("name"));
    let joined = person.submit(&link, &new_user("Nia", PASSWORD, PASSWORD)).await.expect(303);
    assert_eq!(joined.location, "/dashboard");
    let page = person.get(TEAM).await.expect(200);
    assert!(page.html.contains("admin@example.com") && page.html.contains("Nia"));
    assert!(!page.html.contains("Change the role"), "an editor manages nobody");
    let _ = Visitor::nobody(&app).get(&link).await.expect(404);
    let members = users::workspaces_of(&app.domain, admin.id, Role::Viewer).await.unwrap();
    assert!(members.iter().any(|one| one.id == team));
    let mut again = Visitor::nobody(&app);
    let welcome = again.try_password_at("/login", "new@example.com", PASSWORD).await;
    assert_eq!(welcome.expect(303).location, "/dashboard");
}

#[tokio::test]
async fn a_user_with_a_password_logs_in_to_join() {
    let app = TestApp::start().await;
    let (mut admin, _) = team(&app).await;
    let mut bob = Somebody::new(&app, "bob@example.com").await;
    let mut eve = Somebody::new(&app, "eve@example.com").await;
    invite(&mut admin, "bob@example.com", "viewer").await;
    let link = link(&app, "bob@example.com", &[]).await;
    let path = link[link.find("/invitations/").unwrap()..].to_owned();
    let mut nobody = Visitor::nobody(&app);
    let shown = nobody.get(&link).await.expect(200);
    assert!(shown.html.contains(&format!("/login?next={path}")), "{}", shown.html);
    let taken = nobody.submit(&link, &new_user("Bob", PASSWORD, PASSWORD)).await.expect(400);
    assert!(taken.html.contains("has a password already"));
    let other = eve.browser.get(&link).await.expect(200);
    assert!(other.html.contains("You are logged in as eve@example.com"));
    let _ = eve.browser.submit(&link, &[]).await.expect(400);
    // The log-in leads back to the invitation.
    let page = format!("/login?next={path}");
    let back = nobody.try_password_at(&page, "bob@example.com", PASSWORD).await.expect(303);
    assert_eq!(back.location, path);
    let joined = bob.browser.submit(&link, &[]).await.expect(303);
    assert_eq!(joined.location, "/dashboard");
    assert!(bob.page(TEAM).await.html.contains("admin@example.com"));
    let _ = nobody.submit(&link, &[]).await.expect(404);
    let known = admin.send(TEAM, INVITE, &[("email", "bob@example.com"), ("role", "viewer")]).await;
    assert!(known.expect(400).html.contains("a member already"));
}

#[tokio::test]
async fn a_link_ends_with_a_newer_one_a_withdrawal_and_a_week() {
    let app = TestApp::start().await;
    let (mut admin, _) = team(&app).await;
    let mut person = Visitor::nobody(&app);
    invite(&mut admin, "new@example.com", "viewer").await;
    let first = link(&app, "new@example.com", &[]).await;
    invite(&mut admin, "new@example.com", "admin").await;
    let second = link(&app, "new@example.com", &[&first]).await;
    let _ = person.get(&first).await.expect(404);
    let _ = person.submit(&first, &new_user("Nia", PASSWORD, PASSWORD)).await.expect(404);
    assert!(person.get(&second).await.expect(200).html.contains("admin"));
    let page = admin.page(TEAM).await;
    let start = format!("{INVITE}/");
    let from = page.html.find(&start).expect("a form to withdraw");
    let action = page.html[from..].split('"').next().unwrap().to_owned();
    let withdrawn = admin.fill_in(&page, &action, &[]).await.expect(303);
    assert_eq!(withdrawn.location, "/dashboard/team?done=withdrawn");
    let _ = person.get(&second).await.expect(404);
    let _ = admin.fill_in(&page, &action, &[]).await.expect(404);
    invite(&mut admin, "new@example.com", "viewer").await;
    let third = link(&app, "new@example.com", &[&first, &second]).await;
    app.advance(Duration::from_secs(7 * 24 * 3_600 - 60));
    let _ = person.get(&third).await.expect(200);
    app.advance(Duration::from_secs(120));
    let _ = person.get(&third).await.expect(404);
    let _ = person.get("/invitations/no-such-token").await.expect(404);
}

#[tokio::test]
async fn only_admins_who_see_all_brands_invite_and_no_text_becomes_markup() {
    let app = TestApp::start().await;
    let mut owner = Somebody::new(&app, "owner@example.com").await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let mut bob = Somebody::new(&app, "bob@example.com").await;
    let name = format!("{HOSTILE} team");
    let team = users::create_workspace(&app.domain, &name, owner.id).await.unwrap();
    users::set_member(&app.domain, team, ada.id, Role::Publisher).await.unwrap();
    users::set_member(&app.domain, team, bob.id, Role::Admin).await.unwrap();
    let brand = app.brand(team, &[bob.id]).await.to_string();
    for person in [&mut owner, &mut ada, &mut bob] {
        person.choose(team).await;
    }
    let fields = [("email", "new@example.com"), ("role", "admin")];
    for person in [&mut ada, &mut bob] {
        let page = person.page(TEAM).await;
        assert!(!page.html.contains("invite-email"), "{}", page.html);
        let mut sent = vec![("csrf", page.hidden("csrf")), ("workspace_id", team.to_string())];
        sent.extend(fields.map(|(name, value)| (name, value.to_owned())));
        let _ = person.browser.send(INVITE, &sent).await.expect(403);
    }
    // An admin who is locked to a brand cannot end the lock.
    let page = bob.page(TEAM).await;
    let sent = [("csrf", page.hidden("csrf")), ("workspace_id", team.to_string())];
    let _ = bob.browser.send(&format!("{TEAM}/{}/brands", bob.id), &sent).await.expect(403);
    assert!(!bob.page(TEAM).await.html.contains("owner@example.com"));
    for (email, role) in [("nobody", "admin"), (HOSTILE, "admin"), ("a@b.c", "king"), ("", "")] {
        let refused = owner.send(TEAM, INVITE, &[("email", email), ("role", role)]).await;
        assert_escaped(&refused.expect(400));
    }
    invite(&mut owner, "new@example.com", "admin").await;
    let link = link(&app, "new@example.com", &[]).await;
    assert_escaped(&Visitor::nobody(&app).get(&link).await.expect(200));
    assert_escaped(&owner.page(TEAM).await);
    assert!(owner.page(TEAM).await.html.contains(&brand));
}

#[tokio::test]
async fn nothing_is_added_beyond_the_plan() {
    let app = TestApp::start().await;
    let mut owner = Somebody::new(&app, "owner@example.com").await;
    // The personal workspace takes no members, and its plan is what team workspaces get.
    let page = owner.page(TEAM).await;
    assert!(page.html.contains("People are invited into team workspaces"), "{}", page.html);
    let fields = [
        ("csrf", page.hidden("csrf")),
        ("workspace_id", owner.home.to_string()),
        ("email", "a@example.com".to_owned()),
        ("role", "viewer".to_owned()),
    ];
    let refused = owner.browser.send(INVITE, &fields).await.expect(400);
    assert!(refused.html.contains("no other members"), "{}", refused.html);
    users::set_plan(&app.domain, owner.home, PlanTier::Pro, Some(true)).await.unwrap();
    let made = owner.send(TEAM, WORKSPACES, &[("name", "The team")]).await.expect(303);
    assert_eq!(made.location, "/dashboard");
    let page = owner.page(TEAM).await;
    assert!(page.html.contains("The team"));
    let second = owner.send(TEAM, WORKSPACES, &[("name", "Another")]).await.expect(403);
    assert!(second.html.contains("room for 1 team workspace."), "{}", second.html);
    let _ = owner.send(TEAM, WORKSPACES, &[("name", " ")]).await.expect(400);
    // Pro: five members, of whom the owner is one, and five brands.
    for number in 1..=4 {
        invite(&mut owner, &format!("p{number}@example.com"), "viewer").await;
    }
    let full = owner.send(TEAM, INVITE, &[("email", "p5@example.com"), ("role", "viewer")]).await;
    assert!(full.expect(403).html.contains("room for 5 members"));
    // The address of an open invitation needs no more room.
    invite(&mut owner, "p1@example.com", "editor").await;
    for number in 1..=5 {
        let name = format!("Brand {number}");
        let _ = owner.send(TEAM, "/dashboard/brands", &[("name", &name)]).await.expect(303);
    }
    let sixth = owner.send(TEAM, "/dashboard/brands", &[("name", "Brand 6")]).await.expect(403);
    assert!(sixth.html.contains("room for 5 brands"), "{}", sixth.html);
    // A smaller plan takes nothing away and lets nobody in.
    let team = users::workspaces_of(&app.domain, owner.id, Role::Admin).await.unwrap();
    let team = team.iter().find(|one| one.name == "The team").unwrap().id;
    users::set_plan(&app.domain, team, PlanTier::Starter, None).await.unwrap();
    let link = link(&app, "p2@example.com", &[]).await;
    let mut late = Visitor::nobody(&app);
    let refused = late.submit(&link, &new_user("Late", PASSWORD, PASSWORD)).await.expect(403);
    assert!(refused.html.contains("room for 1 member."), "{}", refused.html);
    users::set_plan(&app.domain, team, PlanTier::Pro, None).await.unwrap();
    let _ = late.submit(&link, &new_user("Late", PASSWORD, PASSWORD)).await.expect(303);
}

#[tokio::test]
async fn invitations_end_with_the_role_of_their_sender() {
    let app = TestApp::start().await;
    let mut owner = Somebody::new(&app, "owner@example.com").await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let team = app.workspace(owner.id).await;
    owner.choose(team).await;
    let mut links: Vec<String> = Vec::new();
    for verb in ["role", "remove"] {
        users::set_member(&app.domain, team, ada.id, Role::Admin).await.unwrap();
        ada.choose(team).await;
        invite(&mut ada, "friend@example.com", "admin").await;
        let known: Vec<_> = links.iter().map(String::as_str).collect();
        let sent = link(&app, "friend@example.com", &known).await;
        let _ = Visitor::nobody(&app).get(&sent).await.expect(200);
        let action = format!("{TEAM}/{}/{verb}", ada.id);
        let _ = owner.send(TEAM, &action, &[("role", "viewer")]).await.expect(303);
        let ended =
            Visitor::nobody(&app).send(&sent, &new_user("Friend", PASSWORD, PASSWORD)).await;
        assert!(ended.expect(404).html.contains("Ask the person who invited you"));
        links.push(sent);
    }
    // The owner's own invitations stay.
    invite(&mut owner, "friend@example.com", "viewer").await;
    let known: Vec<_> = links.iter().map(String::as_str).collect();
    let sent = link(&app, "friend@example.com", &known).await;
    let mut friend = Visitor::nobody(&app);
    let _ = friend.submit(&sent, &new_user("Friend", PASSWORD, PASSWORD)).await.expect(303);
}
