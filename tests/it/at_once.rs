//! Posts that requests of a workspace make at the same time are written together, and each is answered for itself.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use fanfare_core::{
    Act, Code, Domain, PostId,
    access::{self, Caller},
    failpoint::{Failpoint, Hook, Moment},
    idempotency::{self, Owner, Reservation, ReserveOutcome},
    limits::Meter,
};
use fanfare_entities::{UserId, WorkspaceId, idempotency_key, post, workspace};
use fanfare_publishing::posts::{NewPostRow, PostWriter, WorkspaceOfPost};
use fanfare_tests::{Options, TestApp, User};
use futures_util::future::join_all;
use sea_orm::{ConnectionTrait, EntityTrait, QuerySelect};
use serde_json::{Value, json};
use uuid::Uuid;

/// A time that does not come.
const FAR: &str = "2099-01-01T00:00:00Z";

/// The texts of all posts that events tell of, in the order of the stream; its numbers have no gap.
async fn told(user: &User) -> Vec<String> {
    let events = user.get("/api/v1/events?limit=100").await.expect(200).body["events"].clone();
    let events = events.as_array().unwrap();
    let numbers = events.iter().map(|event| event["sequence"].as_u64().unwrap());
    assert!(numbers.eq(1..=events.len() as u64), "no gap");
    let made = events.iter().filter(|event| event["type"] == "post.created");
    made.map(|event| event["data"]["post"]["caption"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn everyone_gets_the_answer_to_what_was_asked() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (user, other) = (app.user().await, app.user().await);
    let (mine, theirs) = (user.connect("bluesky").await, other.connect("mastodon").await);
    let sends = (0..80).map(|number| {
        let (user, account) = if number % 4 == 0 { (&other, theirs) } else { (&user, mine) };
        async move {
            let caption = format!("post {number}");
            let body = json!({"account_id": account, "caption": caption, "scheduled_at": FAR});
            let answer = if number % 2 == 0 {
                user.post_keyed("/api/v1/posts", &format!("key-{number}"), &body).await
            } else {
                user.post("/api/v1/posts", body).await
            };
            let made = answer.expect(201).body["post"].clone();
            assert_eq!((&made["caption"], &made["account_id"]), (&json!(caption), &json!(account)));
            let held = user.get(&format!("/api/v1/posts/{}", made["id"])).await.expect(200);
            let mut held = held.body["post"].clone();
            // Only what is read says what a post waits for.
            let waiting = held.as_object_mut().unwrap().remove("waiting").unwrap();
            assert_eq!((held, &waiting["reason"]), (made, &json!("scheduled_time")));
            caption
        }
    });
    let captions = join_all(sends).await;
    let of = |theirs: bool| -> BTreeSet<String> {
        let kept = captions.iter().enumerate().filter(|(n, _)| (n % 4 == 0) == theirs);
        kept.map(|(_, caption)| caption.clone()).collect()
    };
    for (user, theirs) in [(&user, false), (&other, true)] {
        let told = told(user).await;
        assert_eq!(told.len(), of(theirs).len());
        assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), of(theirs));
    }
}

/// A key that is reserved in the database, for whoever is asked for it.
async fn reserved(cx: &Domain, owner: Owner, key: &str) -> Reservation {
    match idempotency::reserve(cx, owner, key, "print").await.unwrap() {
        ReserveOutcome::Acquired(reservation) => reservation,
        ReserveOutcome::Replay(_) => panic!("nobody has used it"),
    }
}

/// A post, and copies of it with texts of their own that as many requests are about to write.
async fn copies(cx: &Domain, user: &User, count: usize) -> Vec<NewPostRow> {
    let account = user.connect("bluesky").await;
    let first = json!({"account_id": account, "caption": "first", "scheduled_at": FAR});
    let first = user.post("/api/v1/posts", first).await.expect(201).body["post"].clone();
    let id = PostId(first["id"].as_i64().unwrap());
    let row = post::Entity::find_by_id(id).one(&cx.db.read).await.unwrap().unwrap();
    let caller = Caller::browser_session(row.created_by);
    let membership = access::membership_for_post(cx, &caller, id).await.unwrap();
    let copy = |number: usize| NewPostRow {
        act: Act {
            cx: cx.clone(),
            caller: caller.clone(),
            membership: membership.clone(),
            request_id: format!("req_{number}"),
            reservation: None,
            meter: Meter::default(),
            if_match: None,
        },
        row: post::Model {
            content_key: Uuid::now_v7(),
            caption: format!("post {number}"),
            ..row.clone()
        },
        suggestion: None,
        warnings: Vec::new(),
        workspace: WorkspaceOfPost::of(&membership, None),
        once: None,
    };
    (0..count).map(copy).collect()
}

