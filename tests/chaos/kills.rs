//! Workers die while thousands of posts go out.

use std::time::Duration;

use fanfare_core::clock::machine_now;
use serde_json::{Value, json};

use crate::{
    fleet::Fleet,
    judge::{Account, Expected, connect, count, judge, wait_until_ended},
    report::{Outcome, number, progress},
    settings::Settings,
};

/// Workers at a time.
const WORKERS: usize = 3;

/// Creates the posts, in batches.
async fn fill(fleet: &Fleet, accounts: &[Account], posts: usize) -> Expected {
    let mut expected = Expected::new();
    for account in accounts {
        let count = posts / accounts.len();
        let texts: Vec<String> =
            (0..count).map(|n| format!("{} {} {n}", account.platform(), account.id)).collect();
        for chunk in texts.chunks(25) {
            let item = |text: &String| json!({"account_id": account.id, "caption": text});
            let items: Vec<Value> = chunk.iter().map(item).collect();
            let made = fleet.user().post("/api/v1/posts/batch", json!({ "posts": items })).await;
            let made = made.expect(200);
            assert_eq!(made.body["errors"], json!([]), "{:#}", made.body);
        }
        expected.insert(*account, texts);
        progress("kills", format_args!("{} accounts have posts", expected.len()));
    }
    expected
}

/// Repeatedly sends SIGKILL to busy workers.
pub async fn run(settings: &Settings) -> Outcome {
    let mut fleet = Fleet::start(1).await;
    let accounts = connect(fleet.user(), 200).await;
    let expected = fill(&fleet, &accounts, settings.posts).await;
    let left = "SELECT count(*) AS n FROM posts WHERE status NOT IN ('published', 'failed')";
    fleet.work(WORKERS);
    let mut killed = 0;
    while killed < settings.kills && count(&fleet.db, left).await > 0 {
        tokio::time::sleep(Duration::from_millis(100 + (killed as u64 * 37) % 200)).await;
        // The old one is killed when it is replaced.
        fleet.workers[killed % WORKERS] = fleet.worker(&[]);
        killed += 1;
        progress("kills", format_args!("{killed} of {} kills", settings.kills));
    }
    wait_until_ended(&fleet.db, "kills", machine_now()).await;
    let verdict = judge(fleet.user(), &fleet.db, &expected).await;
    let thrown = format!(
        "{} posts on {} accounts, {WORKERS} workers, {} SIGKILLs",
        number(verdict.posts),
        accounts.len(),
        number(killed)
    );
    let mut outcome = Outcome { thrown, broken: verdict.faults(false), ..Outcome::default() };
    outcome.note(verdict.describe_flagged());
    outcome.require(killed > 0, "it was over before a worker was killed");
    outcome.broken.extend(fleet.ended());
    outcome.verdict = verdict;
    outcome
}
