//! Every wait has a cause, and the API, the page of its owner and the story of operators name the same one.

use std::time::Duration;

use fanfare_core::{access::Scope, durable};
use fanfare_entities::{PostId, post, post::PostStatus, unpaid_post};
use fanfare_jobs::JobKind;
use fanfare_ops::{
    health,
    ops::{pauses, search::WorkKind, story},
};
use fanfare_publishing::posts;
use fanfare_tests::{Operator, Options, TestApp, User, Visitor};
use sea_orm::{ActiveModelTrait, ActiveValue::Set, EntityTrait, IntoActiveModel};
use serde_json::{Value, json};

/// A post as it is at one moment, seen by everybody.
struct Seen<'a> {
    app: &'a TestApp,
    user: &'a User,
    visitor: Visitor,
}

impl Seen<'_> {
    /// Checks that all doors name this reason; returns what the API says.
    async fn waits(&mut self, id: i64, reason: &str) -> Value {
        let one = self.user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body;
        let waiting = one["post"]["waiting"].clone();
        assert_eq!(waiting["reason"], reason, "{one:#}");
        let list = self.user.get("/api/v1/posts?limit=200").await.expect(200).body;
        let listed = list["posts"].as_array().unwrap().iter().find(|post| post["id"] == id);
        assert_eq!(listed.unwrap()["waiting"], waiting, "{reason}");
        let told = story::story(&self.app.domain, WorkKind::Post, id).await.unwrap();
        assert_eq!(json!(told.waiting), waiting, "{reason}");
        let message = waiting["message"].as_str().unwrap();
        assert_eq!(told.next, message);
        let page = self.visitor.get(&format!("/dashboard/posts/{id}")).await.expect(200).html;
        let all = self.visitor.get("/dashboard/posts").await.expect(200).html;
        // The page gives its own time among the details.
        let is_plain = reason == "scheduled_time";
        assert_eq!(page.contains(message), !is_plain, "{reason}: {page}");
        assert_eq!(all.contains(message), !is_plain, "{reason}: {all}");
        waiting
    }

    async fn waits_for_nothing(&mut self, id: i64) {
        let one = self.user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body;
        assert_eq!(one["post"]["waiting"], Value::Null, "{one:#}");
        let told = story::story(&self.app.domain, WorkKind::Post, id).await.unwrap();
        assert!(told.waiting.is_none());
        let page = self.visitor.get(&format!("/dashboard/posts/{id}")).await.expect(200).html;
        assert!(!page.contains("It waits."), "{page}");
    }
}

async fn seen(app: &TestApp, email: &str) -> (User, Visitor) {
    let (id, visitor) = Visitor::person(app, email).await;
    (app.key(id, None, &Scope::ALL).await, visitor)
}

async fn change(app: &TestApp, id: i64, row: post::ActiveModel) {
    let row = post::ActiveModel { id: Set(PostId(id)), ..row };
    row.update(&app.domain.db.write).await.unwrap();
}

async fn make(user: &User, account: i64, caption: &str) -> i64 {
    let made = user.publish(json!({"account_id": account, "caption": caption})).await;
    made["id"].as_i64().unwrap()
}

