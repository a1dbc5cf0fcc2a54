//! The service is killed while it answers messages and comments: nothing is sent twice, and each answer ends.
//!
//! `REPLY_KILLS=200` kills it two hundred times.

use std::time::Duration;

use fanfare_domain::failpoint;
use fanfare_tests::User;
use serde_json::{Value, json};

use super::NETWORKS;
use crate::service::{Dir, Service, eventually};

/// Kills that are made if nothing else is said.
const KILLS: usize = 8;

/// Pictures of tests are served on loopback.
const OPEN: (&str, &str) = ("FANFARE_ALLOW_PRIVATE_TARGETS", "true");

/// Something that is answered, again and again.
struct Target {
    platform: &'static str,
    account: i64,
    path: String,
}

/// A conversation or a comment of each network that has it.
async fn targets(user: &User) -> Vec<Target> {
    let mut targets = Vec::new();
    for (platform, messages) in NETWORKS {
        let account = user.connect(platform).await;
        let made =
            user.publish(fanfare_tests::networks::post(platform, account)).await["id"].clone();
        eventually("the post is public", || async {
            let post = user.get(&format!("/api/v1/posts/{made}")).await.expect(200).body;
            (post["post"]["status"] == "published").then_some(())
        })
        .await;
        let kinds: &[&str] = if messages { &["message", "comment"] } else { &["comment"] };
        for kind in kinds {
            let item = json!({"account_id": account, "kind": kind, "text": "Hello?"});
            let path = format!("/api/v1/sandbox/{platform}/inbound");
            let _ = user.post(&path, item).await.expect(201);
            let list = if *kind == "message" { "conversations" } else { "comments" };
            let id = eventually("it is there", || async {
                let path = format!("/api/v1/inbox/{list}?account_id={account}");
                user.get(&path).await.expect(200).body[list].get(0)?["id"].as_i64()
            })
            .await;
            targets.push(Target { platform, account, path: format!("/api/v1/inbox/{list}/{id}") });
        }
    }
    targets
}

/// Our own answers at an address, with what has become of each.
async fn answers(user: &User, target: &Target) -> Vec<Value> {
    let shown = user.get(&format!("{}?limit=100", target.path)).await;
    let shown = if shown.status == 200 { shown } else { user.get(&target.path).await.expect(200) };
    let all = shown.body["messages"].as_array().or(shown.body["replies"].as_array()).unwrap();
    let is_ours = |one: &&Value| one["author"]["is_owner"] == true;
    all.iter().filter(is_ours).cloned().collect()
}

/// Kills the service while it sends the answer `nth`; true if it was at its place then.
async fn kill(dir: &Dir, key: &str, target: &Target, nth: usize) -> bool {
    let places = failpoint::OUTGOING;
    let place = places[nth % places.len()];
    let service = Service::start(dir, false, &[OPEN, ("FANFARE_FAILPOINT", place)]);
    let user = User::new(&service.origin, key.to_owned());
    let (path, text) = (format!("{}/reply", target.path), format!("Answer {nth}"));
    let sending =
        tokio::spawn(async move { user.post(&path, json!({ "text": text })).await.status });
    // At places that this network does not pass it is killed once the answer has come.
    loop {
        if service.logged().iter().any(|line| line.contains("stopped at a failpoint")) {
            return true;
        }
        if sending.is_finished() {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn answers_outlive_kills_and_none_is_sent_twice() {
    let kills = std::env::var("REPLY_KILLS").ok().and_then(|kills| kills.parse().ok());
    let kills = kills.unwrap_or(KILLS);
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[OPEN]);
    let key = service.key.clone().expect("the first start prints a key");
    let targets = targets(&User::new(&service.origin, key.clone())).await;
    drop(service);
    let mut at_their_place = 0;
    for nth in 0..kills {
        // Each place meets each target.
        let target = &targets[nth / failpoint::OUTGOING.len() % targets.len()];
        at_their_place += usize::from(kill(&dir, &key, target, nth).await);
    }
    assert!(at_their_place * 3 >= kills, "{at_their_place} of {kills} met an answer at work");
    let service = Service::start(&dir, false, &[OPEN]);
    let user = User::new(&service.origin, key);
    let mut counts = [0; 2];
    for target in &targets {
        let open = |one: &Value| one["status"] == "sending" || one["status"] == "unknown";
        let ended = eventually("every answer has ended", || async {
            let all = answers(&user, target).await;
            (!all.iter().any(open)).then_some(all)
        })
        .await;
        let Target { platform, account, .. } = target;
        let path = format!("/api/v1/sandbox/{platform}/inbox?account_id={account}");
        let held = user.get(&path).await.expect(200).body["inbox"].as_array().unwrap().clone();
        for one in ended {
            let is_it = |item: &&Value| item["own"] == true && item["text"] == one["text"];
            let there = held.iter().filter(is_it).count();
            let status = one["status"].as_str().unwrap();
            let wanted = usize::from(status == "sent");
            assert_eq!(there, wanted, "{platform}: {} is {status}", one["text"]);
            counts[wanted] += 1;
        }
        for item in held.iter().filter(|item| item["own"] == true && item["kind"] != "review") {
            let same = |other: &&Value| other["own"] == true && other["text"] == item["text"];
            assert!(held.iter().filter(same).count() <= 1, "{platform}: {item} twice");
        }
    }
    let [failed, sent] = counts;
    eprintln!(
        "{kills} kills, {at_their_place} amid an answer: {sent} sent, {failed} failed, 0 twice"
    );
}
