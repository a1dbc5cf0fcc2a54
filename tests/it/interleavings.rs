//! Edits, pauses, deletes and due times in any order: what goes out is what was last said, once, and nothing that was
//! paused or deleted.

use std::{collections::BTreeMap, time::Duration};

use fanfare_core::clock::machine_now;
use fanfare_tests::{Options, TestApp, User};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Value, json};

use crate::{crash::let_leases_lapse, worker::Worker};

const POSTS: usize = 12;
const MOVES: usize = 80;
const SEEDS: u8 = 3;

/// The answers that the callers got for one post.
#[derive(Debug, Default)]
struct Told {
    id: i64,
    version: u32,
    deleted: bool,
}

/// Makes one random change; only what the service accepted counts.
async fn change(app: &TestApp, user: &User, post: &mut Told, name: usize, dice: u32) {
    let path = format!("/api/v1/posts/{}", post.id);
    let at = app.at(i64::from(dice % 40));
    match dice % 7 {
        0 | 1 => {
            let next = post.version + 1;
            let edit = json!({ "caption": format!("post {name} version {next}") });
            if user.patch(&path, edit).await.status == 200 {
                post.version = next;
            }
        }
        2 => drop(user.put(&format!("{path}/status"), json!({"status": "paused"})).await),
        3 => drop(user.put(&format!("{path}/status"), json!({"status": "draft"})).await),
        4 => {
            let on = json!({"status": "scheduled", "scheduled_at": at});
            drop(user.put(&format!("{path}/status"), on).await);
        }
        5 if dice.is_multiple_of(3) => post.deleted |= user.delete(&path).await.status == 200,
        5 => drop(user.patch(&path, json!({ "scheduled_at": at })).await),
        _ => app.advance(Duration::from_secs(u64::from(dice % 11))),
    }
}

fn dice(seed: u8) -> Vec<u32> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let throws = proptest::collection::vec(0u32..1_000_000, MOVES * 2);
    let tree = throws.new_tree(&mut runner).expect("a strategy without a filter");
    tree.current()
}

async fn play(seed: u8) {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let mut posts = Vec::new();
    for name in 0..POSTS {
        let new = json!({
            "account_id": account, "caption": format!("post {name} version 0"),
            "scheduled_at": app.at(i64::try_from(5 + name * 3).unwrap()),
        });
        let id = user.publish(new).await["id"].as_i64().unwrap();
        posts.push(Told { id, ..Told::default() });
    }
    for pair in dice(seed).chunks(2) {
        let name = usize::try_from(pair[0]).unwrap() % POSTS;
        if !posts[name].deleted {
            change(&app, &user, &mut posts[name], name, pair[1]).await;
        }
    }
    app.advance(Duration::from_secs(120));
    compare(&app, &user, account, &posts, seed).await;
}

/// Compares the network's entries with the answers the callers got: each once.
async fn compare(app: &TestApp, user: &User, account: i64, posts: &[Told], seed: u8) {
    let mut expected: BTreeMap<usize, String> = BTreeMap::new();
    for (name, post) in posts.iter().enumerate().filter(|(_, post)| !post.deleted) {
        let record =
            app.wait_for_status(user, post.id, &["published", "paused", "draft", "failed"]).await;
        assert_ne!(record["status"], "failed", "seed {seed}: {record:#}");
        if record["status"] == "published" {
            expected.insert(name, format!("post {name} version {}", post.version));
        }
    }
    let held: Vec<Value> = user.on_network("bluesky", account).await;
    let mut texts: Vec<&str> = held.iter().map(|one| one["text"].as_str().unwrap()).collect();
    texts.sort_unstable();
    let mut wanted: Vec<&str> = expected.values().map(String::as_str).collect();
    wanted.sort_unstable();
    assert_eq!(texts, wanted, "seed {seed}");
}

/// The same with a worker in a process of its own, which is killed again and again; time is real here.
async fn play_with_kills(seed: u8) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let mut worker = Worker::start(&app, None);
    let mut posts = Vec::new();
    for name in 0..POSTS {
        let new = json!({
            "account_id": account, "caption": format!("post {name} version 0"),
            "scheduled_at": app.at(i64::try_from(name / 2).unwrap()),
        });
        let id = user.publish(new).await["id"].as_i64().unwrap();
        posts.push(Told { id, ..Told::default() });
    }
    for pair in dice(seed).chunks(2) {
        let behind = machine_now() - app.clock.now();
        app.clock.advance(behind.max(0));
        let name = usize::try_from(pair[0]).unwrap() % POSTS;
        if pair[1] % 6 == 0 {
            drop(worker);
            let_leases_lapse(&app).await;
            worker = Worker::start(&app, None);
        } else if !posts[name].deleted {
            // Every change but the one that moves the clock.
            let dice = pair[1] / 7 * 7 + pair[1] % 6;
            change(&app, &user, &mut posts[name], name, dice).await;
        }
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
    // Posts that are still to come are made due now.
    let now = json!({"scheduled_at": app.at(0)});
    for post in posts.iter().filter(|post| !post.deleted) {
        drop(user.patch(&format!("/api/v1/posts/{}", post.id), now.clone()).await);
    }
    drop(worker);
    let_leases_lapse(&app).await;
    let _last = Worker::start(&app, None);
    compare(&app, &user, account, &posts, seed).await;
}

#[tokio::test]
async fn the_same_while_workers_are_killed() {
    play_with_kills(101).await;
}

#[tokio::test]
async fn what_goes_out_is_what_was_last_said_and_only_once() {
    for seed in 0..SEEDS {
        play(seed).await;
    }
}
