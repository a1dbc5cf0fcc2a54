//! `/dashboard/sets/{id}`: a set's own page, and sets among the posts.

use std::time::Duration;

use fanfare_tests::{TestApp, User, Visitor, visitor::PageReply};
use serde_json::{Value, json};

use super::{person, quiet, send, tomorrow};

/// Makes a set for a day from now.
async fn set(app: &TestApp, user: &User, accounts: &[i64], caption: &str) -> Value {
    let targets: Value = accounts.iter().map(|id| json!({"account_id": id})).collect();
    let body = json!({"targets": targets, "caption": caption, "scheduled_at": app.at(86_400)});
    user.post("/api/v1/post-sets", body).await.expect(201).body["post_set"].clone()
}

/// The address of a set's page.
fn page(set: &Value) -> String {
    format!("/dashboard/sets/{}", set["id"].as_str().unwrap())
}

/// The set as the API shows it now.
async fn shown(user: &User, set: &Value) -> Value {
    let path = format!("/api/v1/post-sets/{}", set["id"].as_str().unwrap());
    user.get(&path).await.expect(200).body["post_set"].clone()
}

/// Sends a form of a set's page as it stands there now.
async fn step(
    visitor: &mut Visitor,
    set: &Value,
    verb: &str,
    fields: &[(&str, &str)],
) -> PageReply {
    let place = page(set);
    let version = visitor.get(&place).await.expect(200).hidden("version");
    let sent = [&[("version", version.as_str())], fields].concat();
    send(visitor, &place, &format!("{place}/{verb}"), &sent).await
}

/// Waits until the set has this status.
async fn until(app: &TestApp, user: &User, set: &Value, status: &str) -> Value {
    app.eventually_in_time(status, Duration::from_secs(1_800), || async {
        let now = shown(user, set).await;
        (now["status"] == status).then_some(now)
    })
    .await
}

#[tokio::test]
async fn a_set_is_paused_resumed_moved_reworded_and_deleted_by_forms() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let accounts = [user.connect("bluesky").await, user.connect("mastodon").await];
    let set = set(&app, &user, &accounts, "Soup").await;
    for (verb, status) in [("pause", "paused"), ("schedule", "scheduled"), ("draft", "draft")] {
        let done = step(&mut ada, &set, verb, &[]).await.expect(303);
        assert_eq!(done.location, page(&set));
        let now = shown(&user, &set).await;
        assert_eq!((&now["status"], &now["counts"]), (&json!(status), &json!({status: 2})));
    }
    let html = ada.get(&page(&set)).await.expect(200).html;
    assert!(html.contains("/schedule\"") && !html.contains("/pause\""), "{html}");
    let day = &app.at(3 * 86_400)[..10];
    let time = format!("{day}T09:30");
    let _ = step(&mut ada, &set, "schedule", &[("scheduled_at", &time)]).await.expect(303);
    let later = format!("{day}T11:00");
    let _ = step(&mut ada, &set, "text", &[("caption", "Soup\r\nof the day")]).await.expect(303);
    let refused = step(&mut ada, &set, "move", &[("scheduled_at", "2001-01-01T10:00")]).await;
    assert!(refused.expect(400).html.contains("in the past"));
    let targets = shown(&user, &set).await["targets"].clone();
    for target in targets.as_array().unwrap() {
        let post = super::shown(&user, target["post_id"].as_i64().unwrap()).await;
        assert_eq!(post["caption"], "Soup\nof the day");
        assert_eq!(post["scheduled_at"], format!("{day}T09:30:00.000Z"));
    }
    let html =
        step(&mut ada, &set, "text", &[("caption", &"x".repeat(301))]).await.expect(400).html;
    assert!(html.contains("300") && html.contains("Nothing was changed."), "{html}");
    assert!(html.contains(&format!("\n{}</textarea>", "x".repeat(301))), "what was typed stays");
    let marked = html.split("<textarea").find(|area| area.contains("name=\"caption\"")).unwrap();
    assert!(marked.contains("aria-invalid=\"true\""), "{marked}");
    let _ = step(&mut ada, &set, "move", &[("scheduled_at", &later)]).await.expect(303);
    assert_eq!(shown(&user, &set).await["scheduled_at"], format!("{later}:00.000Z"));
    let gone = step(&mut ada, &set, "delete", &[]).await.expect(303);
    assert_eq!(gone.location, "/dashboard/posts");
    assert_eq!(ada.get(&page(&set)).await.status, 404);
    assert_eq!(user.get("/api/v1/posts").await.expect(200).body["posts"], json!([]));
}