#[tokio::test]
async fn each_cause_stands_in_the_api_on_the_page_and_in_the_story() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let (user, visitor) = seen(&app, "bob@example.com").await;
    let account = user.connect("threads").await;
    let mut seen = Seen { app: &app, user: &user, visitor };
    let now = app.clock.now();

    let later = json!({"account_id": account, "caption": "Later", "scheduled_at": app.at(3_600)});
    let later = user.publish(later).await;
    let waiting = seen.waits(later["id"].as_i64().unwrap(), "scheduled_time").await;
    assert_eq!(waiting["until"], later["scheduled_at"]);
    let path = format!("/api/v1/posts/{}/status", later["id"]);
    user.put(&path, json!({"status": "paused"})).await.expect(200);
    seen.waits(later["id"].as_i64().unwrap(), "paused").await;
    let unpaid = unpaid_post::ActiveModel {
        post_id: Set(PostId(later["id"].as_i64().unwrap())),
        workspace_id: Set(row(&app, later["id"].as_i64().unwrap()).await.workspace_id),
    };
    unpaid_post::Entity::insert(unpaid).exec_without_returning(&app.domain.db.write).await.unwrap();
    seen.waits(later["id"].as_i64().unwrap(), "subscription").await;

    let id = make(&user, account, "First").await;
    seen.waits(id, "worker").await;
    let behind = make(&user, account, "Second").await;
    let waiting = seen.waits(behind, "account_turn").await;
    assert!(waiting["message"].as_str().unwrap().contains(&id.to_string()), "{waiting}");

    ada.act("pause", &[("target", "platform:threads")], "Words for operators alone").await;
    let waiting = seen.waits(id, "operator_pause").await;
    assert!(!waiting.to_string().contains("Words for"), "{waiting}");
    ada.act("resume", &[("target", "platform:threads")], "Over").await;

    let at = Some(now + 90_000);
    let due =
        || post::ActiveModel { due_at: Set(at), next_attempt_at: Set(at), ..Default::default() };
    change(&app, id, due()).await;
    let waiting = seen.waits(id, "limit").await;
    assert!(waiting["until"].is_string() && waiting["since"].is_string(), "{waiting}");
    let error = |code: &str| {
        Set(Some(json!({
            "code": code, "message": "It failed.", "retryable": true, "retry_safe": true, "remedy": null, "platform_error": null,
        })))
    };
    change(&app, id, post::ActiveModel { error: error("platform_rate_limited"), ..due() }).await;
    seen.waits(id, "limit").await;
    change(&app, id, post::ActiveModel { error: error("platform_unavailable"), ..due() }).await;
    seen.waits(id, "retry").await;
    let alone = || post::ActiveModel {
        error: Set(None),
        next_attempt_at: Set(None),
        out_of_line: Set(true),
        due_at: Set(at),
        ..Default::default()
    };
    change(&app, id, alone()).await;
    seen.waits(id, "files").await;
    let state = post::ActiveModel {
        status: Set(PostStatus::Processing),
        state: Set(Some(json!({}))),
        ..alone()
    };
    change(&app, id, state).await;
    seen.waits(id, "platform_processing").await;
    let asked = post::ActiveModel {
        status: Set(PostStatus::Publishing),
        sending_at: Set(Some(now)),
        sending_until: Set(Some(now + 1_000)),
        ..alone()
    };
    change(&app, id, asked).await;
    seen.waits(id, "open_question").await;

    let held = post::ActiveModel { lease_expirations: Set(1), ..alone() };
    change(&app, id, held).await;
    seen.waits_for_nothing(id).await;
    let draft = json!({"account_id": account, "caption": "A draft", "status": "draft"});
    seen.waits_for_nothing(user.publish(draft).await["id"].as_i64().unwrap()).await;
}

