//! Rows that change between a worker's read and its claim, or between its claim and the end of its work.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use fanfare_core::{
    PostId,
    durable::{LEASE, Lease},
};
use fanfare_publishing::posts::{
    PostStatus,
    publishing::{
        Attempt, BeginStep, Claimant, ClaimedPost, CompleteStep, begin_step, claim,
        claim_unchanged, complete_step, find_claimable,
    },
};
use fanfare_tests::{Options, TestApp, User};
use serde_json::{Value, json};

/// A worker that takes posts.
const WORKER: Claimant<'_> = Claimant::new("worker");

async fn service() -> (TestApp, User) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    (app, user)
}

/// Due posts of as many accounts: none waits behind another.
async fn due_posts(app: &TestApp, user: &User, count: usize) -> Vec<i64> {
    let mut ids = Vec::new();
    for number in 0..count {
        let account = user.connect("bluesky").await;
        let caption = format!("post {number}");
        let new = json!({"account_id": account, "caption": caption, "scheduled_at": app.at(5)});
        ids.push(user.publish(new).await["id"].as_i64().unwrap());
    }
    app.advance(Duration::from_secs(6));
    ids
}

/// Every `post.publishing`, `post.published` and `post.failed` so far: its type, its post and its release.
async fn told(user: &User) -> Vec<(String, i64, Value)> {
    let events = user.get("/api/v1/events?limit=100").await.expect(200).body["events"].clone();
    let events = events.as_array().unwrap();
    let numbers = events.iter().map(|event| event["sequence"].as_u64().unwrap());
    assert!(numbers.eq(1..=events.len() as u64), "no gap");
    let of_work = ["post.publishing", "post.published", "post.failed"];
    let told = events.iter().filter(|event| of_work.contains(&event["type"].as_str().unwrap()));
    let told = told.map(|event| {
        let (kind, post) = (event["type"].as_str().unwrap(), &event["data"]["post"]);
        (kind.to_owned(), post["id"].as_i64().unwrap(), post["release_id"].clone())
    });
    told.collect()
}

fn ids_of(taken: &[ClaimedPost]) -> Vec<i64> {
    let mut ids: Vec<_> = taken.iter().map(|one| one.post.id.0).collect();
    ids.sort_unstable();
    ids
}

fn attempt() -> Attempt {
    Attempt {
        number: 1,
        worker: "someone".to_owned(),
        started_at: 0,
        ended_at: None,
        outcome: None,
        error: None,
        steps: json!([]),
    }
}

#[tokio::test]
async fn what_has_changed_since_it_was_read_is_not_taken() {
    let (app, user) = service().await;
    let ids = due_posts(&app, &user, 6).await;
    let path = |n: usize, rest: &str| format!("/api/v1/posts/{}{rest}", ids[n]);
    let seen = find_claimable(&app.domain, WORKER, &ids).await.unwrap();
    assert_eq!(seen.len(), 6);
    user.patch(&path(0, ""), json!({"caption": "another text"})).await.expect(200);
    user.put(&path(1, "/status"), json!({"status": "paused"})).await.expect(200);
    user.put(&path(2, "/release-id"), json!({"release_id": "r1"})).await.expect(200);
    user.delete(&path(3, "")).await.expect(200);
    let elsewhere = claim(&app.domain, WORKER, &[ids[4]]).await.unwrap();
    assert_eq!(ids_of(&elsewhere), [ids[4]]);
    let taken = claim_unchanged(&app.domain, WORKER, seen).await.unwrap();
    assert_eq!(ids_of(&taken), [ids[5]]);
    let publishing = |id| ("post.publishing".to_owned(), id, Value::Null);
    assert_eq!(told(&user).await, [publishing(ids[4]), publishing(ids[5])]);
    // Posts that were changed and are still due are claimed with their new content.
    let again = claim(&app.domain, WORKER, &ids).await.unwrap();
    assert_eq!(ids_of(&again), [ids[0], ids[2]]);
    let texts: BTreeSet<_> = again.iter().map(|one| one.post.caption.as_str()).collect();
    assert_eq!(texts, BTreeSet::from(["another text", "post 2"]));
}

