//! Connections cut at the first, a middle and the last byte of head and body of the publishing call and its answer: a
//! call that the network has whole is never taken for one that was not sent, and no cut makes a second post. For one
//! network of each class they are cut at every byte.

use std::{collections::BTreeSet, mem::discriminant, time::Duration};

use fanfare_entities::{post, post::PostStatus};
use fanfare_tests::{Cut, Options, TestApp, User, networks};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};

/// The number of accounts that share the posts of a run over every byte, and the number of posts that each makes at a
/// time.
const ACCOUNTS: usize = 16;
const AT_ONCE: usize = 10;

/// The networks that are cut at the same time: each has a service of its own.
const NETWORKS: usize = 6;

/// Each of these stories keeps the machine busy by itself.
pub static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Checks a post after a cut.
fn judge(story: &str, post: &Value, held: usize, asked: bool, sent: bool) {
    if asked {
        assert_eq!((post["status"].as_str(), held), (Some("published"), 1), "{story}: {post:#}");
    } else if sent {
        // An answer that says everything in its head is whole without its body.
        let is_told = post["status"] == "published" && post["platform_post_id"].is_string();
        assert!(is_told || post["error"]["code"] == "outcome_unknown", "{story}: {post:#}");
        assert_eq!(held, 1, "{story}");
    } else {
        // Not carried out: either known not to have been sent, and sent again, or in doubt.
        let in_doubt = post["error"]["code"] == "outcome_unknown" && held == 0;
        assert!(in_doubt || (post["status"] == "published" && held == 1), "{story}: {post:#}");
    }
}

async fn cut_everywhere(name: &'static str) {
    let app = TestApp::with(Options { cut: true, ..Options::default() }).await;
    let cutter = app.cutter.clone().unwrap();
    let user = app.user().await;
    let account = user.connect(name).await;
    let since = networks::calls(&app, name).await.len();
    let post = networks::publish(&app, &user, networks::post(name, account)).await;
    assert_eq!(post["status"], "published", "{name}: {post:#}");
    let call = networks::commit_call(&app, name, since).await;
    for cut in Cut::EVERYWHERE {
        let before = user.on_network(name, account).await.len();
        cutter.cut_later(&call.words, call.skip, *cut);
        let post = networks::publish(&app, &user, networks::post(name, account)).await;
        let story = format!("{name} cut at {cut:?}");
        assert!(cutter.is_done(), "{story}: the call was never made");
        let held = user.on_network(name, account).await.len() - before;
        judge(&story, &post, held, networks::can_be_asked(name), cut.is_sent());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_cut_makes_a_second_post() {
    let _turn = TURN.lock().await;
    let mut left = networks::all().into_iter();
    let mut running = tokio::task::JoinSet::new();
    for name in left.by_ref().take(NETWORKS) {
        running.spawn(cut_everywhere(name));
    }
    while let Some(told) = running.join_next().await {
        told.expect("a network's story");
        if let Some(name) = left.next() {
            running.spawn(cut_everywhere(name));
        }
    }
}

/// The first network of each class that posts without a file.
fn one_of_each_class() -> Vec<&'static str> {
    let mut chosen: Vec<&str> = Vec::new();
    let class = |name: &str| discriminant(&networks::connector(name).spec().recovery_class);
    for name in networks::all() {
        let is_new = chosen.iter().all(|other| class(other) != class(name));
        if is_new && networks::needed_media(name).is_empty() {
            chosen.push(name);
        }
    }
    chosen
}

/// Accounts with the words of their publishing calls.
async fn accounts(app: &TestApp, user: &User, name: &str) -> (Vec<i64>, Vec<String>) {
    let (mut accounts, mut calls) = (Vec::new(), BTreeSet::new());
    for _ in 0..ACCOUNTS {
        let account = user.connect(name).await;
        let post = networks::publish(app, user, networks::post(name, account)).await;
        assert_eq!(post["status"], "published", "{name}: {post:#}");
        calls.insert(networks::commit_call(app, name, 0).await.words);
        accounts.push(account);
    }
    (accounts, calls.into_iter().collect())
}

/// Makes posts on all accounts, and lets time pass until they have ended; what became of those of each account.
async fn round(app: &TestApp, user: &User, name: &str, accounts: &[i64]) {
    for account in accounts {
        let posts: Vec<_> = (0..AT_ONCE).map(|_| networks::post(name, *account)).collect();
        let made = user.post("/api/v1/posts/batch", json!({ "posts": posts })).await.expect(200);
        assert_eq!(made.body["errors"], json!([]), "{name}");
    }
    // Many posts take longer than a story usually waits for one thing.
    for _ in 0..1_000 {
        app.step(Duration::from_secs(10)).await;
        if all_ended(app).await {
            return;
        }
    }
    panic!("{name}: posts never end");
}

/// Have all posts ended? They are counted at one moment: a post that goes from one status to another while statuses are
/// asked for in turn is in none of them.
async fn all_ended(app: &TestApp) -> bool {
    let open = [PostStatus::Scheduled, PostStatus::Publishing, PostStatus::Processing];
    let open = post::Entity::find().filter(post::Column::Status.is_in(open));
    open.one(&app.domain.db.write).await.expect("the database answers").is_none()
}

/// All posts of an account.
async fn posts(user: &User, account: i64) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/v1/posts?account_id={account}&limit=100{cursor}");
        let page = user.get(&path).await.expect(200).body;
        all.extend(page["posts"].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

/// Compares our record of every post with the network's.
async fn compare(user: &User, name: &str, account: i64) {
    let held = user.on_network(name, account).await;
    let mut doubtful = 0;
    for post in posts(user, account).await {
        let caption = post["caption"].as_str().unwrap();
        let is_it = |there: &&Value| there["text"].as_str().is_some_and(|text| text == caption);
        let there = held.iter().filter(is_it).count();
        if post["status"] == "published" {
            assert_eq!(there, 1, "{name}: {post:#}");
            assert!(post["platform_post_id"].is_string(), "{name}: {post:#}");
            continue;
        }
        doubtful += 1;
        assert!(!networks::can_be_asked(name), "{name}: {post:#}");
        assert_eq!(post["error"]["code"], "outcome_unknown", "{name}: {post:#}");
        assert!(there <= 1, "{name}: {post:#}");
    }
    assert!(networks::can_be_asked(name) || doubtful > 0, "{name} was never cut");
}

async fn cut_at_every_byte(name: &'static str) {
    let app = TestApp::with(Options { cut: true, ..Options::default() }).await;
    let cutter = app.cutter.clone().unwrap();
    let user = app.user().await;
    let (accounts, calls) = accounts(&app, &user, name).await;
    cutter.walk(calls);
    while cutter.walked().is_none() {
        round(&app, &user, name, &accounts).await;
    }
    for account in accounts {
        compare(&user, name, account).await;
    }
    let (request, answer) = cutter.walked().unwrap();
    assert!(request > 100 && answer > 50, "{name}: {request} and {answer} bytes are no call");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_byte_of_any_class_makes_a_second_post() {
    let _turn = TURN.lock().await;
    let chosen = one_of_each_class();
    assert_eq!(chosen.len(), 4, "{chosen:?}");
    let mut running = tokio::task::JoinSet::new();
    for name in chosen {
        running.spawn(cut_at_every_byte(name));
    }
    while let Some(told) = running.join_next().await {
        told.expect("a network's story");
    }
}
