//! A write that is sent again is done once.

use std::{collections::BTreeSet, time::Duration};

use fanfare_core::{
    access::{Role, Scope},
    idempotency::{self, Owner, ReserveOutcome},
};
use fanfare_entities::{UserId, WorkspaceId};
use fanfare_people::users;
use fanfare_tests::{Options, Postgres, TestApp};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn a_thousand_requests_with_one_key_make_one_post() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let body = json!({"account_id": account, "caption": "once"});
    let sends = (0..1_000).map(|_| user.post_keyed("/api/v1/posts", "one-key", &body));
    let answers = join_all(sends).await;
    let mut ids = BTreeSet::new();
    for answer in &answers {
        match answer.status {
            201 => {
                ids.insert(answer.body["post"]["id"].as_i64().unwrap());
            }
            409 => assert_eq!(answer.body["code"], "idempotency_in_progress"),
            other => panic!("{other}: {}", answer.text),
        }
    }
    let first = answers
        .iter()
        .filter(|one| one.status == 201 && one.header("idempotent-replayed").is_empty());
    assert_eq!((ids.len(), first.count()), (1, 1));
    assert_eq!(user.get("/api/v1/posts").await.body["posts"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_key_is_for_one_request() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let body = json!({"account_id": account, "caption": "once"});
    let first = user.post_keyed("/api/v1/posts", "k", &body).await.expect(201);
    let again = user.post_keyed("/api/v1/posts", "k", &body).await.expect(201);
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(first.body, again.body);
    let other = json!({"account_id": account, "caption": "twice"});
    user.post_keyed("/api/v1/posts", "k", &other).await.refused(422, "idempotency_mismatch");
    let long = "k".repeat(256);
    user.post_keyed("/api/v1/posts", &long, &body).await.refused(400, "invalid_idempotency_key");
}

#[tokio::test]
async fn a_refusal_or_a_check_leaves_its_key_free() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let bad = json!({"account_id": account, "caption": "x".repeat(301), "status": "draft"});
    let good = json!({"account_id": account, "caption": "x", "status": "draft"});
    let checked = json!({"account_id": account, "caption": "x", "dry_run": true});
    for _ in 0..2 {
        let refused = user.post_keyed("/api/v1/posts", "k", &bad).await;
        assert_eq!(refused.header("idempotent-replayed"), "");
        refused.refused(400, "caption_too_long");
        let checked = user.post_keyed("/api/v1/posts", "k", &checked).await.expect(200);
        assert_eq!(checked.header("idempotent-replayed"), "");
    }
    let made = user.post_keyed("/api/v1/posts", "k", &good).await.expect(201);
    user.post_keyed("/api/v1/posts", "k", &bad).await.refused(422, "idempotency_mismatch");

    let id = &made.body["post"]["id"];
    let webhook = [("Idempotency-Key", "hook")];
    let none = "/api/v1/webhooks/01890000-0000-7000-8000-000000000000";
    for _ in 0..2 {
        let refused = user.send(Method::DELETE, none, &webhook, None).await;
        assert_eq!(refused.header("idempotent-replayed"), "");
        refused.refused(404, "webhook_not_found");
    }
    let retry = format!("/api/v1/posts/{id}/retry");
    user.post_keyed(&retry, "retry", &json!({})).await.refused(409, "invalid_transition");
    let again = user.post_keyed(&retry, "retry", &json!({})).await;
    assert_eq!(again.header("idempotent-replayed"), "");
}

#[tokio::test]
async fn bodies_are_compared_in_their_canonical_form() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let http = fanfare_tests::local_client();
    let send = async |path: &str, key: &str, body: String| {
        let request = http.post(format!("{}/api/v1/{path}", app.origin)).bearer_auth(&user.key);
        let request = request.header("Idempotency-Key", key);
        let request = request.header("Content-Type", "application/json").body(body);
        let reply = request.send().await.unwrap();
        let replayed = reply.headers().contains_key("idempotent-replayed");
        (reply.status().as_u16(), replayed, reply.json::<Value>().await.unwrap())
    };
    let spellings = [
        format!(r#"{{"account_id":{account},"caption":"A\u0042é","status":"draft"}}"#),
        format!(r#" {{ "status":"draft" , "caption" : "AB\u00e9", "account_id":{account}.0 }} "#),
        format!("{{\n\t\"caption\": \"ABé\", \"account_id\": {account}e0, \"status\": \"draft\"}}"),
    ];
    for (single, body) in spellings.iter().enumerate() {
        let (status, replayed, _) = send("posts", "single", body.clone()).await;
        assert_eq!((status, replayed), (201, single > 0), "{body}");
        let (status, replayed, batch) =
            send("posts/batch", "batch", format!(r#"{{"posts": [{body}]}}"#)).await;
        assert_eq!((status, replayed), (200, single > 0), "{body}: {batch}");
        let arguments: Value = serde_json::from_str(body).unwrap();
        let mut arguments = arguments.as_object().unwrap().clone();
        arguments.insert("idempotency_key".to_owned(), "single".into());
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "create_post", "arguments": arguments}});
        let accept = [("Accept", "application/json, text/event-stream")];
        let tool = user.send(Method::POST, "/mcp", &accept, Some(&call)).await.expect(200).body;
        assert_ne!(tool["result"]["isError"], true, "{tool}");
    }
    assert_eq!(user.get("/api/v1/posts").await.body["posts"].as_array().unwrap().len(), 2);
    let other = format!(r#"{{"account_id":{account},"caption":"ABe\u0301","status":"draft"}}"#);
    assert_eq!(send("posts", "single", other).await.0, 422);
}

#[tokio::test]
async fn a_kept_answer_is_found_though_what_it_named_is_gone() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let keyed = |key: &'static str| [("Idempotency-Key", key)];
    let draft = json!({"account_id": account, "caption": "once", "status": "draft"});
    let made = user.post_keyed("/api/v1/posts", "make", &draft).await.expect(201);
    let batch = json!({"posts": [draft]});
    let several = user.post_keyed("/api/v1/posts/batch", "several", &batch).await.expect(200);
    let path = format!("/api/v1/posts/{}", made.body["post"]["id"]);
    let gone = user.send(Method::DELETE, &path, &keyed("del"), None).await.expect(200);
    let again = user.send(Method::DELETE, &path, &keyed("del"), None).await.expect(200);
    assert_eq!((again.header("idempotent-replayed"), &again.body), ("true", &gone.body));
    user.send(Method::DELETE, &path, &keyed("other"), None).await.refused(404, "post_not_found");

    let accounts = format!("/api/v1/accounts/{account}");
    let left = user.send(Method::DELETE, &accounts, &keyed("leave"), None).await.expect(200);
    let again = user.send(Method::DELETE, &accounts, &keyed("leave"), None).await.expect(200);
    assert_eq!((again.header("idempotent-replayed"), &again.body), ("true", &left.body));
    let again = user.post_keyed("/api/v1/posts", "make", &draft).await.expect(201);
    assert_eq!((again.header("idempotent-replayed"), &again.body), ("true", &made.body));
    let again = user.post_keyed("/api/v1/posts/batch", "several", &batch).await.expect(200);
    assert_eq!(again.header("idempotent-replayed"), "true");
    let counts = |batch: &Value| [batch["created"].clone(), batch["replayed"].clone()];
    assert_eq!(counts(&several.body), [json!(1), json!(0)]);
    assert_eq!(counts(&again.body), [json!(0), json!(1)]);
    assert_eq!(again.body["posts"][0]["post"], several.body["posts"][0]["post"]);
}