async fn row(app: &TestApp, id: i64) -> post::Model {
    post::Entity::find_by_id(PostId(id)).one(&app.domain.db.read).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_pause_is_seen_by_those_whose_posts_it_holds_and_by_nobody_else() {
    let app = TestApp::start().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let (user, visitor) = seen(&app, "bob@example.com").await;
    let (sky, telegram) = (user.connect("bluesky").await, user.connect("telegram").await);
    let mut seen = Seen { app: &app, user: &user, visitor };
    ada.act("pause", &[("target", "platform:bluesky")], "Their API is down").await;
    let held = make(&user, sky, "Held").await;
    let free = make(&user, telegram, "Free").await;
    app.wait_for_status(&user, free, &["published"]).await;
    seen.waits_for_nothing(free).await;
    seen.waits(held, "operator_pause").await;
    app.advance(Duration::from_secs(12));
    app.eventually("it is set aside", || async {
        (pauses::list(&app.domain).await.unwrap()[0].held == 1).then_some(())
    })
    .await;
    let waiting = seen.waits(held, "operator_pause").await;
    assert!(waiting["since"].is_string() && waiting["until"].is_null(), "{waiting}");
    ada.act("resume", &[("target", "platform:bluesky")], "It is back").await;
    app.wait_for_status(&user, held, &["published"]).await;
    seen.waits_for_nothing(held).await;
}

#[tokio::test]
async fn a_limit_of_the_network_holds_one_post_and_its_turn_the_next() {
    let app = TestApp::start().await;
    let (user, visitor) = seen(&app, "bob@example.com").await;
    let account = user.connect("bluesky").await;
    let mut seen = Seen { app: &app, user: &user, visitor };
    let limited = json!([{"on": "commit", "kind": "status", "status": 429, "ms": 600_000}]);
    user.faults("bluesky", account, limited).await;
    let first = make(&user, account, "First").await;
    app.eventually("it was asked to wait", || async {
        let post = user.get(&format!("/api/v1/posts/{first}")).await.expect(200).body;
        (post["post"]["waiting"]["reason"] == "limit").then_some(())
    })
    .await;
    let next = make(&user, account, "Next").await;
    seen.waits(first, "limit").await;
    app.eventually("it waits for its turn", || async {
        let post = user.get(&format!("/api/v1/posts/{next}")).await.expect(200).body;
        (post["post"]["waiting"]["reason"] == "account_turn").then_some(())
    })
    .await;
    seen.waits(next, "account_turn").await;
}

#[tokio::test]
async fn a_deleted_post_is_explained_by_its_events() {
    let app = TestApp::start().await;
    let (user, _) = seen(&app, "bob@example.com").await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await;
    let body =
        json!({"account_id": account, "caption": "Secret words", "scheduled_at": app.at(600)});
    let id = user.publish(body).await["id"].as_i64().unwrap();
    user.delete(&format!("/api/v1/posts/{id}")).await.expect(200);
    let told = story::story(&app.domain, WorkKind::Post, id).await.unwrap();
    assert_eq!(told.status, "deleted");
    let types: Vec<_> = told.events.iter().map(|event| event.event_type.as_str()).collect();
    assert!(types.starts_with(&["post.scheduled"]) || types.len() > 1, "{types:?}");
    assert_eq!(types.last(), Some(&"post.deleted"));
    let page = ada.get(&format!("/admin/work/post/{id}")).await.expect(200).html;
    assert!(page.contains("post.deleted") && !page.contains("Secret words"), "{page}");
    let _ = ada.get("/admin/work/post/987654").await.expect(404);
}

/// What `/readyz` calls degraded, and how long work waits for a worker by the metric.
async fn waits_for_worker(app: &TestApp) -> (Vec<String>, Option<i64>) {
    let mut degraded = health::problems(&app.domain).await.degraded;
    degraded.retain(|one| one.starts_with("publish_post"));
    let stats = durable::queue_stats(&app.domain).await.unwrap();
    let posts = stats.into_iter().find(|one| one.kind == JobKind::PublishPost).unwrap();
    (degraded, posts::publishing::oldest_for_worker(&app.domain, &posts).await.unwrap())
}

#[tokio::test]
async fn what_waits_for_its_turn_a_limit_or_a_pause_waits_for_no_worker() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let (user, _) = seen(&app, "bob@example.com").await;
    let account = user.connect("bluesky").await;
    let begun = app.clock.now();
    let first = make(&user, account, "First").await;
    for nth in 0..5 {
        make(&user, account, &format!("Behind {nth}")).await;
    }
    app.advance(Duration::from_secs(300));
    let now = app.clock.now();
    // Nobody works: that is what the alarm is for.
    let (degraded, oldest) = waits_for_worker(&app).await;
    assert!(degraded.len() == 1 && oldest == Some(begun), "{degraded:?} {oldest:?}");
    // The slow ways in which one account can hold its own posts up: a call that takes long, a limit, a retry.
    let later = || Set(Some(now + 3_600_000));
    let under_way =
        post::ActiveModel { lease_expirations: Set(1), due_at: later(), ..Default::default() };
    let limited = post::ActiveModel {
        lease_expirations: Set(0),
        due_at: later(),
        next_attempt_at: later(),
        ..Default::default()
    };
    for held_up in [under_way, limited] {
        change(&app, first, held_up).await;
        assert_eq!(waits_for_worker(&app).await, (vec![], None));
    }
    let back = post::ActiveModel {
        due_at: Set(Some(begun)),
        next_attempt_at: Set(None),
        ..Default::default()
    };
    change(&app, first, back).await;
    ada.act("pause", &[("target", "platform:bluesky")], "Their API is down").await;
    assert_eq!(waits_for_worker(&app).await, (vec![], None));
    // A healthy account beside it is seen all the same.
    let other = user.connect("telegram").await;
    let at = app.clock.now();
    make(&user, other, "Healthy").await;
    app.advance(Duration::from_secs(60));
    let (degraded, oldest) = waits_for_worker(&app).await;
    assert!(degraded.len() == 1 && oldest == Some(at), "{degraded:?} {oldest:?}");
}

/// What the alarms on waiting posts look at: the number of late posts, and for how many seconds the oldest waits.
async fn alarms(app: &TestApp) -> (u64, i64) {
    let waiting = posts::publishing::waiting_for_worker(&app.domain).await.unwrap();
    let oldest = waiting.oldest.map_or(0, |since| (app.clock.now() - since) / 1_000);
    (waiting.late, oldest)
}

