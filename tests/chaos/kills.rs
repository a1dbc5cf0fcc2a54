//! Thousands of posts over networks of every class while workers are killed again and again.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use fanfare_tests::{Options, TestApp, User};
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};

use crate::worker::Worker;

/// One network of each class, and whether it can be asked what became of a call.
const NETWORKS: &[(&str, bool)] = &[
    ("bluesky", true),
    ("threads", true),
    ("wordpress", true),
    ("discord", false),
    ("telegram", false),
];

/// Accounts on each network: a network that is asked what became of a call lists an account's latest posts only.
const ACCOUNTS: usize = 25;

/// Workers at a time.
const WORKERS: usize = 3;

/// Nothing has changed for so long: it will not end by itself.
const STUCK: Duration = Duration::from_secs(300);

#[expect(clippy::disallowed_methods, reason = "how much of it, as `make chaos` is told")]
fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Makes the posts, in batches; what each account is to hold: its network and the texts.
async fn fill(user: &User, posts: usize) -> BTreeMap<i64, (usize, Vec<String>)> {
    let mut expected = BTreeMap::new();
    for place in 0..NETWORKS.len() * ACCOUNTS {
        let network = place % NETWORKS.len();
        let account = user.connect(NETWORKS[network].0).await;
        let count = posts / NETWORKS.len() / ACCOUNTS;
        let texts: Vec<String> =
            (0..count).map(|n| format!("{} {place} {n}", NETWORKS[network].0)).collect();
        for chunk in texts.chunks(25) {
            let item = |text: &String| json!({"account_id": account, "caption": text});
            let items: Vec<Value> = chunk.iter().map(item).collect();
            let made =
                user.post("/api/v1/posts/batch", json!({ "posts": items })).await.expect(200);
            assert_eq!(made.body["errors"], json!([]), "{:#}", made.body);
        }
        expected.insert(account, (network, texts));
    }
    expected
}

/// Posts by status and error code.
async fn standing(app: &TestApp) -> Vec<(String, i64)> {
    let sql = "SELECT status AS s, count(*) AS n FROM posts GROUP BY status ORDER BY status";
    let db = &app.domain.db.read;
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await;
    let read =
        |row: &sea_orm::QueryResult| (row.try_get("", "s").unwrap(), row.try_get("", "n").unwrap());
    rows.unwrap().iter().map(read).collect()
}

fn is_over(standing: &[(String, i64)]) -> bool {
    standing.iter().all(|(status, _)| status == "published" || status == "failed")
}

/// Kills and replaces workers; how often.
async fn fire(app: &TestApp, workers: &mut [Worker], kills: usize) -> usize {
    for kill in 0..kills {
        tokio::time::sleep(Duration::from_millis(150 + (kill as u64 * 37) % 200)).await;
        workers[kill % WORKERS] = Worker::with(app, &[("FANFARE_LOG", "error")]);
        if is_over(&standing(app).await) {
            return kill + 1;
        }
    }
    kills
}

async fn until_over(app: &TestApp) {
    let (mut before, mut since) = (Vec::new(), Instant::now());
    loop {
        let now = standing(app).await;
        if is_over(&now) {
            return;
        }
        if now != before {
            (before, since) = (now, Instant::now());
        }
        assert!(since.elapsed() < STUCK, "it never ends: {before:?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Texts of posts that failed, with their error codes.
async fn failed(app: &TestApp) -> BTreeMap<String, String> {
    let sql = "SELECT caption, error FROM posts WHERE status = 'failed'";
    let db = &app.domain.db.read;
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await;
    let read = |row: &sea_orm::QueryResult| {
        let error: Value = row.try_get("", "error").unwrap();
        (row.try_get("", "caption").unwrap(), error["code"].as_str().unwrap().to_owned())
    };
    rows.unwrap().iter().map(read).collect()
}

/// What was posted; an article has it as its title.
fn text_of(entry: &Value) -> String {
    let title = entry["title"].as_str().filter(|title| !title.is_empty());
    title.or(entry["text"].as_str()).expect("an entry has a text").to_owned()
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "what was counted")]
async fn workers_killed_again_and_again_lose_nothing_and_double_nothing() {
    let (posts, kills) = (number("POSTS", 10_000), number("KILLS", 200));
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let expected = fill(&user, posts).await;
    let begun = Instant::now();
    let mut workers: Vec<_> =
        (0..WORKERS).map(|_| Worker::with(&app, &[("FANFARE_LOG", "error")])).collect();
    let killed = fire(&app, &mut workers, kills).await;
    until_over(&app).await;
    let failed = failed(&app).await;
    let (mut public, mut unknown) = (0, 0);
    for (account, (network, texts)) in &expected {
        let (platform, asked) = NETWORKS[*network];
        let mut held: BTreeMap<String, usize> = BTreeMap::new();
        for entry in user.on_network(platform, *account).await {
            *held.entry(text_of(&entry)).or_default() += 1;
        }
        for text in texts {
            let times = held.get(text).copied().unwrap_or(0);
            public += times;
            match failed.get(text) {
                None => {
                    assert_eq!(times, 1, "{text} is called published: {:?}", held.first_key_value())
                }
                Some(code) => {
                    assert_eq!((code.as_str(), asked), ("outcome_unknown", false), "{text}");
                    assert!(times <= 1, "{text} is public {times} times");
                    unknown += 1;
                }
            }
        }
    }
    println!(
        "{posts} posts, {killed} kills, {} s: {public} public, 0 lost, 0 twice, {unknown} flagged as unknown on blind networks",
        begun.elapsed().as_secs()
    );
    assert!(killed > 0, "it was over before a worker was killed");
}