#[tokio::test]
async fn keys_are_a_persons_in_a_workspace_as_long_as_there_is_a_seat() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("owner@example.com").await;
    let (team, other_team) = (app.workspace(owner).await, app.workspace(owner).await);
    let (ada, user) = app.member(team, Role::Publisher).await;
    users::set_member(&app.domain, other_team, ada, Role::Publisher).await.unwrap();
    let account = user.connect("bluesky").await;
    let draft = json!({"account_id": account, "caption": "once", "status": "draft"});
    let made = user.post_keyed("/api/v1/posts", "k", &draft).await.expect(201);

    // Another API key of the same person, for all workspaces.
    let everywhere = app.key(ada, None, &Scope::ALL).await;
    let again = everywhere.post_keyed("/api/v1/posts", "k", &draft).await.expect(201);
    assert_eq!((again.header("idempotent-replayed"), &again.body), ("true", &made.body));
    let changed = json!({"account_id": account, "caption": "twice", "status": "draft"});
    let mismatch = everywhere.post_keyed("/api/v1/posts", "k", &changed).await;
    mismatch.refused(422, "idempotency_mismatch");

    // The same word in another workspace, and of another person, means something else.
    let elsewhere = app.key(ada, Some(other_team), &Scope::ALL).await;
    elsewhere.post_keyed("/api/v1/posts", "k", &draft).await.refused(404, "account_not_found");
    let (_, colleague) = app.member(team, Role::Publisher).await;
    let own = colleague.post_keyed("/api/v1/posts", "k", &draft).await.expect(201);
    assert_eq!(own.header("idempotent-replayed"), "");
    assert_ne!(own.body["post"]["id"], made.body["post"]["id"]);

    let reader = app.key(ada, None, &[Scope::PostsRead]).await;
    reader.post_keyed("/api/v1/posts", "k", &draft).await.refused(403, "insufficient_scope");
    users::remove_member(&app.domain, team, ada).await.unwrap();
    everywhere.post_keyed("/api/v1/posts", "k", &draft).await.refused(404, "account_not_found");
    user.post_keyed("/api/v1/posts", "k", &draft).await.refused(401, "api_key_revoked");
}

#[tokio::test]
async fn what_a_dead_process_held_is_free_after_a_quarter_of_a_minute() {
    let postgres = Postgres::start();
    let postgres_url = Some(postgres.url().to_owned());
    let options = Options { workers: false, postgres_url, ..Options::default() };
    let app = TestApp::with(options).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let body = json!({"account_id": account, "caption": "once", "status": "draft"});
    // A request that another process was answering when it was killed.
    let other = app.other_process().await;
    let print = idempotency::fingerprint("POST", "/api/v1/posts", Some(&body));
    let who = user.get("/api/v1/whoami").await.expect(200).body;
    let id = |value: &serde_json::Value| value.as_str().unwrap().parse::<uuid::Uuid>().unwrap();
    let owner =
        Owner::of(UserId(id(&who["user"]["id"])), WorkspaceId(id(&who["default_workspace"]["id"])));
    let held = idempotency::reserve(&other, owner, "k", &print).await.unwrap();
    assert!(matches!(held, ReserveOutcome::Acquired(_)));
    drop((held, other));
    let wait = async |status: u16| {
        let answer = user.post_keyed("/api/v1/posts", "k", &body).await.expect(status);
        answer.body["retry_after"].as_u64()
    };
    assert_eq!(wait(409).await, Some(1), "it may be alive");
    app.advance(Duration::from_secs(9));
    assert_eq!(wait(409).await, Some(6), "it has been silent for nine seconds");
    app.advance(Duration::from_secs(6));
    assert_eq!(wait(201).await, None);
    let again = user.post_keyed("/api/v1/posts", "k", &body).await.expect(201);
    assert_eq!(again.header("idempotent-replayed"), "true");
}