#[tokio::test]
async fn a_customer_who_does_the_worst_that_is_allowed_raises_no_alarm() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (user, _) = seen(&app, "bob@example.com").await;
    let account = user.connect("bluesky").await;
    let others = user.connect("mastodon").await;
    let limited = user.connect("telegram").await;
    // A thousand posts of one account at one instant; one that is paused, and one that a limit holds back.
    let at = app.at(60);
    let first = json!({"account_id": account, "caption": "Many", "scheduled_at": at});
    let first = row(&app, id_of(&user.publish(first).await)).await;
    // Far from the ids that the database gives to the next ones.
    let copies = (1..1_000).map(|nth| first.id.0 + 1_000_000 + nth);
    let many: Vec<i64> = std::iter::once(first.id.0).chain(copies).collect();
    for part in many[1..].chunks(100) {
        let copy = |id: &i64| post::Model { id: PostId(*id), ..first.clone() };
        let copies = part.iter().map(|id| copy(id).into_active_model().reset_all());
        post::Entity::insert_many(copies)
            .exec_without_returning(&app.domain.db.write)
            .await
            .unwrap();
    }
    let paused = json!({"account_id": others, "caption": "Paused", "scheduled_at": at});
    let paused = id_of(&user.publish(paused).await);
    let path = format!("/api/v1/posts/{paused}/status");
    user.put(&path, json!({"status": "paused"})).await.expect(200);
    let held_up = json!({"account_id": limited, "caption": "Limited", "scheduled_at": at});
    let held_up = id_of(&user.publish(held_up).await);
    app.advance(Duration::from_secs(60));
    let begun = app.clock.now();
    let later = || Set(Some(begun + 86_400_000));
    let limit =
        post::ActiveModel { due_at: later(), next_attempt_at: later(), ..Default::default() };
    change(&app, held_up, limit).await;
    let under_way =
        || post::ActiveModel { lease_expirations: Set(1), due_at: later(), ..Default::default() };
    let published = |at: i64| post::ActiveModel {
        status: Set(PostStatus::Published),
        public_at: Set(Some(at)),
        lease_expirations: Set(0),
        due_at: Set(None),
        updated_at: Set(at),
        ..Default::default()
    };
    let failed = |at: i64| post::ActiveModel {
        status: Set(PostStatus::Failed),
        public_at: Set(None),
        ..published(at)
    };
    // The account is slow: each call takes ten minutes. Between two calls the next post waits for a worker for a moment,
    // though its time passed long ago.
    for (nth, id) in many.iter().take(6).enumerate() {
        change(&app, *id, under_way()).await;
        app.advance(Duration::from_secs(600));
        assert_eq!(alarms(&app).await, (0, 0), "post {nth} is under way");
        let ended = if nth % 2 == 0 { published(app.clock.now()) } else { failed(app.clock.now()) };
        change(&app, *id, ended).await;
        app.advance(Duration::from_secs(2));
        let (late, oldest) = alarms(&app).await;
        assert!(late == 0 && oldest <= 2, "after post {nth}: {late} {oldest}");
    }
    // Workers are gone: now it is the operator's.
    app.advance(Duration::from_secs(120));
    let (late, oldest) = alarms(&app).await;
    assert!(late == 1 && (120..130).contains(&oldest), "{late} {oldest}");
    let told = health::problems(&app.domain).await.degraded;
    assert!(told.iter().any(|one| one.starts_with("publish_post lags")), "{told:?}");
}

fn id_of(post: &Value) -> i64 {
    post["id"].as_i64().unwrap()
}

#[tokio::test]
async fn an_empty_list_says_why() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (user, _) = seen(&app, "bob@example.com").await;
    let why = async |path: &str| {
        let body = user.get(path).await.expect(200).body;
        body["empty_because"].as_str().map(str::to_owned)
    };
    let lists = [
        "/api/v1/posts",
        "/api/v1/posts?offset=0",
        "/api/v1/inbox/comments",
        "/api/v1/inbox/conversations",
    ];
    for list in lists {
        assert_eq!(why(list).await.as_deref(), Some("no_accounts"), "{list}");
    }
    let account = user.connect("devto").await;
    for list in ["/api/v1/inbox/comments", "/api/v1/inbox/conversations"] {
        assert_eq!(why(list).await.as_deref(), Some("not_offered"), "{list}");
    }
    user.connect("facebook").await;
    for list in ["/api/v1/inbox/comments", "/api/v1/inbox/conversations"] {
        assert_eq!(why(list).await.as_deref(), Some("not_read_yet"), "{list}");
    }
    for list in ["/api/v1/posts", "/api/v1/posts?sort_by=created_at"] {
        assert_eq!(why(list).await.as_deref(), Some("nothing_yet"), "{list}");
    }
    let draft = json!({"account_id": account, "caption": "A draft", "status": "draft"});
    let id = user.publish(draft).await["id"].clone();
    assert_eq!(why("/api/v1/posts?status=failed").await.as_deref(), Some("filtered"));
    assert_eq!(why("/api/v1/posts?offset=0&status=failed").await.as_deref(), Some("filtered"));
    assert_eq!(why("/api/v1/posts?offset=10").await.as_deref(), Some("past_the_end"));
    assert_eq!(why(&format!("/api/v1/posts?cursor={id}")).await.as_deref(), Some("past_the_end"));
    assert_eq!(why("/api/v1/posts").await, None);
}
