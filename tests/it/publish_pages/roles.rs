//! What a role may do by the API it can do on the pages, and nothing else.

use fanfare_api::routes::ROUTES;
use fanfare_core::access::{Role, Scope};
use fanfare_people::users;
use fanfare_tests::Visitor;
use serde_json::json;

use super::{choose, person, quiet, send, tomorrow, workspace};

/// The role that an operation needs; `part` is what makes it another one: a draft, or a field that raises it.
fn needed(operation: &str, part: &str) -> Role {
    let route = ROUTES.iter().find(|route| route.name == operation).expect(operation);
    match (part, route.policy.drafts, route.policy.raised) {
        ("draft", Some(_), _) => Role::Editor,
        ("time", _, Some(raised)) => raised.role,
        _ => route.policy.role,
    }
}

#[tokio::test]
async fn a_page_offers_what_the_route_table_allows() {
    let app = quiet().await;
    let (_, owner) = person(&app, "owner@example.com").await;
    let account = owner.connect("bluesky").await;
    let others = [owner.connect("mastodon").await, owner.connect("threads").await];
    owner.connect("telegram").await;
    let team = workspace(&owner).await;
    let set = json!({
        "targets": [{"account_id": others[0]}, {"account_id": others[1]}],
        "caption": "For two",
        "scheduled_at": app.at(86_400),
    });
    let set = owner.post("/api/v1/post-sets", set).await.expect(201).body["post_set"].clone();
    for role in [Role::Viewer, Role::Editor, Role::Publisher, Role::Admin] {
        let (id, mut visitor) = Visitor::person(&app, &format!("{role:?}@example.com")).await;
        users::set_member(&app.domain, team, id, role).await.unwrap();
        let member = app.key(id, None, &Scope::ALL).await;
        let _ = choose(&mut visitor, &team.to_string()).await.expect(303);
        let scheduled = tomorrow(&app, &owner, account, "Soup").await;
        let draft = json!({"account_id": account, "caption": "Draft", "status": "draft"});
        let of_owner = owner.publish(draft.clone()).await["id"].clone();
        let mine = member.post("/api/v1/posts", draft.clone()).await;
        assert_eq!(mine.status == 201, role >= needed("create_post", "draft"), "{}", mine.text);
        let mine = mine.body["post"]["id"].as_i64();
        let page = |id: &str| format!("/dashboard/posts/{id}");
        let set = format!("/dashboard/sets/{}", set["id"].as_str().unwrap());
        let mut offers = vec![
            (set.clone(), "/text\"", "update_post_set", ""),
            (set.clone(), "/move\"", "update_post_set", "time"),
            (set.clone(), "/pause\"", "update_post_set_status", ""),
            (set.clone(), "/add\"", "add_post_set_targets", ""),
            (set, "/delete\"", "delete_post_set", ""),
            ("/dashboard/posts/new".to_owned(), "value=\"draft\"", "create_post", "draft"),
            ("/dashboard/posts/new".to_owned(), "value=\"schedule\"", "create_post", ""),
            ("/dashboard/posts/new".to_owned(), "value=\"publish\"", "create_post", ""),
            (page(&scheduled.to_string()), "/text\"", "update_post", ""),
            (page(&scheduled.to_string()), "/move\"", "update_post", "time"),
            (page(&scheduled.to_string()), "/pause\"", "update_post_status", ""),
            (page(&scheduled.to_string()), "/delete\"", "delete_post", ""),
            (page(&of_owner.to_string()), "/text\"", "update_post", ""),
            (page(&of_owner.to_string()), "/schedule\"", "update_post_status", ""),
            (page(&of_owner.to_string()), "/delete\"", "delete_post", ""),
            ("/dashboard/accounts".to_owned(), "/sandbox\"", "create_sandbox_account", ""),
            ("/dashboard/accounts".to_owned(), "/disconnect\"", "disconnect_account", ""),
            ("/dashboard/inbox".to_owned(), "/sync\"", "sync_inbox", ""),
            ("/dashboard/webhooks".to_owned(), "Add the webhook", "create_webhook", ""),
            ("/dashboard/settings".to_owned(), "/times\"", "set_account_slots", ""),
        ];
        if let Some(mine) = mine {
            offers.push((page(&mine.to_string()), "/delete\"", "delete_post", "draft"));
        }
        for (path, offer, operation, part) in offers {
            let html = visitor.get(&path).await.expect(200).html;
            let may = role >= needed(operation, part);
            assert_eq!(html.contains(offer), may, "{role:?} {path} {offer}");
        }
    }
}

#[tokio::test]
async fn an_editor_writes_changes_and_deletes_drafts() {
    let app = quiet().await;
    let (_, owner) = person(&app, "owner@example.com").await;
    let account = owner.connect("bluesky").await;
    let team = workspace(&owner).await;
    let (id, mut bob) = Visitor::person(&app, "bob@example.com").await;
    users::set_member(&app.domain, team, id, Role::Editor).await.unwrap();
    let _ = choose(&mut bob, &team.to_string()).await.expect(303);
    let new = "/dashboard/posts/new";
    let (account_id, day) = (account.to_string(), format!("{}T10:00", &app.at(86_400)[..10]));
    let fields = |step: &'static str, text: &'static str| {
        [
            ("account_id", account_id.clone()),
            ("caption", text.to_owned()),
            ("do", step.to_owned()),
            ("scheduled_at", day.clone()),
        ]
    };
    for step in ["schedule", "publish"] {
        let sent = fields(step, "Not mine to say");
        let sent: Vec<_> = sent.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let refused = send(&mut bob, new, new, &sent).await.expect(403).html;
        assert!(refused.contains(">\nNot mine to say</textarea>"), "{refused}");
    }
    let sent = fields("draft", "A draft");
    let sent: Vec<_> = sent.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let page = send(&mut bob, new, new, &sent).await.expect(303).location;
    let shown = bob.get(&page).await.expect(200).html;
    assert!(shown.contains("A draft") && shown.contains(">draft</span>"), "{shown}");
    let text = [("caption", "A better draft")];
    let _ = send(&mut bob, &page, &format!("{page}/text"), &text).await.expect(303);
    let number: i64 = page.rsplit('/').next().unwrap().parse().unwrap();
    assert_eq!(super::shown(&owner, number).await["caption"], "A better draft");
    let deleted = send(&mut bob, &page, &format!("{page}/delete"), &[]).await;
    assert_eq!(deleted.expect(303).location, "/dashboard/posts");
    // Of what others wrote the text can be changed, and nothing deleted.
    let other = json!({"account_id": account, "caption": "Ours", "status": "draft"});
    let other = owner.publish(other).await["id"].clone();
    let page = format!("/dashboard/posts/{other}");
    let refused = send(&mut bob, &page, &format!("{page}/delete"), &[]).await;
    assert_eq!(refused.status, 403, "{}", refused.html);
    let _ = send(&mut bob, &page, &format!("{page}/text"), &text).await.expect(303);
}
