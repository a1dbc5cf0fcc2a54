//! `/dashboard/inbox` and `/dashboard/reviews`.

use std::time::Duration;

use fanfare_core::access::{PlanTier, Role, Scope};
use fanfare_people::users;
use fanfare_tests::{TestApp, User};
use serde_json::{Value, json};

use super::{HOSTILE, Somebody, assert_escaped};

/// Has somebody write to an account, and waits until the inbox has it.
async fn write(app: &TestApp, user: &User, platform: &str, item: Value) -> i64 {
    let kind = item["kind"].as_str().unwrap().to_owned();
    let account = item["account_id"].clone();
    let text = item["text"].clone();
    let inbound = format!("/api/v1/sandbox/{platform}/inbound");
    let _ = user.post(&inbound, item).await.expect(201);
    let (path, list) = match kind.as_str() {
        "message" => ("/api/v1/inbox/conversations", "conversations"),
        "comment" => ("/api/v1/inbox/comments", "comments"),
        _ => ("/api/v1/google-business/reviews", "reviews"),
    };
    app.eventually("the item is there", || async {
        let page = user.get(&format!("{path}?account_id={account}")).await.expect(200).body;
        let said = |one: &&Value| one["text"] == text || one["last_message"]["text"] == text;
        page[list].as_array().unwrap().iter().find(said)?["id"].as_i64()
    })
    .await
}

#[tokio::test]
async fn a_conversation_is_answered_within_its_time_and_not_after_it() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let account = ada.user.connect("instagram").await;
    let item = json!({"account_id": account, "kind": "message", "text": "Are you open?", "author": {"id": "77001", "username": "grace"}});
    let id = write(&app, &ada.user, "instagram", item).await;
    let list = ada.page("/dashboard/inbox").await;
    assert!(list.html.contains("Are you open?"));
    assert!(list.html.contains("waiting"));
    assert!(!ada.page("/dashboard/inbox?unanswered=false").await.html.contains("Are you open?"));
    let path = format!("/dashboard/inbox/conversations/{id}");
    let page = ada.page(&path).await;
    assert!(page.html.contains("You can reply for another"), "{}", page.html);
    let forged = [("csrf", "guessed".to_owned()), ("text", "Until six.".to_owned())];
    assert_eq!(ada.browser.send(&path, &forged).await.status, 400);
    let empty = ada.send(&path, &path, &[("text", " ")]).await.expect(400);
    assert!(empty.html.contains("role=\"alert\""));
    // The same form sent twice is one reply.
    let form = [
        ("csrf", page.hidden("csrf")),
        ("once", page.hidden("once")),
        ("text", "Until six.".to_owned()),
    ];
    for _ in 0..2 {
        let sent = ada.browser.send(&path, &form).await.expect(303);
        assert_eq!(sent.location, format!("{path}?done=sent"));
    }
    let page = ada.page(&format!("{path}?done=sent")).await;
    assert!(page.html.contains("The answer was sent."));
    assert_eq!(page.html.matches("Until six.").count(), 1);
    // The network does not answer: until the outcome is known the risk is named, and the text stays in the form.
    ada.user.faults("instagram", account, json!([{"on": "commit", "kind": "reset"}])).await;
    let lost = ada.send(&path, &path, &[("text", "Come at five")]).await.expect(303);
    assert_eq!(lost.location, format!("{path}?done=open"));
    let unknown = ada.page(&path).await.html;
    assert!(unknown.contains("outcome unknown"));
    // Without scripts a person who writes is not interrupted, and has a link.
    assert!(unknown.contains("data-follow") && unknown.contains("Load the page again"));
    assert!(!unknown.contains("http-equiv"));
    let risky = ada.send(&path, &path, &[("text", "Come at five")]).await.expect(409);
    assert!(risky.html.contains("name=\"again\""));
    assert!(risky.html.contains(">\nCome at five</textarea>"));
    let _ = ada.send(&path, &path, &[("text", "Come at five"), ("again", "1")]).await.expect(303);
    app.advance(Duration::from_secs(24 * 3_600 + 60));
    let page = ada.page(&path).await;
    assert!(page.html.contains("The time to reply ended"));
    assert!(!page.html.contains("<textarea"));
    let late = [("csrf", page.hidden("csrf")), ("text", "Too late".to_owned())];
    let late = ada.browser.send(&path, &late).await.expect(409);
    assert!(late.html.contains("has to write again first"));
}