#[tokio::test]
async fn a_target_that_failed_says_why_and_is_retried_with_its_set() {
    let app = TestApp::start().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let (good, bad) = (user.connect("mastodon").await, user.connect("bluesky").await);
    let refuses = json!([{"on": "commit", "kind": "status", "status": 400, "times": 50}]);
    user.faults("bluesky", bad, refuses).await;
    let body = json!({"targets": [{"account_id": good}, {"account_id": bad}], "caption": "Half"});
    let set = user.post("/api/v1/post-sets", body).await.expect(201).body["post_set"].clone();
    let half = until(&app, &user, &set, "partial").await;
    let html = ada.get(&page(&set)).await.expect(200).html;
    assert!(html.contains(">partly published</span>"), "{html}");
    assert!(html.contains("It was not published.") && html.contains(">published</span>"));
    let url = half["targets"][0]["platform_post_url"].as_str().unwrap().replace('&', "&amp;");
    assert!(html.contains(&format!("href=\"{url}\"")), "{html}");
    assert!(!html.contains("/pause\"") && !html.contains("/text\""), "nothing is open");
    user.faults("bluesky", bad, json!([])).await;
    let _ = step(&mut ada, &set, "retry", &[]).await.expect(303);
    let whole = until(&app, &user, &set, "published").await;
    assert_eq!(whole["settlement"], 2);
    assert_eq!(user.on_network("bluesky", bad).await.len(), 1);
    assert_eq!(user.on_network("mastodon", good).await.len(), 1, "and the other one once");
    let html = ada.get(&page(&set)).await.expect(200).html;
    assert!(!html.contains("/retry\"") && !html.contains("/delete\""), "{html}");
    // Further accounts need a time, since that of the set has passed.
    let new = user.connect("threads").await.to_string();
    let place = page(&set);
    let add = format!("{place}/add");
    let none = send(&mut ada, &place, &add, &[]).await.expect(400).html;
    assert!(none.contains("No account is chosen."), "{none}");
    let chosen = [("account_id", new.as_str()), ("caption", "For you alone")];
    let late = send(&mut ada, &place, &add, &chosen).await.expect(400).html;
    assert!(late.contains("The time of the set has passed"), "{late}");
    assert!(late.contains(">\nFor you alone</textarea>"), "what was typed stays: {late}");
    assert!(late.contains(&format!("name=\"account_id\" value=\"{new}\" checked")), "{late}");
    let day = app.at(3 * 86_400);
    let time = format!("{}T10:00", &day[..10]);
    let timed = [chosen[0], chosen[1], ("scheduled_at", time.as_str())];
    let _ = send(&mut ada, &place, &add, &timed).await.expect(303);
    let now = shown(&user, &set).await;
    assert_eq!(now["targets"][2]["overrides"]["caption"], "For you alone");
    assert_eq!(now["counts"], json!({"published": 2, "scheduled": 1}));
    // What is public stays, and the page says so before it deletes the rest.
    let html = ada.get(&place).await.expect(200).html;
    assert!(html.contains("The posts on 1 account are deleted for good."), "{html}");
    let kept = step(&mut ada, &set, "delete", &[]).await.expect(303);
    assert_eq!(kept.location, place);
    assert_eq!(shown(&user, &set).await["counts"], json!({"published": 2}));
}

#[tokio::test]
async fn a_target_that_may_be_public_is_retried_after_a_look_alone() {
    let app = TestApp::start().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let (lost, refused) = (user.connect("telegram").await, user.connect("bluesky").await);
    let drops = json!([{"on": "commit", "kind": "drop_after_change", "times": 50}]);
    user.faults("telegram", lost, drops).await;
    let refuses = json!([{"on": "commit", "kind": "status", "status": 400, "times": 50}]);
    user.faults("bluesky", refused, refuses).await;
    let body = json!({"targets": [{"account_id": lost}, {"account_id": refused}], "caption": "?"});
    let set = user.post("/api/v1/post-sets", body).await.expect(201).body["post_set"].clone();
    until(&app, &user, &set, "failed").await;
    let html = ada.get(&page(&set)).await.expect(200).html;
    assert!(html.contains("We do not know whether it was published."), "{html}");
    assert!(html.contains("Of 2 that failed, 1 may be public already"), "{html}");
    user.faults("telegram", lost, json!([])).await;
    user.faults("bluesky", refused, json!([])).await;
    let blind = step(&mut ada, &set, "retry", &[]).await.expect(200).html;
    assert!(blind.contains("Not sent again, because it may be public already: 1."), "{blind}");
    until(&app, &user, &set, "partial").await;
    let sure = [("acknowledge_duplicate_risk", "1")];
    let _ = step(&mut ada, &set, "retry", &sure).await.expect(303);
    until(&app, &user, &set, "published").await;
}

#[tokio::test]
async fn a_change_of_an_older_version_saves_nothing_and_shows_both() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let accounts = [user.connect("bluesky").await, user.connect("mastodon").await];
    let set = set(&app, &user, &accounts, "First").await;
    let place = page(&set);
    let path = format!("/api/v1/post-sets/{}", set["id"].as_str().unwrap());
    user.patch(&path, json!({"caption": "Theirs"})).await.expect(200);
    for (verb, field) in [
        ("text", ("caption", "Mine, <b>typed long")),
        ("move", ("scheduled_at", "2099-01-01T10:00")),
        ("delete", ("x", "y")),
    ] {
        let sent = [("version", "1"), field];
        let stale = send(&mut ada, &place, &format!("{place}/{verb}"), &sent).await.expect(412);
        let html = stale.html;
        assert!(html.contains("It was changed meanwhile"), "{html}");
        assert!(html.contains("You saw version 1; below is version 2."), "{html}");
        assert!(html.contains("<div class=\"card words\">Theirs</div>"), "{html}");
        if verb != "delete" {
            let typed = field.1.replace('<', "&lt;").replace('>', "&gt;");
            assert!(
                html.contains(&format!("\n{typed}</textarea>"))
                    || html.contains(&format!("value=\"{typed}\"")),
                "{html}"
            );
        }
        assert!(html.contains("name=\"version\" value=\"2\""), "{html}");
        assert!(!html.contains(">Version</label>"), "the version is nothing that somebody typed");
    }
    let now = shown(&user, &set).await;
    assert_eq!((&now["caption"], &now["version"]), (&json!("Theirs"), &json!(2)));
    let _ = step(&mut ada, &set, "text", &[("caption", "Both")]).await.expect(303);
    assert_eq!(shown(&user, &set).await["caption"], "Both");
}

