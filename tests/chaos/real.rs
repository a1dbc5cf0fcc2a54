//! Workers die and answers are lost on networks as they are: lists lag and come from caches, the same words are posted twice,
//! and other people post them too. As many posts are called published as the networks hold of ours.

use std::{collections::BTreeSet, path::Path, time::Duration};

use fanfare_core::clock::machine_now;
use fanfare_tests::{Simulator, User};
use serde_json::{Value, json};

use crate::{
    fleet::Fleet,
    judge::{Verdict, count, wait_until_ended},
    report::{Outcome, number, progress},
    settings::Settings,
};

/// Workers at a time.
const WORKERS: usize = 3;

/// Networks whose posts need no file, of each way to find a lost call, and whether they can be asked.
const NETWORKS: [(&str, bool); 9] = [
    ("bluesky", true),
    ("mastodon", true),
    ("x", true),
    ("linkedin", true),
    ("facebook", true),
    ("threads", true),
    ("wordpress", true),
    ("telegram", false),
    ("discord", false),
];

/// Posts of each account. Their words alternate, so that each text is posted several times.
const POSTS: usize = 8;

/// The words of other people, which are ours too.
const COMMON: &str = "Good morning";

/// An account that posts.
struct Account {
    id: i64,
    network: usize,
}

/// The ends of the posts of an account.
#[derive(Debug, Default)]
struct Ends {
    published: usize,
    unknown: usize,
    twice: usize,
    other: Vec<String>,
}

/// Connects accounts whose networks lag, cache, lose answers and hold the posts of others.
async fn connect(fleet: &Fleet, each: usize) -> Vec<Account> {
    let networks = Simulator::of(Path::new(&fleet.dir.path("networks")));
    let mut accounts = Vec::new();
    for (network, (platform, _)) in NETWORKS.iter().enumerate() {
        for nth in 0..each {
            let id = fleet.user().connect(platform).await;
            let known = networks.accounts(platform).await;
            let newest = known.iter().max_by_key(|one| one["created_at"].as_str());
            let remote_id = newest.unwrap()["remote_id"].as_str().unwrap();
            let behaviour = json!({
                "reads": {"lag_ms": 10_000 * (nth % 3), "cache_ms": 5_000 * (nth % 4)},
                "others": [{"after_ms": 300, "text": COMMON, "media": 1}],
            });
            networks.behave(platform, remote_id, &behaviour).await;
            let lost = ["drop_after_change", "reset", "error_after_change"][nth % 3];
            let usual = json!({"on": "commit", "kind": "delay", "ms": 20, "times": 2});
            let lost = json!({"on": "commit", "kind": lost});
            fleet.user().faults(platform, id, json!([usual, lost])).await;
            accounts.push(Account { id, network });
        }
        progress("real", format_args!("{} accounts", accounts.len()));
    }
    accounts
}

async fn fill(user: &User, accounts: &[Account]) {
    for account in accounts {
        let item = |nth: usize| {
            let caption = if nth.is_multiple_of(2) { COMMON } else { "And a good night" };
            json!({"account_id": account.id, "caption": caption})
        };
        let items: Vec<Value> = (0..POSTS).map(item).collect();
        let made = user.post("/api/v1/posts/batch", json!({ "posts": items })).await.expect(200);
        assert_eq!(made.body["errors"], json!([]), "{:#}", made.body);
    }
}

async fn ends(user: &User, account: &Account) -> Ends {
    let path = format!("/api/v1/posts?account_id={}&limit=100", account.id);
    let posts = user.get(&path).await.expect(200).body["posts"].clone();
    let (mut ends, mut ids) = (Ends::default(), BTreeSet::new());
    for post in posts.as_array().unwrap() {
        match (post["status"].as_str(), post["error"]["code"].as_str()) {
            (Some("published"), _) => {
                ends.published += 1;
                ends.twice += usize::from(!ids.insert(post["platform_post_id"].to_string()));
            }
            (_, Some("outcome_unknown")) => ends.unknown += 1,
            // Some networks refuse the same words again.
            (_, Some("duplicate_content")) => {}
            (status, code) => ends.other.push(format!("{status:?} {code:?}")),
        }
    }
    ends
}

/// Returns the number of the service's own posts that the network holds.
async fn held(user: &User, account: &Account) -> usize {
    let posts = user.on_network(NETWORKS[account.network].0, account.id).await;
    // Those of others have a file, ours have none.
    posts.iter().filter(|post| post["media"].as_array().is_none_or(Vec::is_empty)).count()
}

/// Compares what posts are called with what the networks hold.
async fn judge(user: &User, accounts: &[Account], outcome: &mut Outcome) {
    let mut verdict = Verdict { posts: accounts.len() * POSTS, ..Verdict::default() };
    for account in accounts {
        let (platform, is_asked) = NETWORKS[account.network];
        let (ends, held) = (ends(user, account).await, held(user, account).await);
        let told = format!("{platform} {}: {held} there, {ends:?}", account.id);
        verdict.public += held;
        verdict.flagged += ends.unknown;
        verdict.flagged_public += held.saturating_sub(ends.published);
        verdict.twice += ends.twice;
        if ends.published > held || held > ends.published + ends.unknown || !ends.other.is_empty() {
            verdict.missing.push(told.clone());
        }
        if is_asked && ends.unknown > 0 {
            outcome.note(told);
        }
    }
    outcome.broken.extend(verdict.faults(false));
    outcome.note(verdict.describe_flagged());
    outcome.verdict = verdict;
}

/// Repeatedly sends SIGKILL to busy workers.
pub async fn run(settings: &Settings) -> Outcome {
    let mut fleet = Fleet::start(1).await;
    let each = (settings.posts / NETWORKS.len() / POSTS).clamp(1, 24);
    let accounts = connect(&fleet, each).await;
    fill(fleet.user(), &accounts).await;
    let left = "SELECT count(*) AS n FROM posts WHERE status NOT IN ('published', 'failed')";
    fleet.work(WORKERS);
    let mut killed = 0;
    while killed < settings.kills && count(&fleet.db, left).await > 0 {
        tokio::time::sleep(Duration::from_millis(300 + (killed as u64 * 37) % 400)).await;
        // The old one is killed when it is replaced.
        fleet.workers[killed % WORKERS] = fleet.worker(&[]);
        killed += 1;
        progress("real", format_args!("{killed} of {} kills", settings.kills));
    }
    wait_until_ended(&fleet.db, "real", machine_now()).await;
    let mut outcome = Outcome {
        thrown: format!(
            "{} posts of equal words on {} accounts of {} networks that lag and cache, a lost answer an account, posts of \
             others, {} SIGKILLs",
            number(accounts.len() * POSTS),
            accounts.len(),
            NETWORKS.len(),
            number(killed)
        ),
        ..Outcome::default()
    };
    judge(fleet.user(), &accounts, &mut outcome).await;
    outcome.require(killed > 0, "it was over before a worker was killed");
    outcome.broken.extend(fleet.ended());
    outcome
}
