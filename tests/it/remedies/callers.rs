//! Next calls are those that the caller who reads them can make, in the workspace that the request was about.

use fanfare_core::{
    Code,
    access::{Role, Scope},
};
use fanfare_tests::{Options, TestApp, User, networks};
use reqwest::Method;
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

/// Collects all next calls of a reply.
fn calls(reply: &Value, found: &mut Vec<Value>) {
    match reply {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_array() {
                    Some(steps) if name == "next" => found.extend(steps.clone()),
                    _ => calls(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| calls(item, found)),
        _ => {}
    }
}

/// Follows all calls that a reply names, as the caller who got it. Returns how many there were.
async fn follow(story: &str, user: &User, reply: &Value) -> usize {
    let (mut found, mut followed) = (Vec::new(), 0);
    calls(reply, &mut found);
    // What is only read comes first: other calls change the state in which they were named.
    found.sort_by_key(|step| step["method"] != "GET");
    for step in &found {
        if step["url"].is_string() {
            continue;
        }
        followed += 1;
        let method: Method = step["method"].as_str().unwrap().parse().unwrap();
        let path = step["path"].as_str().unwrap().replace("wait=25", "wait=0");
        let done = user.send(method, &path, &[], step.get("body")).await;
        assert!(done.status < 300, "{story}: {step}\n{}", done.text);
    }
    followed
}

/// Requests that are refused, of anybody in the workspace, for as many reasons as lead on.
async fn refusals(user: &User, account: i64, post: &Value) -> Vec<Value> {
    let nobody = "0190c5a2-0000-7000-8000-000000000000";
    let new = |fields: Value| {
        let mut body = json!({"account_id": account, "caption": "x", "dry_run": true});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        body
    };
    let mut all = Vec::new();
    for body in [
        new(json!({"account_id": 999_999})),
        new(json!({"caption": "word ".repeat(20_000)})),
        new(json!({"caption": ""})),
        new(json!({"settings": {"board": 7}})),
        new(json!({"media_url": "https://example.com/a.exe"})),
    ] {
        all.push(user.post("/api/v1/posts", body).await);
    }
    for path in [
        "posts/999999".to_owned(),
        format!("brands/{nobody}"),
        format!("media?workspace_id={nobody}"),
        "inbox/comments/999999".to_owned(),
        "inbox/conversations/999999".to_owned(),
        format!("ai/video-jobs/{nobody}"),
        format!("webhooks/{nobody}/deliveries"),
    ] {
        all.push(user.get(&format!("/api/v1/{path}")).await);
    }
    all.push(user.post(&format!("/api/v1/posts/{post}/retry"), json!({})).await);
    all.push(user.delete(&format!("/api/v1/webhooks/{nobody}")).await);
    all.push(user.delete(&format!("/api/v1/media/{nobody}")).await);
    all.into_iter().filter(|reply| reply.status >= 400).map(|reply| reply.body).collect()
}

#[tokio::test]
async fn what_a_refusal_leads_to_can_be_done_by_whoever_was_refused() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (_, publisher) = app.member(team, Role::Publisher).await;
    let account = publisher.connect("pinterest").await;
    let later = json!({"account_id": publisher.connect("bluesky").await, "caption": "x", "scheduled_at": app.at(600)});
    let post = publisher.publish(later).await["id"].clone();
    let mut followed = 0;
    for role in [Role::Viewer, Role::Editor, Role::Publisher, Role::Admin] {
        let (person, user) = app.member(team, role).await;
        let mut callers = vec![("everything".to_owned(), user)];
        for scope in Scope::ALL {
            callers.push((scope.as_str().to_owned(), app.key(person, None, &[scope]).await));
        }
        for (name, user) in callers {
            for refusal in refusals(&user, account, &post).await {
                let story = format!("{role:?} with {name}: {refusal}");
                followed += follow(&story, &user, &refusal).await;
            }
        }
    }
    assert!(followed > 100, "{followed}");
}

#[tokio::test]
async fn what_a_failed_post_leads_to_can_be_done_by_whoever_reads_it() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (_, publisher) = app.member(team, Role::Publisher).await;
    let account = publisher.connect("bluesky").await;
    let mut followed = 0;
    for role in [Role::Viewer, Role::Editor, Role::Publisher] {
        let (person, everything) = app.member(team, role).await;
        let reader = app.key(person, None, &[Scope::PostsRead]).await;
        let writer = app.key(person, None, &[Scope::PostsRead, Scope::PostsWrite]).await;
        for user in [everything, reader, writer] {
            for failure in fanfare_publishing::posts::POST_FAILURES {
                let new =
                    json!({"account_id": account, "caption": "a", "scheduled_at": app.at(600)});
                let id = publisher.publish(new).await["id"].clone();
                let error = json!({
                    "code": failure.name, "message": "It failed.", "retryable": true, "retry_safe": true,
                    "remedy": failure.remedy, "platform_error": null,
                });
                let sql = format!(
                    "UPDATE posts SET status = 'failed', due_at = NULL, error = '{}' WHERE id = {id}",
                    error.to_string().replace('\'', "''")
                );
                let _ = app.domain.db.write.execute_unprepared(&sql).await.unwrap();
                let shown = user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body;
                let story = format!("{role:?}, {}", failure.name);
                followed += follow(&story, &user, &shown).await;
            }
        }
    }
    assert!(followed > 100, "{followed}");
}

#[tokio::test]
async fn an_account_that_is_lost_leads_back_whatever_its_network() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (_, publisher) = app.member(team, Role::Publisher).await;
    let (_, viewer) = app.member(team, Role::Viewer).await;
    for name in networks::all() {
        let account = publisher.connect(name).await;
        let lost =
            format!("UPDATE accounts SET status = 'reconnect_required' WHERE id = {account}");
        let _ = app.domain.db.write.execute_unprepared(&lost).await.unwrap();
        let schema = format!("/api/v1/accounts/{account}/schema");
        for user in [&publisher, &viewer] {
            let mut body = networks::post(name, account);
            body["dry_run"] = true.into();
            let checked = user.post("/api/v1/posts", body).await;
            let _ = follow(name, user, &checked.body).await;
            let _ = follow(name, user, &user.get(&schema).await.body).await;
        }
    }
}

#[tokio::test]
async fn a_list_that_a_refusal_names_is_that_of_the_same_workspace() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let user = app.key(owner, None, &Scope::ALL).await;
    let refused = user
        .post(
            "/api/v1/posts",
            json!({"account_id": 999_999, "workspace_id": team.0, "caption": "x"}),
        )
        .await;
    assert!(refused.status >= 400);
    let code = |reply: &Value| Code::named(reply["code"].as_str().unwrap()).unwrap();
    let made = user
        .post("/api/v1/sandbox/accounts", json!({"platform": "pinterest", "workspace_id": team.0}));
    let account = made.await.expect(201).body["account"]["id"].clone();
    let no_file = json!({"account_id": account, "caption": "x"});
    let refused = user.post("/api/v1/posts", no_file).await.expect(400).body;
    assert_eq!(code(&refused).entry().status, 400, "{refused}");
    let mut found = Vec::new();
    calls(&refused, &mut found);
    let files = found.iter().find(|step| step["operation"] == "list_media");
    let files = files.unwrap_or_else(|| panic!("{refused:#}"));
    assert_eq!(files["path"], format!("/api/v1/media?workspace_id={}", team.0), "{refused:#}");
    let page = found.iter().find(|step| step["operation"] == "create_media_drop").unwrap();
    assert_eq!(page["body"]["workspace_id"], json!(team.0), "{refused:#}");
}
