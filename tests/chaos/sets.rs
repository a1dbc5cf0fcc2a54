//! The API and workers die while post sets are made, changed, retried and published. Each target goes out once, posts and
//! record agree, and each set says once that it settled.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use fanfare_core::clock::machine_now;
use fanfare_entities::Millis;
use fanfare_tests::User;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    fleet::Fleet,
    judge::{Account, Expected, NETWORKS, connect, judge, wait_until_ended},
    report::{Outcome, number, progress},
    settings::Settings,
};

/// Workers at a time.
const WORKERS: usize = 2;

/// Accounts on each network.
const EACH: usize = 10;

/// Callers that make and change sets.
const CALLERS: usize = 4;

/// The time for which a request without an answer is sent again.
const PATIENCE: Duration = Duration::from_secs(120);

/// A set as a caller knows it: its id, and the text that each of its accounts is to get.
struct Made {
    id: String,
    texts: BTreeMap<i64, String>,
}

/// Sends a request under its key until it is answered.
async fn ask(user: &User, method: Method, path: &str, key: &str, body: &Value) -> (u16, Value) {
    let begun = Instant::now();
    loop {
        let request = user.http.request(method.clone(), format!("{}{path}", user.origin));
        let request = request.bearer_auth(&user.key).header("Idempotency-Key", key).json(body);
        if let Ok(reply) = request.send().await {
            let status = reply.status().as_u16();
            match reply.json().await {
                Ok(body) if status != 503 && status != 409 => return (status, body),
                Ok(body) if body["code"] == "invalid_transition" => return (status, body),
                _ => {}
            }
        }
        assert!(begun.elapsed() < PATIENCE, "{path} has no answer");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Makes sets one after the other, and changes each before it goes out.
async fn call(user: User, accounts: Vec<Account>, (caller, sets): (usize, usize)) -> Vec<Made> {
    let mut random = StdRng::seed_from_u64(caller as u64);
    let mut made = Vec::new();
    for nth in 0..sets {
        let name = format!("set-{caller}-{nth}");
        let count = random.random_range(1..=accounts.len().min(50));
        let start = random.random_range(0..accounts.len());
        let chosen: Vec<_> = accounts.iter().cycle().skip(start).take(count).copied().collect();
        let targets: Vec<_> = chosen.iter().map(|one| json!({"account_id": one.id})).collect();
        let time = fanfare_core::clock::to_rfc3339(machine_now() + 3_000);
        let mode = if random.random_bool(0.5) { "all_or_nothing" } else { "valid_only" };
        let body = json!({"targets": targets, "caption": name, "scheduled_at": time, "mode": mode});
        let (status, reply) =
            ask(&user, Method::POST, "/api/v1/post-sets", &format!("make-{name}"), &body).await;
        assert_eq!(status, 201, "{reply}");
        let id = reply["post_set"]["id"].as_str().expect("an id").to_owned();
        let mut texts: BTreeMap<i64, String> =
            chosen.iter().map(|one| (one.id, name.clone())).collect();
        change(&user, (&id, &name), &mut random, &mut texts).await;
        made.push(Made { id, texts });
    }
    made
}

/// Changes a set in one way; `texts` follows.
async fn change(
    user: &User,
    (id, name): (&str, &str),
    random: &mut StdRng,
    texts: &mut BTreeMap<i64, String>,
) {
    let path = format!("/api/v1/post-sets/{id}");
    let key = format!("change-{name}");
    match random.random_range(0..4) {
        0 => {
            let later = format!("{name} changed");
            let body = json!({"caption": later});
            let (status, reply) = ask(user, Method::PATCH, &path, &key, &body).await;
            if status == 200 {
                let changed = reply["post_set"]["targets"].as_array().expect("targets");
                let unchanged = reply["unchanged"].as_array().expect("a list");
                for target in changed {
                    let account = target["account_id"].as_i64().expect("an account");
                    let is_kept = unchanged.iter().any(|one| one["post_id"] == target["post_id"]);
                    if !is_kept {
                        texts.insert(account, later.clone());
                    }
                }
            }
        }
        1 => {
            let (status, reply) = ask(user, Method::DELETE, &path, &key, &json!({})).await;
            assert!(status == 200, "{status} {reply}");
            let kept = reply["kept"].as_array().expect("a list").len();
            if kept == 0 {
                texts.clear();
            } else {
                // Which accounts those are is read from the set.
                let shown = user.get(&path).await;
                let left = shown.body["post_set"]["targets"].as_array().cloned();
                let left: Vec<_> = left
                    .into_iter()
                    .flatten()
                    .filter_map(|target| target["account_id"].as_i64())
                    .collect();
                texts.retain(|account, _| left.contains(account));
            }
        }
        2 => {
            for status in ["paused", "scheduled"] {
                let (place, key) = (format!("{path}/status"), format!("{key}-{status}"));
                let time = fanfare_core::clock::to_rfc3339(machine_now() + 2_000);
                let body = match status {
                    "paused" => json!({"status": status}),
                    _ => json!({"status": status, "scheduled_at": time}),
                };
                ask(user, Method::PUT, &place, &key, &body).await;
            }
        }
        _ => {}
    }
}

/// Reads from the events at which numbers each set settled.
async fn settled(user: &User) -> BTreeMap<String, Vec<i64>> {
    let (mut settled, mut cursor) = (BTreeMap::<String, Vec<i64>>::new(), "0".to_owned());
    loop {
        let page = user.get(&format!("/api/v1/events?limit=100&cursor={cursor}")).await.body;
        for event in page["events"].as_array().expect("events") {
            let kind = event["type"].as_str().unwrap_or_default();
            if ["post_set.published", "post_set.partial", "post_set.failed"].contains(&kind) {
                let set = &event["data"]["post_set"];
                let id = set["id"].as_str().expect("an id").to_owned();
                settled.entry(id).or_default().push(set["settlement"].as_i64().expect("a number"));
            }
        }
        if page["has_more"] != true {
            return settled;
        }
        cursor = page["next_cursor"].as_str().expect("a cursor").to_owned();
    }
}

/// Repeatedly sends SIGKILL to the API and to workers.
pub async fn run(settings: &Settings) -> Outcome {
    let mut fleet = Fleet::start(2).await;
    let accounts = connect(fleet.user(), EACH).await;
    fleet.work(WORKERS);
    let sets = (settings.posts / 25 / CALLERS).max(2);
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let user = fleet.users[caller % fleet.users.len()].clone();
        let mine: Vec<_> = accounts.iter().skip(caller).step_by(CALLERS).copied().collect();
        callers.spawn(call(user, mine, (caller, sets)));
    }
    let mut killed = 0;
    let mut made: Vec<Made> = Vec::new();
    while !callers.is_empty() || killed < settings.kills {
        tokio::select! {
            Some(ended) = callers.join_next() => made.extend(ended.expect("a caller")),
            () = tokio::time::sleep(Duration::from_millis(250 + (killed as u64 * 37) % 500)) => {
                if killed >= settings.kills {
                    continue;
                }
                match killed % 3 {
                    0 => fleet.restart_api(killed % 2),
                    place => fleet.workers[place - 1] = fleet.worker(&[]),
                }
                killed += 1;
                progress("sets", format_args!("{killed} of {} kills", settings.kills));
            }
        }
    }
    wait_until_ended(&fleet.db, "sets", Millis::MAX).await;
    let mut outcome = compare(&fleet, &accounts, &made).await;
    outcome.thrown = format!(
        "{} sets on {} accounts of {} networks, {} SIGKILLs of the API and of workers",
        number(made.len()),
        accounts.len(),
        NETWORKS.len(),
        number(killed)
    );
    outcome.broken.extend(fleet.ended());
    outcome
}

/// Compares sets, posts, events and networks.
async fn compare(fleet: &Fleet, accounts: &[Account], made: &[Made]) -> Outcome {
    let user = fleet.user();
    let mut expected = Expected::new();
    for account in accounts {
        let texts = made.iter().filter_map(|set| set.texts.get(&account.id).cloned());
        expected.insert(*account, texts.collect());
    }
    let verdict = judge(user, &fleet.db, &expected).await;
    let mut outcome = Outcome { broken: verdict.faults(false), ..Outcome::default() };
    let settled = settled(user).await;
    for set in made.iter().filter(|set| !set.texts.is_empty()) {
        let shown =
            user.get(&format!("/api/v1/post-sets/{}", set.id)).await.body["post_set"].clone();
        let counts = shown["counts"].as_object().into_iter().flatten();
        let sum: i64 = counts.filter_map(|(_, count)| count.as_i64()).sum();
        let targets = shown["targets"].as_array().map_or(0, Vec::len);
        outcome.require(
            sum as usize == targets && targets == set.texts.len(),
            format!("{}: {sum} counted, {targets} shown, {} expected", set.id, set.texts.len()),
        );
        let last = shown["settlement"].as_i64().unwrap_or(0);
        let said = settled.get(&set.id).cloned().unwrap_or_default();
        let all: Vec<i64> = (1..=last).collect();
        outcome.require(
            said == all && last >= 1,
            format!("{}: settled {last} times, said {said:?}: {shown}", set.id),
        );
        for target in shown["targets"].as_array().into_iter().flatten() {
            let post = user.get(&format!("/api/v1/posts/{}", target["post_id"])).await;
            let origin = match target["from"]["caption"].as_str() {
                Some("target") => &target["overrides"]["caption"],
                _ => &shown["caption"],
            };
            let caption = &post.body["post"]["caption"];
            outcome.require(caption == origin, format!("{}: {caption} is not {origin}", set.id));
        }
    }
    outcome.note(format!("{} sets settled", number(settled.len())));
    outcome.note(verdict.describe_flagged());
    outcome.verdict = verdict;
    outcome
}
