//! `/dashboard/posts` and what can be done there.

use std::time::Duration;

use fanfare_core::access::Role;
use fanfare_people::users;
use fanfare_tests::{Browser, TestApp, Visitor, visitor::PASSWORD};
use serde_json::json;

use super::{choose, person, post, quiet, send, shown, tomorrow, workspace};

#[tokio::test]
async fn posts_are_listed_and_filtered() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let empty = ada.get("/dashboard/posts").await.expect(200).html;
    assert!(empty.contains("Connect an account first"));
    let account = user.connect("bluesky").await;
    let other = user.connect("threads").await;
    for nth in 0..30 {
        tomorrow(&app, &user, account, &format!("Number {nth}.")).await;
    }
    let draft = json!({"account_id": other, "caption": "An idea", "status": "draft"});
    post(&user, draft).await;
    let first = ada.get("/dashboard/posts").await.expect(200);
    assert!(first.html.contains("An idea") && first.html.contains("Number 29."));
    assert!(!first.html.contains("Number 3."));
    let older = first.link("Older posts");
    let second = ada.get(&older).await.expect(200).html;
    assert!(second.contains("Number 3.") && !second.contains("Older posts"));
    let drafts = ada.get("/dashboard/posts?status=draft").await.expect(200).html;
    assert!(drafts.contains("An idea") && !drafts.contains("Number 29."));
    let of_account =
        ada.get(&format!("/dashboard/posts?account_id={account}")).await.expect(200).html;
    assert!(!of_account.contains("An idea"));
    let none = ada.get("/dashboard/posts?status=failed").await.expect(200).html;
    assert!(none.contains("No post matches."));
    let _ = ada.get("/dashboard/posts?account_id=seven").await.expect(400);
}

#[tokio::test]
async fn a_post_is_paused_resumed_moved_reworded_and_deleted_by_forms() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await;
    let id = tomorrow(&app, &user, account, "Soup").await;
    let page = format!("/dashboard/posts/{id}");
    let at = |verb: &str| format!("{page}/{verb}");
    for (verb, status) in [("pause", "paused"), ("schedule", "scheduled"), ("draft", "draft")] {
        let done = send(&mut ada, &page, &at(verb), &[]).await.expect(303);
        assert_eq!(done.location, page);
        assert_eq!(shown(&user, id).await["status"], status);
    }
    // A draft needs a time.
    let missing = send(&mut ada, &page, &at("schedule"), &[("scheduled_at", "soon")]).await;
    assert_eq!(missing.status, 400);
    assert!(missing.html.contains("is not a time") && missing.html.contains("role=\"alert\""));
    let day = &app.at(3 * 86_400)[..10];
    let time = format!("{day}T09:30");
    let _ = send(&mut ada, &page, &at("schedule"), &[("scheduled_at", &time)]).await.expect(303);
    assert_eq!(shown(&user, id).await["scheduled_at"], format!("{day}T09:30:00.000Z"));
    let words = "Soup\r\nof the day";
    let _ = send(&mut ada, &page, &at("text"), &[("caption", words)]).await.expect(303);
    assert_eq!(shown(&user, id).await["caption"], "Soup\nof the day");
    let long = "x".repeat(301);
    let refused = send(&mut ada, &page, &at("text"), &[("caption", &long)]).await;
    assert_eq!(refused.status, 400);
    assert!(refused.html.contains("300"), "the network's limit is named");
    // Another day keeps the time of day.
    let later = &app.at(5 * 86_400)[..10];
    let id_text = id.to_string();
    let fields = [("post", id_text.as_str()), ("day", later), ("view", "month")];
    let moved = send(&mut ada, &page, "/dashboard/posts/move", &fields).await.expect(303);
    assert_eq!(moved.location, format!("/dashboard/posts?view=month&day={later}"));
    assert_eq!(shown(&user, id).await["scheduled_at"], format!("{later}T09:30:00.000Z"));
    let past = [("post", id_text.as_str()), ("day", "2001-01-01")];
    let refused = send(&mut ada, &page, "/dashboard/posts/move", &past).await;
    assert_eq!(refused.status, 400);
    assert!(refused.html.contains("in the past"));
    let gone = send(&mut ada, &page, &at("delete"), &[]).await.expect(303);
    assert_eq!(gone.location, "/dashboard/posts");
    user.get(&format!("/api/v1/posts/{id}")).await.refused(404, "post_not_found");
    assert_eq!(ada.get(&page).await.status, 404);
}