#[tokio::test]
async fn a_call_that_was_written_down_since_it_was_read_is_not_overlooked() {
    let (app, user) = service().await;
    let ids = due_posts(&app, &user, 1).await;
    let holder = claim(&app.domain, WORKER, &ids).await.unwrap().remove(0);
    app.advance(Duration::from_millis(LEASE.unsigned_abs() + 1));
    let seen = find_claimable(&app.domain, WORKER, &ids).await.unwrap();
    assert_eq!(seen.len(), 1, "its lease has lapsed");
    // Its holder is alive after all, and its clock is behind: the lease stays as it is.
    let step = BeginStep {
        lease: Lease { id: ids[0], fencing_token: holder.post.fencing_token },
        attempt: attempt(),
        sending: Some((1, 2)),
        in_line: true,
        lease_until: 0,
    };
    assert_eq!(begin_step(&app.domain, &[Arc::new(step)]).await.unwrap(), [true]);
    assert!(claim_unchanged(&app.domain, WORKER, seen).await.unwrap().is_empty());
    let next = claim(&app.domain, WORKER, &ids).await.unwrap().remove(0);
    assert_eq!((next.post.sending_at, next.post.sending_until), (Some(1), Some(2)));
}

#[tokio::test]
async fn a_row_that_many_want_is_taken_by_one() {
    let (app, user) = service().await;
    let ids = due_posts(&app, &user, 20).await;
    let claims = (0..8).map(|_| claim(&app.domain, WORKER, &ids));
    let taken = futures_util::future::join_all(claims).await;
    let mut taken: Vec<i64> =
        taken.iter().flat_map(|taken| ids_of(taken.as_ref().unwrap())).collect();
    // Rows whose holder let go of them are there for the next claim.
    taken.extend(ids_of(&claim(&app.domain, WORKER, &ids).await.unwrap()));
    taken.sort_unstable();
    assert_eq!(taken, ids);
    assert_eq!(told(&user).await.len(), 20);
}

#[tokio::test]
async fn an_event_tells_the_release_that_was_given_while_the_post_was_held() {
    let (app, user) = service().await;
    let ids = due_posts(&app, &user, 2).await;
    let taken = claim(&app.domain, WORKER, &ids).await.unwrap();
    let path = format!("/api/v1/posts/{}/release-id", ids[1]);
    user.put(&path, json!({"release_id": "r7"})).await.expect(200);
    let results: Vec<_> = taken.into_iter().map(|one| Arc::new(published(one))).collect();
    assert_eq!(complete_step(&app.domain, &results).await.unwrap(), [true, true]);
    let told = told(&user).await;
    let published = |id, release| ("post.published".to_owned(), id, release);
    assert_eq!(told[2..].len(), 2);
    assert!(told[2..].contains(&published(ids[0], Value::Null)));
    assert!(told[2..].contains(&published(ids[1], json!("r7"))));
    // Twice is once.
    assert_eq!(complete_step(&app.domain, &results).await.unwrap(), [false, false]);
    assert_eq!(self::told(&user).await.len(), 4);
}

fn published(taken: ClaimedPost) -> CompleteStep {
    let PostId(id) = taken.post.id;
    CompleteStep {
        lease: Lease { id, fencing_token: taken.post.fencing_token },
        keep_lease: false,
        out_of_line: false,
        behind: false,
        status: PostStatus::Published,
        due_at: None,
        state: None,
        partly_public: false,
        attempts: 0,
        sending: None,
        reconciling_at: None,
        absent_at: None,
        made: (fanfare_entities::AccountId(0), Vec::new()),
        names: Vec::new(),
        published: Some((format!("remote-{id}"), None)),
        parts: None,
        warnings: None,
        error: None,
        next_attempt_at: None,
        duplicate_risk: false,
        attempt: Some(attempt()),
        ended: Some(taken.post),
    }
}