#[tokio::test]
async fn a_set_of_another_workspace_is_not_there() {
    let app = quiet().await;
    let (_, user) = person(&app, "ada@example.com").await;
    let accounts = [user.connect("bluesky").await, user.connect("mastodon").await];
    let set = set(&app, &user, &accounts, "Ours").await;
    let (mut eve, _) = person(&app, "eve@example.com").await;
    assert_eq!(eve.get(&page(&set)).await.status, 404);
    assert_eq!(eve.get("/dashboard/sets/7").await.status, 404);
    for verb in ["pause", "draft", "schedule", "text", "move", "retry", "add", "delete"] {
        let sent = [("caption", "Hers"), ("scheduled_at", "2099-01-01T10:00")];
        let action = format!("{}/{verb}", page(&set));
        let reply = send(&mut eve, "/dashboard", &action, &sent).await;
        assert_eq!(reply.status, 404, "{verb}: {}", reply.html);
    }
    let id = set["id"].as_str().unwrap();
    let moved = [("post", id), ("day", "2099-01-01")];
    assert_eq!(send(&mut eve, "/dashboard", "/dashboard/posts/move", &moved).await.status, 404);
    assert_eq!(shown(&user, &set).await, set);
}

#[tokio::test]
async fn a_set_is_one_entry_among_the_posts_and_moves_as_one() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let accounts =
        [user.connect("bluesky").await, user.connect("mastodon").await, user.connect("x").await];
    let single = tomorrow(&app, &user, accounts[0], "By itself").await;
    let set = set(&app, &user, &accounts, "On three").await;
    let last = set["targets"][2]["post_id"].as_i64().unwrap();
    let own = json!({"caption": "Only on X"});
    user.patch(&format!("/api/v1/posts/{last}"), own).await.expect(200);
    let (place, id) = (page(&set), set["id"].as_str().unwrap());
    let day = &app.at(86_400)[..10];
    for list in [
        "/dashboard/posts".to_owned(),
        format!("/dashboard/posts?view=month&day={day}"),
        format!("/dashboard/posts?view=week&day={day}"),
    ] {
        let html = ada.get(&list).await.expect(200).html;
        assert_eq!(html.matches(&format!("href=\"{place}\"")).count(), 1, "{list}: {html}");
        assert!(html.contains("3 accounts on Bluesky, Mastodon, X"), "{list}: {html}");
        assert!(html.contains("On three") && !html.contains("Only on X"), "{list}: {html}");
        for target in set["targets"].as_array().unwrap() {
            let post = format!("href=\"/dashboard/posts/{}\"", target["post_id"]);
            assert!(!html.contains(&post), "{list}: {html}");
        }
        assert!(html.contains(&format!("href=\"/dashboard/posts/{single}\"")), "{list}");
    }
    let of_set = set["targets"][0]["post_id"].as_i64().unwrap();
    let html = ada.get(&format!("/dashboard/posts/{of_set}")).await.expect(200).html;
    assert!(html.contains(&format!("href=\"{place}\"")), "{html}");
    let html = ada.get(&format!("/dashboard/posts/{single}")).await.expect(200).html;
    assert!(!html.contains("/dashboard/sets/"), "{html}");
    // Dragged to another day it keeps its time of day.
    let later = &app.at(4 * 86_400)[..10];
    let fields = [("post", id), ("day", later), ("view", "week")];
    let moved = send(&mut ada, &place, "/dashboard/posts/move", &fields).await.expect(303);
    assert_eq!(moved.location, format!("/dashboard/posts?view=week&day={later}"));
    let time = set["scheduled_at"].as_str().unwrap().replace(day, later);
    for target in shown(&user, &set).await["targets"].as_array().unwrap() {
        assert_eq!(target["scheduled_at"], time);
    }
    // One of it has a time of its own now, so it is no longer dragged as a whole.
    let html = ada.get(&moved.location).await.expect(200).html;
    assert!(html.contains(&format!("data-post=\"{id}\"")), "{html}");
    let own = json!({"scheduled_at": app.at(5 * 86_400)});
    user.patch(&format!("/api/v1/posts/{of_set}"), own).await.expect(200);
    let html = ada.get(&moved.location).await.expect(200).html;
    assert!(!html.contains(&format!("data-post=\"{id}\"")), "{html}");
}