#[tokio::test]
async fn one_that_cannot_be_written_keeps_no_other_back() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (cx, user) = (&app.domain, app.user().await);
    let owner = Owner::of(UserId(Uuid::now_v7()), WorkspaceId(Uuid::now_v7()));
    let mut news = copies(cx, &user, 20).await;
    for number in (3..20).step_by(5) {
        let key = format!("key-{number}");
        news[number].act.reservation = Some(reserved(cx, owner, &key).await);
        if number == 13 {
            // Somebody else has taken the key over, and is done.
            let gone = idempotency_key::Entity::delete_by_id((owner.id(), key));
            gone.exec(&cx.db.write).await.unwrap();
        }
    }
    let news: Vec<_> = news.into_iter().map(Arc::new).collect();
    // The first goes alone, and all others wait for it and go together.
    let answers =
        join_all(news.iter().map(|new| cx.feature::<PostWriter>().write(Arc::clone(new))));
    let mut ids = BTreeSet::new();
    for (number, answer) in answers.await.into_iter().enumerate() {
        if number == 13 {
            assert_eq!(answer.unwrap_err().code(), Code::IdempotencyInProgress);
            continue;
        }
        let body: Value = serde_json::from_str(answer.unwrap().body()).unwrap();
        assert_eq!(body["post"]["caption"], format!("post {number}"));
        let id = PostId(body["post"]["id"].as_i64().unwrap());
        let written = post::Entity::find_by_id(id).one(&cx.db.read).await.unwrap().unwrap();
        assert_eq!(written, post::Model { id, ..news[number].row.clone() });
        ids.insert(id.0);
        let kept = idempotency_key::Entity::find_by_id((owner.id(), format!("key-{number}")));
        let kept = kept.one(&cx.db.read).await.unwrap();
        assert_eq!(kept.is_some(), number % 5 == 3);
        if let Some(kept) = kept {
            let stored: Value = serde_json::from_str(&kept.body.unwrap()).unwrap();
            assert_eq!((kept.status, stored), (Some(201), body));
        }
    }
    assert_eq!(ids.len(), 19);
    let held = user.get("/api/v1/posts?limit=100").await.expect(200).body["posts"].clone();
    assert_eq!(held.as_array().unwrap().len(), 20, "the first and nineteen");
    let told = told(&user).await;
    assert_eq!(told.len(), 20);
    assert!(!told.contains(&"post 13".to_owned()));
}

/// Loses the answer of every commit, or panics there.
#[derive(Debug)]
struct Lost {
    panics: bool,
}

#[async_trait]
impl Hook for Lost {
    async fn reach(&self, _: &str) {}

    fn loses_database(&self, moment: Moment) -> bool {
        let lost = moment == Moment::AfterCommit;
        assert!(!lost || !self.panics, "on purpose");
        lost
    }
}

#[tokio::test]
async fn what_may_have_been_written_is_not_written_again() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    for panics in [false, true] {
        let user = app.user().await;
        let cx = app.other_process_at(Failpoint::with_hook(Arc::new(Lost { panics }))).await;
        let news = copies(&cx, &user, 10).await;
        let answers =
            join_all(news.into_iter().map(|new| cx.feature::<PostWriter>().write(new))).await;
        assert!(answers.iter().all(Result::is_err), "{answers:?}");
        let told: BTreeSet<_> = told(&user).await.into_iter().collect();
        let listed = user.get("/api/v1/posts?limit=100").await.expect(200).body["posts"].clone();
        assert_eq!((listed.as_array().unwrap().len(), told.len()), (11, 11), "{told:?}");
    }
}

#[tokio::test]
async fn a_workspace_that_is_held_up_holds_no_other_up() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (held, free) = (app.user().await, app.user().await);
    let (theirs, ours) = (held.connect("bluesky").await, free.connect("bluesky").await);
    let body =
        |account: i64| json!({"account_id": account, "caption": "here", "scheduled_at": FAR});
    let first = held.post("/api/v1/posts", body(theirs)).await.expect(201);
    let id = PostId(first.body["post"]["id"].as_i64().unwrap());
    let workspace = post::Entity::find_by_id(id).one(&app.domain.db.read).await.unwrap().unwrap();
    let workspace = workspace.workspace_id;
    // A frozen process keeps the counter. SQLite has one writer, who can keep nothing from others in this process.
    let lock = if app.domain.db.is_postgres() {
        let lock = app.domain.db.begin().await.unwrap();
        let for_ever = "SET LOCAL idle_in_transaction_session_timeout = 0";
        lock.execute_unprepared(for_ever).await.unwrap();
        let rows = workspace::Entity::find_by_id(workspace).lock_exclusive().all(&lock).await;
        assert_eq!(rows.unwrap().len(), 1);
        Some(lock)
    } else {
        None
    };
    let waiting = join_all((0..10).map(|_| held.post("/api/v1/posts", body(theirs))));
    let others = async {
        for _ in 0..10 {
            free.post("/api/v1/posts", body(ours)).await.expect(201);
        }
        if let Some(lock) = lock {
            lock.rollback().await.unwrap();
        }
    };
    let (waited, ()) = tokio::join!(waiting, others);
    for answer in waited {
        answer.expect(201);
    }
    assert_eq!((told(&held).await.len(), told(&free).await.len()), (11, 10));
}