#[tokio::test]
async fn a_failed_post_is_published_again_and_a_public_one_shows_its_address() {
    let app = TestApp::start().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await;
    let refuses = json!([{"on": "commit", "kind": "status", "status": 400, "times": 50}]);
    user.faults("bluesky", account, refuses).await;
    let id = post(&user, json!({"account_id": account, "caption": "At last"})).await;
    app.wait_for_status(&user, id, &["failed"]).await;
    user.faults("bluesky", account, json!([])).await;
    let page = format!("/dashboard/posts/{id}");
    let _ = send(&mut ada, &page, &format!("{page}/retry"), &[]).await.expect(303);
    let public = app.wait_for_status(&user, id, &["published"]).await;
    let html = ada.get(&page).await.expect(200).html;
    let url = public["platform_post_url"].as_str().unwrap();
    assert!(html.contains(&format!("href=\"{}\"", url.replace('&', "&amp;"))), "{html}");
    assert!(!html.contains("/retry\"") && !html.contains("/delete\""));
    let again = send(&mut ada, "/dashboard/accounts", &format!("{page}/retry"), &[]).await;
    assert_eq!(again.status, 409, "{}", again.html);
}

#[tokio::test]
async fn a_lost_answer_needs_a_confirmation() {
    let app = TestApp::start().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("telegram").await;
    let lost = json!([{"on": "commit", "kind": "drop_after_change", "times": 50}]);
    user.faults("telegram", account, lost).await;
    let id = post(&user, json!({"account_id": account, "caption": "Perhaps"})).await;
    app.wait_for_status(&user, id, &["failed"]).await;
    user.faults("telegram", account, json!([])).await;
    let page = format!("/dashboard/posts/{id}");
    let html = ada.get(&page).await.expect(200).html;
    assert!(html.contains("may be public already"), "{html}");
    for page in [page.as_str(), "/dashboard"] {
        let html = ada.get(page).await.expect(200).html;
        assert!(html.contains("We do not know whether it was published."), "{html}");
        assert!(html.contains("Look at Telegram.") && !html.contains("not published"), "{html}");
    }
    assert!(ada.get("/dashboard/posts").await.expect(200).html.contains(">not known</span>"));
    let retry = format!("{page}/retry");
    let blind = send(&mut ada, &page, &retry, &[]).await;
    assert_eq!(blind.status, 409);
    assert!(blind.html.contains("may already be public"));
    let sure = [("acknowledge_duplicate_risk", "1")];
    let _ = send(&mut ada, &page, &retry, &sure).await.expect(303);
    app.wait_for_status(&user, id, &["published"]).await;
}

#[tokio::test]
async fn while_the_network_is_asked_nothing_invites_to_publish_again() {
    let app = TestApp::start().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("x").await;
    let lost = json!([{"on": "commit", "kind": "drop_after_change", "times": 1}]);
    user.faults("x", account, lost).await;
    let id = post(&user, json!({"account_id": account, "caption": "Perhaps"})).await;
    app.eventually("X is asked", || async {
        (shown(&user, id).await["error"]["retry_safe"] == false).then_some(())
    })
    .await;
    let html = ada.get(&format!("/dashboard/posts/{id}")).await.expect(200).html;
    for known in [
        "We do not know yet whether it was published.",
        "We are asking X whether the post was published.",
        "Do not publish the post again.",
        "The next look is on ",
        ">asking</span>",
        ">under way</span>",
    ] {
        assert!(html.contains(known), "{known}: {html}");
    }
    for untrue in ["not published", "attempt failed", "/retry", "Retry the post"] {
        assert!(!html.contains(untrue), "{untrue}: {html}");
    }
    // Without scripts the page loads again while it waits.
    assert!(html.contains("<noscript><meta http-equiv=\"refresh\""), "{html}");
    assert!(ada.get("/dashboard/posts").await.expect(200).html.contains(">asking</span>"));
}

#[tokio::test]
async fn a_form_needs_its_token_and_the_role() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await;
    let id = tomorrow(&app, &user, account, "Soup").await;
    let page = format!("/dashboard/posts/{id}");
    for action in ["pause", "draft", "schedule", "move", "text", "retry", "delete"] {
        let forged = ada.send(&format!("{page}/{action}"), &[("csrf", "guessed".into())]).await;
        assert_eq!(forged.status, 400, "{action}");
    }
    for action in ["/dashboard/posts/move", "/dashboard/workspace", "/dashboard/accounts/sandbox"] {
        assert_eq!(ada.send(action, &[]).await.status, 400, "{action}");
    }
    let workspace = workspace(&user).await;
    let (viewer, mut bob) = Visitor::person(&app, "bob@example.com").await;
    assert_eq!(bob.get(&page).await.status, 404, "a stranger learns nothing");
    for (role, may_reword) in [(Role::Viewer, false), (Role::Editor, true)] {
        users::set_member(&app.domain, workspace, viewer, role).await.unwrap();
        let html = bob.get(&page).await.expect(200).html;
        assert!(html.contains("Soup") && !html.contains("/delete\"") && !html.contains("/pause\""));
        assert_eq!(html.contains("Change the text"), may_reword);
        for action in ["pause", "draft", "move", "delete"] {
            let fields = [("scheduled_at", "2040-01-01T10:00")];
            let refused = send(&mut bob, &page, &format!("{page}/{action}"), &fields).await;
            assert_eq!(refused.status, 403, "{action}");
        }
        let words = [("caption", "Stew")];
        let reworded = send(&mut bob, &page, &format!("{page}/text"), &words).await;
        assert_eq!(reworded.status, if may_reword { 303 } else { 403 });
    }
    assert_eq!(shown(&user, id).await["caption"], "Stew");
    assert_eq!(shown(&user, id).await["status"], "scheduled");
}

