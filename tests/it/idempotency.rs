//! A write that is sent again is done once.

use std::{collections::BTreeSet, time::Duration};

use fanfare_domain::{
    access::{Role, Scope},
    idempotency::{self, Owner, ReserveOutcome},
    users,
};
use fanfare_entities::{UserId, WorkspaceId};
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
async fn an_error_is_replayed_as_it_was() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let bad = json!({"account_id": account, "caption": "x".repeat(301)});
    user.post_keyed("/api/v1/posts", "bad", &bad).await.refused(400, "caption_too_long");
    let again = user.post_keyed("/api/v1/posts", "bad", &bad).await;
    assert_eq!(again.header("idempotent-replayed"), "true");
    again.refused(400, "caption_too_long");
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
    user.post_keyed("/api/v1/posts", "k", &draft).await.refused(401, "invalid_api_key");
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
    let sent = serde_json::to_vec(&body).unwrap();
    let print = idempotency::fingerprint("POST", "/api/v1/posts", &sent);
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
