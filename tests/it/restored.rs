//! After a restore the networks that can tell are asked what was sent since the backup, and nothing is sent by itself.

use std::{collections::BTreeMap, time::Duration};

use fanfare_core::durable;
use fanfare_entities::{PostId, post, post::PostStatus, post_attempt, remote_result};
use fanfare_publishing::posts;
use fanfare_tests::{Options, TestApp, User, networks};
use sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// An hour, in seconds.
const HOUR: i64 = 3_600;

/// A post on a network: its account, and whether it was sent after the backup.
struct Held {
    platform: &'static str,
    account: i64,
    id: i64,
    was_sent: bool,
}

/// Makes a post for an hour from now, or for a day from now if it is not to be sent before the restore.
async fn make(
    app: &TestApp,
    (user, platform): (&User, &'static str),
    account: i64,
    was_sent: bool,
) -> Held {
    let mut body = networks::post(platform, account);
    body["scheduled_at"] = app.at(if was_sent { HOUR } else { 24 * HOUR }).into();
    let id = user.publish(body).await["id"].as_i64().unwrap();
    Held { platform, account, id, was_sent }
}

async fn rows(app: &TestApp) -> Vec<post::Model> {
    post::Entity::find().all(&app.domain.db.read).await.unwrap()
}

/// Brings the database back to what a backup says: nothing of these posts was sent, and all of them were due at one time.
async fn restore(app: &TestApp, backup: Vec<post::Model>, due: i64) {
    let db = &app.domain.db.write;
    post_attempt::Entity::delete_many().exec(db).await.unwrap();
    remote_result::Entity::delete_many().exec(db).await.unwrap();
    for row in backup {
        let row = post::Model { scheduled_at: Some(due), due_at: Some(due), ..row };
        row.into_active_model().reset_all().update(db).await.unwrap();
    }
}

/// Ends the workers, and waits until none of them leads.
async fn end_workers(app: &TestApp, stop: &CancellationToken) {
    stop.cancel();
    app.eventually("no worker leads", || async {
        durable::scheduler_leader(&app.domain).await.unwrap().is_none().then_some(())
    })
    .await;
}

async fn shown(user: &User, id: i64) -> Value {
    user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone()
}

/// How a held post ended.
fn end(post: &Value) -> String {
    match post["error"]["code"].as_str() {
        None => post["status"].as_str().unwrap().to_owned(),
        Some(code) => code.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn networks_that_can_tell_are_asked_and_nothing_goes_out() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let mut held = Vec::new();
    // Workers copy and analyse the files.
    let stop = CancellationToken::new();
    app.start_workers_of(app.other_process().await, stop.clone());
    let due = app.clock.now() + HOUR * 1_000;
    for platform in networks::all() {
        let account = user.connect(platform).await;
        for was_sent in [true, false] {
            held.push(make(&app, (&user, platform), account, was_sent).await);
        }
    }
    let backup = rows(&app).await;
    for one in held.iter().filter(|one| one.was_sent) {
        networks::ended(&app, &user, &json!(one.id)).await;
    }
    end_workers(&app, &stop).await;
    restore(&app, backup, due).await;
    let mut there = BTreeMap::new();
    for one in &held {
        there.insert(one.platform, user.on_network(one.platform, one.account).await.len());
    }
    app.pass_time(Duration::from_secs(120)).await;
    let until = Some(app.clock.now());
    let done = posts::hold_after_restore(&app.domain, until, true).await.unwrap();
    assert_eq!((done.asked, done.held), (held.len() as u64, 0));
    let again = posts::hold_after_restore(&app.domain, until, true).await.unwrap();
    assert_eq!((again.asked, again.held), (0, 0));
    // Their owners are told what happens.
    let asked = shown(&user, held[0].id).await;
    assert_eq!(asked["waiting"]["reason"], "open_question", "{asked:#}");
    assert!(asked["error"]["message"].as_str().unwrap().contains("restored from a backup"));
    assert_eq!(asked["error"]["asked_after_restore"], Value::Null);
    user.post(&format!("/api/v1/posts/{}/retry", held[0].id), json!({})).await.expect(409);

    app.start_workers();
    for one in &held {
        let id = one.id;
        app.eventually_in_time("it is settled", Duration::from_secs(5), || async {
            let row = post::Entity::find_by_id(PostId(id)).one(&app.domain.db.read).await.unwrap();
            matches!(row.unwrap().status, PostStatus::Published | PostStatus::Failed).then_some(())
        })
        .await;
    }
    let mut ends: BTreeMap<(bool, String), Vec<&str>> = BTreeMap::new();
    for one in &held {
        let post = shown(&user, one.id).await;
        let count = user.on_network(one.platform, one.account).await.len();
        assert_eq!(count, there[one.platform], "{}: nothing goes out\n{post:#}", one.platform);
        let end = end(&post);
        let allowed = if one.was_sent { "published" } else { "missed" };
        assert!(end == allowed || end == "outcome_unknown", "{}: {post:#}", one.platform);
        assert_eq!(post["error"]["retry_safe"] == json!(false), end == "outcome_unknown");
        if !networks::can_be_asked(one.platform) {
            assert_eq!(end, "outcome_unknown", "{}", one.platform);
        }
        ends.entry((one.was_sent, end)).or_default().push(one.platform);
    }
    // Those that are found in lists, or by a name that we gave them; others are known by what the last step before the
    // call had made, which a backup from before that step lacks.
    for platform in ["bluesky", "devto", "lemmy", "mastodon", "wordpress", "x"] {
        assert!(ends[&(true, "published".to_owned())].contains(&platform), "{ends:#?}");
        assert!(ends[&(false, "missed".to_owned())].contains(&platform), "{ends:#?}");
    }
}

/// Each network, and how posts end of which the backup knows what was prepared: one that was sent after the backup, and one
/// that was deleted in place of it. What a network can be asked follows from its documentation: by the record key, the slug or the
/// text that we chose, by the container or upload that was prepared, or by nothing (a message to a chat, a member's post).
const ENDS: [(&str, &str, &str); 18] = [
    ("bluesky", "published", "missed"),
    ("devto", "published", "missed"),
    ("discord", "outcome_unknown", "outcome_unknown"),
    ("facebook", "published", "missed"),
    ("google_business", "published", "missed"),
    ("hashnode", "published", "missed"),
    ("instagram", "published", "missed"),
    ("lemmy", "published", "missed"),
    ("linkedin", "outcome_unknown", "outcome_unknown"),
    ("mastodon", "published", "missed"),
    ("pinterest", "published", "missed"),
    ("slack", "published", "missed"),
    ("telegram", "outcome_unknown", "outcome_unknown"),
    ("threads", "published", "missed"),
    ("tiktok", "published", "missed"),
    ("wordpress", "published", "missed"),
    ("x", "published", "missed"),
    ("youtube", "published", "missed"),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_the_backup_knows_to_be_prepared_is_asked_about() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let stop = CancellationToken::new();
    app.start_workers_of(app.other_process().await, stop.clone());
    let due = app.clock.now() + HOUR * 1_000;
    let mut held = Vec::new();
    for platform in networks::all() {
        let account = user.connect(platform).await;
        for was_sent in [true, false] {
            let mut body = networks::post(platform, account);
            body["scheduled_at"] = app.at(HOUR).into();
            let id = user.publish(body).await["id"].as_i64().unwrap();
            held.push(Held { platform, account, id, was_sent });
        }
    }
    app.wait_until_idle().await;
    app.pass_time(Duration::from_secs(3_000)).await;
    for _ in 0..19 {
        app.step(Duration::from_secs(30)).await;
    }
    let backup = rows(&app).await;
    assert!(backup.iter().all(|row| row.status == PostStatus::Scheduled), "nothing went out");
    for one in held.iter().filter(|one| !one.was_sent) {
        user.delete(&format!("/api/v1/posts/{}", one.id)).await.expect(200);
    }
    for one in held.iter().filter(|one| one.was_sent) {
        networks::ended(&app, &user, &json!(one.id)).await;
    }
    end_workers(&app, &stop).await;
    let db = &app.domain.db.write;
    for row in
        backup.iter().filter(|row| held.iter().any(|one| one.id == row.id.0 && !one.was_sent))
    {
        let row = row.clone().into_active_model().reset_all();
        post::Entity::insert(row).exec_without_returning(db).await.unwrap();
    }
    restore(&app, backup, due).await;
    app.pass_time(Duration::from_secs(120)).await;
    let until = Some(app.clock.now());
    let done = posts::hold_after_restore(&app.domain, until, true).await.unwrap();
    assert_eq!((done.asked, done.held), (held.len() as u64, 0));
    app.start_workers();
    let mut ends = BTreeMap::new();
    for one in &held {
        let id = one.id;
        app.eventually_in_time("it is settled", Duration::from_secs(5), || async {
            let row = post::Entity::find_by_id(PostId(id)).one(&app.domain.db.read).await.unwrap();
            matches!(row.unwrap().status, PostStatus::Published | PostStatus::Failed).then_some(())
        })
        .await;
        let end = end(&shown(&user, id).await);
        ends.entry(one.platform).or_insert_with(Vec::new).push(end);
    }
    let wanted: BTreeMap<_, _> = ENDS
        .iter()
        .map(|(name, sent, unsent)| (*name, vec![(*sent).to_owned(), (*unsent).to_owned()]))
        .collect();
    assert_eq!(ends, wanted);
}