#[tokio::test]
async fn a_seat_locked_to_a_brand_sees_its_own_posts_alone() {
    let app = quiet().await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (_, all) = app.member(team, Role::Admin).await;
    let (person, mut eve) = Visitor::person(&app, "eve@example.com").await;
    users::set_member(&app.domain, team, person, Role::Publisher).await.unwrap();
    let brand = app.brand(team, &[person]).await;
    let free = all.connect("threads").await;
    let hidden = tomorrow(&app, &all, free, "Not of the brand").await;
    let own = json!({"platform": "bluesky", "workspace_client_id": brand});
    let own = all.post("/api/v1/sandbox/accounts", own).await.expect(201);
    let own = own.body["account"]["id"].as_i64().unwrap();
    tomorrow(&app, &all, own, "Of the brand").await;
    // Tomorrow may lie in the next week.
    let week = format!("/dashboard/posts?view=week&day={}", &app.at(86_400)[..10]);
    let id = team.to_string();
    let chosen = choose(&mut eve, &id);
    let _ = chosen.await.expect(303);
    for page in ["/dashboard", "/dashboard/posts", &week, "/dashboard/accounts"] {
        let html = eve.get(page).await.expect(200).html;
        assert!(!html.contains("Not of the brand"), "{page}");
        assert!(page.ends_with("accounts") || html.contains("Of the brand"), "{page}");
    }
    assert_eq!(eve.get(&format!("/dashboard/posts/{hidden}")).await.status, 404);
    let gone = format!("/dashboard/posts/{hidden}/delete");
    assert_eq!(send(&mut eve, "/dashboard", &gone, &[]).await.status, 404);
    let gone = format!("/dashboard/accounts/{free}/disconnect");
    assert_eq!(send(&mut eve, "/dashboard", &gone, &[]).await.status, 404);
    assert_eq!(shown(&all, hidden).await["status"], "scheduled");
}

#[tokio::test]
async fn a_post_is_dragged_to_another_day() {
    let app = quiet().await;
    let (_, user) = person(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await;
    let id = tomorrow(&app, &user, account, "Dragged").await;
    let before = shown(&user, id).await["scheduled_at"].as_str().unwrap().to_owned();
    let mut browser = Browser::start().await;
    browser.set_viewport(1280, false).await;
    // Tomorrow may be in another month than today.
    let month = format!("/dashboard/posts?view=month&day={}", &before[..10]);
    log_in(&mut browser, &app, "ada@example.com", &month).await;
    browser.until("document.querySelector('.chip[draggable]')").await;
    let drag = "(() => { const chip = document.querySelector('.chip[draggable]'); \
        const days = [...document.querySelectorAll('ol.calendar > li')]; \
        const from = days.findIndex(day => day.contains(chip)); \
        const to = days[from + 1] || days[from - 1]; \
        const data = new DataTransfer(); \
        const fire = (at, kind) => at.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: data})); \
        fire(chip, 'dragstart'); fire(to, 'dragover'); fire(to, 'drop'); return to.dataset.day; })()";
    let day = browser.eval(drag).await.as_str().unwrap().to_owned();
    browser.until(&format!("location.search.includes('day={day}')")).await;
    let after = shown(&user, id).await["scheduled_at"].as_str().unwrap().to_owned();
    assert_eq!(after[..10], day);
    assert_eq!(after[10..], before[10..], "the time of day stays");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Logs a person in on the way to a page.
pub async fn log_in(browser: &mut Browser, app: &TestApp, email: &str, page: &str) {
    browser.eval(&format!("location.href = '{}{page}'", app.origin)).await;
    browser.until("location.pathname === '/login' && document.getElementById('password')").await;
    let fill = format!(
        "document.getElementById('email').value = '{email}'; \
         document.getElementById('password').value = '{PASSWORD}'; \
         document.querySelector('main button').click()"
    );
    browser.eval(&fill).await;
    browser.until(&format!("location.href.endsWith({})", json!(page))).await;
}

#[tokio::test]
async fn a_paused_post_whose_time_has_passed_needs_a_new_one() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await;
    let id = tomorrow(&app, &user, account, "Late").await;
    let page = format!("/dashboard/posts/{id}");
    let _ = send(&mut ada, &page, &format!("{page}/pause"), &[]).await.expect(303);
    app.advance(Duration::from_secs(2 * 86_400));
    let refused = send(&mut ada, &page, &format!("{page}/schedule"), &[]).await;
    assert_eq!(refused.status, 400);
    assert!(refused.html.contains("time has passed"));
}
