//! `/dashboard`.

use fanfare_core::access::Role;
use serde_json::json;

use super::{HOSTILE, choose, person, post, quiet, tomorrow};
use fanfare_tests::{TestApp, Visitor};

#[tokio::test]
async fn an_empty_workspace_says_what_to_do_first() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let empty = ada.get("/dashboard").await.expect(200).html;
    for words in ["First steps", "Connect an account", "Create an API key", "Create a post"] {
        assert!(empty.contains(words), "{words}");
    }
    assert!(empty.contains("Nothing is scheduled."));
    let account = user.connect("bluesky").await;
    tomorrow(&app, &user, account, "Soup of the day").await;
    let busy = ada.get("/dashboard").await.expect(200).html;
    assert!(!busy.contains("First steps") && busy.contains("Soup of the day"));
    // Without a log-in there is only the way in.
    let nobody = Visitor::nobody(&app).get("/dashboard").await;
    assert_eq!((nobody.status, nobody.location.as_str()), (303, "/login?next=%2Fdashboard"));
}

#[tokio::test]
async fn a_failure_stands_there_with_its_remedy() {
    let app = TestApp::start().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await;
    let refuses = json!([{"on": "commit", "kind": "status", "status": 400, "times": 50}]);
    user.faults("bluesky", account, refuses).await;
    let id = post(&user, json!({"account_id": account, "caption": "Never public"})).await;
    let failed = app.wait_for_status(&user, id, &["failed"]).await;
    let page = ada.get("/dashboard").await.expect(200).html;
    assert!(page.contains("Needs your attention") && page.contains("Never public"), "{page}");
    assert!(page.contains(&format!("/dashboard/posts/{id}")));
    let one = ada.get(&format!("/dashboard/posts/{id}")).await.expect(200).html;
    assert!(one.contains("It was not published.") && one.contains("Publish it again now"));
    let code = failed["error"]["code"].as_str().unwrap();
    assert!(one.contains(code), "{one}");
}

#[tokio::test]
async fn a_person_switches_between_workspaces() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await;
    tomorrow(&app, &user, account, "From my own workspace").await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (_, member) = app.member(team, Role::Publisher).await;
    let theirs = member.connect("threads").await;
    let hidden = tomorrow(&app, &member, theirs, "From the team").await;
    // She is not in it yet.
    let id = team.to_string();
    let refused = choose(&mut ada, &id);
    assert_eq!(refused.await.status, 404);
    assert_eq!(ada.get(&format!("/dashboard/posts/{hidden}")).await.status, 404);
    let person = app.person("ada@example.com").await;
    fanfare_people::users::set_member(&app.domain, team, person, Role::Viewer).await.unwrap();
    let own = ada.get("/dashboard").await.expect(200).html;
    assert!(own.contains("From my own workspace") && !own.contains("From the team"));
    let chosen = choose(&mut ada, &id);
    assert_eq!(chosen.await.expect(303).location, "/dashboard");
    let other = ada.get("/dashboard").await.expect(200).html;
    assert!(other.contains("From the team") && !other.contains("From my own workspace"));
    // A member who was removed sees the own workspace again.
    fanfare_people::users::remove_member(&app.domain, team, person).await.unwrap();
    let own = ada.get("/dashboard").await.expect(200).html;
    assert!(own.contains("From my own workspace") && !own.contains("From the team"));
}

#[tokio::test]
async fn hostile_texts_are_shown_and_not_run() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("wordpress").await;
    let long = format!("{HOSTILE}{}", "long ".repeat(20_000));
    let id = tomorrow(&app, &user, account, &long).await;
    for page in [
        "/dashboard",
        "/dashboard/posts",
        "/dashboard/posts?view=month",
        "/dashboard/posts?view=week",
    ] {
        let html = ada.get(page).await.expect(200).html;
        assert!(!html.contains("<script>alert") && !html.contains("<img src=x"), "{page}");
        assert!(html.contains("&lt;script&gt;alert(1)") || !html.contains("alert(1)"), "{page}");
        assert!(html.len() < 40_000, "{page} has {} bytes", html.len());
    }
    let one = ada.get(&format!("/dashboard/posts/{id}")).await.expect(200).html;
    assert!(!one.contains("<script>alert") && one.contains("&lt;script&gt;alert(1)"));
    assert!(one.contains("These are the first"), "a long text is cut");
    // A value from the query is escaped.
    let query = "status=%3Cscript%3Ealert(1)%3C/script%3E";
    let odd = ada.get(&format!("/dashboard/posts?{query}")).await.expect(400).html;
    assert!(!odd.contains("<script>alert"));
}
