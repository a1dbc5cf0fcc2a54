//! A chain with its gates is one call: cut at every byte of it and of its answer, the whole chain is there once, or
//! nothing is.

use std::time::Duration;

use fanfare_entities::{post, post::PostStatus};
use fanfare_tests::Options;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use serde_json::{Value, json};

use super::Stage;
use crate::conformance::cuts::TURN;

/// The number of accounts that share the chains, and the number of chains that each makes at a time.
const ACCOUNTS: usize = 16;
const AT_ONCE: usize = 10;

fn chain(account: i64, number: usize) -> Value {
    let texts = [format!("{number}: first"), format!("{number}: last")];
    json!({
        "account_id": account, "caption": format!("Chain {number}"), "post_type": "bluesky_thread",
        "metadata": {"bluesky_thread_posts": texts},
        "settings": {"disable_quotes": true, "disable_replies": true},
    })
}

/// Every chain is there once and whole, with its gates, and is called published.
async fn compare(stage: &Stage, account: i64, numbers: &[usize]) {
    let held = stage.user.on_network("bluesky", account).await;
    for number in numbers {
        let of = |end: &str| {
            let text = format!("{number}: {end}");
            held.iter().filter(|one| one["text"] == text.as_str()).collect::<Vec<_>>()
        };
        let (first, last) = (of("first"), of("last"));
        assert_eq!((first.len(), last.len()), (1, 1), "chain {number}");
        assert_eq!(last[0]["reply_to"], first[0]["id"], "chain {number}");
        assert!(first[0]["threadgate"].is_object() && first[0]["postgate"].is_object());
        assert!(last[0]["postgate"].is_object(), "chain {number}");
    }
    assert_eq!(held.len(), 2 * numbers.len(), "nothing else is there");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_byte_leaves_a_part_of_a_chain() {
    let _turn = TURN.lock().await;
    let stage = Stage::set(Options { cut: true, ..Options::default() }).await;
    let cutter = stage.app.cutter.clone().unwrap();
    let mut accounts = vec![(stage.account, Vec::new())];
    for _ in 1..ACCOUNTS {
        accounts.push((stage.user.connect("bluesky").await, Vec::new()));
    }
    cutter.walk(vec!["POST applyWrites".to_owned()]);
    let mut number = 0;
    while cutter.walked().is_none() {
        for (account, numbers) in &mut accounts {
            let new: Vec<_> = (number..number + AT_ONCE).collect();
            let posts: Vec<_> = new.iter().map(|number| chain(*account, *number)).collect();
            let made = stage.user.post("/api/v1/posts/batch", json!({ "posts": posts })).await;
            assert_eq!(made.expect(200).body["errors"], json!([]));
            number += AT_ONCE;
            numbers.extend(new);
        }
        all_ended(&stage).await;
    }
    let (request, answer) = cutter.walked().unwrap();
    assert!(request > 1_000 && answer > 300, "{request} and {answer} bytes are no chain");
    let failed = post::Column::Status.ne(PostStatus::Published);
    let failed = post::Entity::find().filter(failed).count(&stage.app.domain.db.read).await;
    assert_eq!(failed.unwrap(), 0, "a key settles every cut");
    for (account, numbers) in &accounts {
        compare(&stage, *account, numbers).await;
    }
}

/// Lets time pass until all posts have ended.
async fn all_ended(stage: &Stage) {
    let open = [PostStatus::Scheduled, PostStatus::Publishing, PostStatus::Processing];
    for _ in 0..1_000 {
        stage.app.step(Duration::from_secs(10)).await;
        let open = post::Entity::find().filter(post::Column::Status.is_in(open));
        if open.one(&stage.app.domain.db.write).await.unwrap().is_none() {
            return;
        }
    }
    panic!("chains never end");
}
