//! A chain with its gates is one call to a real server: cut at every byte of it and of its answer, the whole chain is
//! there once, or nothing is.

use std::{net::SocketAddr, time::Duration};

use fanfare_entities::{post, post::PostStatus};
use fanfare_tests::{Cutter, Options, TestApp};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use serde_json::{Value, json};

use crate::{
    bluesky::{connect, records},
    peer::Peer,
};

/// The number of accounts that share the chains, and the number of chains that each makes at a time.
const ACCOUNTS: usize = 8;
const AT_ONCE: usize = 25;

fn chain(account: i64, number: usize) -> Value {
    json!({
        "account_id": account, "caption": format!("Chain {number}"), "post_type": "bluesky_thread",
        "metadata": {"bluesky_thread_posts": [format!("{number}: first"), format!("{number}: last")]},
        "settings": {"disable_quotes": true, "disable_replies": true},
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn no_byte_leaves_a_part_of_a_chain_on_a_server() {
    let accounts = ACCOUNTS.to_string();
    let server = ["scripts/node.sh", "tests/peers/pds/start.mjs", "--accounts", &accounts];
    let pds = Peer::start(&server).await;
    let home: url::Url = pds.greeting["pds"].as_str().unwrap().parse().unwrap();
    let cutter = Cutter::before(SocketAddr::from(([127, 0, 0, 1], home.port().unwrap()))).await;
    let reached = format!("http://{}", cutter.address()).parse().unwrap();
    let app = TestApp::with(Options { bluesky_at: Some(reached), ..Options::default() }).await;
    let user = app.user().await;
    let mut accounts = Vec::new();
    for number in 0..ACCOUNTS {
        let (id, account) = connect(&user, &pds, number).await;
        accounts.push((id, account, Vec::new()));
    }
    cutter.walk(vec!["POST applyWrites".to_owned()]);
    let mut chains = 0;
    while cutter.walked().is_none() {
        for (id, _, numbers) in &mut accounts {
            let new = chains..chains + AT_ONCE;
            let posts: Vec<_> = new.clone().map(|number| chain(*id, number)).collect();
            let made = user.post("/api/v1/posts/batch", json!({ "posts": posts })).await;
            assert_eq!(made.expect(200).body["errors"], json!([]));
            numbers.extend(new);
            chains += AT_ONCE;
        }
        all_ended(&app).await;
    }
    let (request, answer) = cutter.walked().unwrap();
    assert!(request > 1_000 && answer > 300, "{request} and {answer} bytes are no chain");
    println!("cut at {request} bytes of requests and {answer} of answers, in {chains} chains");
    let failed = post::Column::Status.ne(PostStatus::Published);
    let failed = post::Entity::find().filter(failed).count(&app.domain.db.read).await;
    assert_eq!(failed.unwrap(), 0, "a key settles every cut");
    for (_, account, numbers) in &accounts {
        compare(&records(&pds, &account["did"]).await, numbers);
    }
}

/// Each chain is there once and whole, and nothing else is.
fn compare(held: &[Value], numbers: &[usize]) {
    assert_eq!(held.len(), 2 * numbers.len(), "nothing else is there");
    let by_text = |text: String| {
        let mut all = held.iter().filter(|one| one["value"]["text"] == text.as_str());
        let one = all.next().unwrap_or_else(|| panic!("{text} is missing"));
        assert!(all.next().is_none(), "{text} is there twice");
        one
    };
    for number in numbers {
        let first = by_text(format!("{number}: first"));
        let last = by_text(format!("{number}: last"));
        let named = json!({"uri": first["uri"], "cid": first["cid"]});
        assert_eq!(last["value"]["reply"], json!({"root": named, "parent": named}));
    }
}

/// Lets time pass until all posts have ended.
async fn all_ended(app: &TestApp) {
    let open = [PostStatus::Scheduled, PostStatus::Publishing, PostStatus::Processing];
    for _ in 0..1_000 {
        app.step(Duration::from_secs(10)).await;
        let open = post::Entity::find().filter(post::Column::Status.is_in(open));
        if open.one(&app.domain.db.write).await.unwrap().is_none() {
            return;
        }
    }
    panic!("chains never end");
}