#[tokio::test]
async fn comments_are_answered_hidden_shown_and_deleted_through_forms() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let account = ada.user.connect("facebook").await;
    let post = fanfare_tests::networks::post("facebook", account);
    let post = fanfare_tests::networks::publish(&app, &ada.user, post).await;
    let text = format!("Lovely {HOSTILE} {}", "x".repeat(6_000));
    let item = json!({"account_id": account, "kind": "comment", "text": text, "post_id": post["id"].to_string()});
    let id = write(&app, &ada.user, "facebook", item).await;
    let list = ada.page("/dashboard/inbox?view=comments").await;
    assert!(list.html.contains("Lovely") && !list.html.contains(&"x".repeat(200)));
    assert_escaped(&list);
    let path = format!("/dashboard/inbox/comments/{id}");
    let page = ada.page(&path).await;
    assert_escaped(&page);
    assert!(!page.html.contains(&"x".repeat(5_500)), "a text is cut");
    let sent = ada.send(&path, &path, &[("text", "Glad that you like it")]).await.expect(303);
    assert_eq!(sent.location, format!("{path}?done=sent"));
    assert!(ada.page(&path).await.html.contains("Glad that you like it"));
    for (verb, done) in [("hide", "hidden"), ("unhide", "shown"), ("delete", "deleted")] {
        let offered = ada.page(&path).await;
        assert!(offered.html.contains(&format!("{path}/{verb}")), "{verb}: {}", offered.html);
        let sent = ada.send(&path, &format!("{path}/{verb}"), &[]).await.expect(303);
        assert_eq!(sent.location, format!("{path}?done={done}"));
    }
    let page = ada.page(&path).await;
    assert!(page.html.contains("This was deleted") && !page.html.contains("<textarea"));
    assert_eq!(ada.send("/dashboard/inbox", &format!("{path}/like"), &[]).await.status, 404);
}

#[tokio::test]
async fn the_inbox_shows_the_own_rows_obeys_roles_and_needs_the_plan() {
    let app = TestApp::start().await;
    let owner = Somebody::new(&app, "owner@example.com").await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let team = app.workspace(owner.id).await;
    let theirs = app.key(owner.id, Some(team), &Scope::ALL).await;
    let account = theirs.connect("facebook").await;
    let item = json!({"account_id": account, "kind": "message", "text": "A secret of theirs"});
    let id = write(&app, &theirs, "facebook", item).await;
    let path = format!("/dashboard/inbox/conversations/{id}");
    assert!(!ada.page("/dashboard/inbox").await.html.contains("A secret of theirs"));
    assert_eq!(ada.browser.get(&path).await.status, 404);
    let csrf = ada.page("/dashboard/inbox").await.hidden("csrf");
    let sent = [("csrf", csrf), ("text", "Hello".to_owned())];
    assert_eq!(ada.browser.send(&path, &sent).await.status, 404);
    users::set_member(&app.domain, team, ada.id, Role::Viewer).await.unwrap();
    ada.choose(team).await;
    assert!(ada.page("/dashboard/inbox").await.html.contains("A secret of theirs"));
    let page = ada.page(&path).await;
    assert!(page.html.contains("Replies need the role editor") && !page.html.contains("<textarea"));
    assert_eq!(ada.browser.send(&path, &sent).await.status, 403);
    app.brand(team, &[ada.id]).await;
    assert!(!ada.page("/dashboard/inbox").await.html.contains("A secret of theirs"));
    assert_eq!(ada.browser.get(&path).await.status, 404);
    users::set_plan(&app.domain, ada.home, PlanTier::Starter, None).await.unwrap();
    ada.choose(ada.home).await;
    let page = ada.page("/dashboard/inbox").await;
    assert!(page.html.contains("needs the plan pro") && page.html.contains("Compare plans"));
}

#[tokio::test]
async fn a_review_is_answered_changed_and_its_answer_deleted() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let account = ada.user.connect("google_business").await;
    let item = json!({"account_id": account, "kind": "review", "text": format!("Fine paper {HOSTILE}"), "rating": 4});
    let _ = ada.user.post("/api/v1/sandbox/google_business/inbound", item).await.expect(201);
    let id = app
        .eventually_in_time("the review is there", Duration::from_secs(16 * 60), || async {
            let page = ada.user.get("/api/v1/google-business/reviews?rating=4").await;
            page.expect(200).body["reviews"][0]["id"].as_i64()
        })
        .await;
    let page = ada.page("/dashboard/reviews").await;
    assert_escaped(&page);
    assert!(page.html.contains("Fine paper") && page.html.contains("4 of 5 stars"));
    assert!(!ada.page("/dashboard/reviews?rating=1,2").await.html.contains("Fine paper"));
    let action = format!("/dashboard/reviews/{id}");
    let long = "x".repeat(5_000);
    let refused = ada.send("/dashboard/reviews", &action, &[("text", &long)]).await.expect(400);
    assert!(refused.html.contains("role=\"alert\"") && refused.html.contains(&long));
    let sent = ada.send("/dashboard/reviews", &action, &[("text", "Thank you")]).await.expect(303);
    assert_eq!(sent.location, format!("/dashboard/reviews?done=sent#review-{id}"));
    let page = ada.page("/dashboard/reviews").await;
    assert!(page.html.contains("Your answer") && page.html.contains("Thank you"));
    let again = ada.send("/dashboard/reviews", &action, &[("text", "Thanks")]).await.expect(409);
    assert!(again.html.contains("role=\"alert\""), "nothing is overwritten unasked");
    let change = [("text", "Thanks a lot"), ("replace", "1")];
    let _ = ada.send("/dashboard/reviews", &action, &change).await.expect(303);
    assert!(ada.page("/dashboard/reviews").await.html.contains("Thanks a lot"));
    let _ = ada.send("/dashboard/reviews", &format!("{action}/delete"), &[]).await.expect(303);
    let mut bob = Somebody::new(&app, "bob@example.com").await;
    assert!(!bob.page("/dashboard/reviews").await.html.contains("Fine paper"));
    let theirs = bob.send("/dashboard/reviews", &action, &[("text", "Mine")]).await;
    assert_eq!(theirs.status, 404);
}
