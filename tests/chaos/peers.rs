//! The same SIGKILLs for BullMQ and Sidekiq, each with its default settings.

use std::{
    collections::BTreeSet,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use fanfare_core::clock::machine_now;
use fanfare_tests::{Receiver, Redis};
use serde_json::{Value, json};

use crate::{
    fleet::Fleet,
    judge::{Account, Expected, connect, count, judge, wait_until_ended},
    process::Process,
    report::{Outcome, number, progress},
    settings::Settings,
};

/// Workers of each party, and jobs of each at a time.
const WORKERS: usize = 3;
const SLOTS: &str = "10";

/// The time a network takes for a post.
const CALL: Duration = Duration::from_millis(300);

/// If nothing arrives for this time, nothing will: it is longer than BullMQ takes to notice a dead worker.
const QUIET: Duration = Duration::from_secs(75);

/// Kills workers of three parties.
pub async fn run(settings: &Settings) -> Outcome {
    let mut outcome = Outcome {
        thrown: format!(
            "{} jobs, {WORKERS} workers with {SLOTS} slots, {} SIGKILLs, for each party",
            number(settings.peer_jobs),
            settings.peer_kills
        ),
        ..Outcome::default()
    };
    for party in [Party::BullMq, Party::Sidekiq] {
        let note = kill_peer(party, settings).await;
        outcome.note(note);
    }
    kill_fanfare(settings, &mut outcome).await;
    outcome
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Party {
    BullMq,
    Sidekiq,
}

impl Party {
    const fn name(self) -> &'static str {
        match self {
            Self::BullMq => "BullMQ",
            Self::Sidekiq => "Sidekiq",
        }
    }

    fn command(self, part: &str, variables: &[(&str, String)]) -> Command {
        let peers = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers");
        let mut command = match (self, part) {
            (Self::BullMq, part) => {
                let mut node =
                    Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/node.sh"));
                node.arg(format!("{peers}/bullmq/{part}.mjs"));
                node
            }
            (Self::Sidekiq, "fill") => {
                let mut ruby = Command::new("ruby");
                ruby.arg(format!("{peers}/sidekiq/fill.rb"));
                ruby
            }
            (Self::Sidekiq, _) => {
                let mut sidekiq = Command::new("sidekiq");
                sidekiq.args([
                    "-r",
                    &format!("{peers}/sidekiq/publish.rb"),
                    "-q",
                    "publish",
                    "-c",
                    SLOTS,
                ]);
                sidekiq
            }
        };
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Kills workers of a peer; describes how many jobs it lost and repeated.
async fn kill_peer(party: Party, settings: &Settings) -> String {
    let (redis, network) = (Redis::start(), Receiver::start().await);
    network.delay(CALL);
    let variables = |count: usize| {
        [
            ("REDIS_URL", redis.url()),
            ("TARGET_URL", network.url.clone()),
            ("COUNT", count.to_string()),
            ("CONCURRENCY", SLOTS.to_owned()),
            ("MODE", "call".to_owned()),
        ]
    };
    let mut fill = party.command("fill", &variables(settings.peer_jobs));
    let filled =
        fill.stdout(Stdio::null()).status().expect("it runs; see scripts/install.sh --peers");
    assert!(filled.success(), "{} could not be filled", party.name());
    // The test checks from outside that no worker ends by itself.
    let start = || Process::start(party.command("worker", &variables(1_000_000_000)));
    let mut workers: Vec<Process> = (0..WORKERS).map(|_| start()).collect();
    let mut killed = 0;
    let heard = || std::future::ready(network.received().len());
    while killed < settings.peer_kills && is_time(settings, killed, &heard).await {
        workers[killed % WORKERS] = start();
        killed += 1;
        progress(
            "peers",
            format_args!("{}: {killed} of {} kills", party.name(), settings.peer_kills),
        );
    }
    until_quiet(&network).await;
    let heard = network.received();
    let jobs: BTreeSet<&str> = heard.iter().map(|one| one.header("idempotency-key")).collect();
    let (lost, twice) = (settings.peer_jobs - jobs.len(), heard.len() - jobs.len());
    let per_kill = |jobs: usize| jobs as f64 / killed.max(1) as f64;
    format!(
        "{}: {lost} lost, {twice} repeated ({:.1} and {:.1} a kill, {killed} kills)",
        party.name(),
        per_kill(lost),
        per_kill(twice)
    )
}

/// Waits for the time of the next kill: kills are spread evenly over the jobs, also on a slow machine. Returns false if
/// no more jobs arrive.
async fn is_time<F: Future<Output = usize>>(
    settings: &Settings,
    killed: usize,
    done: &impl Fn() -> F,
) -> bool {
    let wanted = (killed + 1) * settings.peer_jobs / (settings.peer_kills + 1);
    let (mut before, mut since) = (0, Instant::now());
    while since.elapsed() < QUIET {
        let now = done().await;
        if now >= wanted {
            return true;
        }
        if now != before {
            (before, since) = (now, Instant::now());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

async fn until_quiet(network: &Receiver) {
    let (mut before, mut since) = (0, Instant::now());
    while since.elapsed() < QUIET {
        let now = network.received().len();
        if now != before {
            (before, since) = (now, Instant::now());
        }
        progress("peers", format_args!("{now} calls, quiet for {} s", since.elapsed().as_secs()));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Kills workers of Fanfare, on networks of every class with the same delay.
async fn kill_fanfare(settings: &Settings, outcome: &mut Outcome) {
    let mut fleet = Fleet::start(1).await;
    let accounts = connect(fleet.user(), 100).await;
    let slow =
        json!([{"on": "commit", "kind": "delay", "ms": CALL.as_millis(), "times": 1_000_000}]);
    for account in &accounts {
        fleet.user().faults(account.platform(), account.id, slow.clone()).await;
    }
    let mut expected = Expected::new();
    for account in &accounts {
        expected
            .insert(*account, fill(&fleet, *account, settings.peer_jobs / accounts.len()).await);
    }
    fleet.workers = (0..WORKERS).map(|_| fleet.worker_of(SLOTS, &[])).collect();
    let mut killed = 0;
    let begun = "SELECT count(*) AS n FROM posts WHERE status <> 'scheduled'";
    let db = fleet.db.clone();
    let begun = move || {
        let db = db.clone();
        async move { usize::try_from(count(&db, begun).await).unwrap() }
    };
    while killed < settings.peer_kills && is_time(settings, killed, &begun).await {
        fleet.workers[killed % WORKERS] = fleet.worker_of(SLOTS, &[]);
        killed += 1;
        progress("peers", format_args!("Fanfare: {killed} of {} kills", settings.peer_kills));
    }
    wait_until_ended(&fleet.db, "peers", machine_now()).await;
    let verdict = judge(fleet.user(), &fleet.db, &expected).await;
    outcome.note(format!(
        "Fanfare: {} lost, {} repeated, {} flagged ({killed} kills)",
        verdict.lost(),
        verdict.twice,
        verdict.flagged
    ));
    outcome.broken.extend(verdict.faults(false));
    outcome.broken.extend(fleet.ended());
    outcome.verdict = verdict;
}

async fn fill(fleet: &Fleet, account: Account, posts: usize) -> Vec<String> {
    let texts: Vec<String> = (0..posts).map(|n| format!("job {} {n}", account.id)).collect();
    for chunk in texts.chunks(25) {
        let item = |text: &String| json!({"account_id": account.id, "caption": text});
        let items: Vec<Value> = chunk.iter().map(item).collect();
        let made = fleet.user().post("/api/v1/posts/batch", json!({ "posts": items })).await;
        assert_eq!(made.expect(200).body["errors"], json!([]));
    }
    texts
}
