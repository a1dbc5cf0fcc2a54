//! The disk of an embedded installation fills up.

use std::time::{Duration, Instant};

use fanfare_core::clock::{machine_now, to_rfc3339};
use fanfare_tests::User;
use sea_orm::{ConnectOptions, ConnectionTrait, DatabaseConnection, Statement};
use serde_json::json;

use crate::{
    callers::{CallerResults, Callers},
    fleet::{Dir, networks, owned, secret_of_networks},
    judge::{Account, Expected, connect, count, judge},
    process::Process,
    report::{Outcome, progress},
    settings::Settings,
    small_disk::SmallDisk,
};

/// The size of the disk, in MiB.
const SIZE: u32 = 24;

/// Posts a second, and for how long before and after it is full.
const RATE: u32 = 6;
const AROUND: Duration = Duration::from_secs(4);

/// The time for which it is full.
const FULL: Duration = Duration::from_secs(15);

/// Posts that are due while it is full.
const DUE: usize = 40;

/// `fanfare up` on a small disk.
struct Embedded {
    disk: SmallDisk,
    variables: Vec<(String, String)>,
    key: String,
}

impl Embedded {
    fn new(dir: &Dir, networks: &Process) -> Self {
        let disk = SmallDisk::mount(&dir.path("data"), SIZE);
        let variables = owned(&[
            ("FANFARE_DATA_DIR", dir.path("data")),
            ("FANFARE_SANDBOX_URL", networks.address()),
            ("FANFARE_SANDBOX_SECRET", secret_of_networks(dir)),
            ("FANFARE_ALLOW_PRIVATE_TARGETS", "true".to_owned()),
            ("FANFARE_LIMITS_FACTOR", "100000".to_owned()),
            ("FANFARE_LISTEN", "127.0.0.1:0".to_owned()),
            ("FANFARE_LOG", "warn".to_owned()),
        ]);
        let mut embedded = Self { disk, variables, key: String::new() };
        let key = embedded.command(&["key", "create", "--email", "chaos@example.com"]).output();
        embedded.key =
            String::from_utf8(key.expect("a key").stdout).expect("a key").trim().to_owned();
        embedded
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.disk.command(env!("CARGO_BIN_EXE_fanfare"));
        command.args(args).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    fn start(&self) -> (Process, User) {
        let process = Process::start(self.command(&["up"]));
        let user = User::new(&process.address(), self.key.clone());
        (process, user)
    }

    /// Opens a copy of the database, while the service does not run.
    async fn open_copy(&self, dir: &Dir) -> DatabaseConnection {
        let copy = dir.path("copy");
        for end in ["", "-wal"] {
            let from = self.disk.file(&format!("fanfare.db{end}"));
            if from.exists() {
                std::fs::copy(from, format!("{copy}{end}")).expect("a copy of the database");
            }
        }
        let mut options = ConnectOptions::new(format!("sqlite://{copy}"));
        options.max_connections(1).sqlx_logging(false);
        sea_orm::Database::connect(options).await.expect("the database opens")
    }
}

/// Waits until all posts have ended.
///
/// # Panics
/// Some have not ended after minutes.
async fn until_over(user: &User) {
    let begun = Instant::now();
    for status in ["scheduled", "publishing", "processing"] {
        let path = format!("/api/v1/posts?status={status}&limit=1");
        while user.get(&path).await.expect(200).body["posts"] != json!([]) {
            assert!(begun.elapsed().as_secs() < 240, "it never ends: posts stay {status}");
            progress("disk", "posts are still on their way");
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
}

/// Fills the disk twice: once the service survives, once it is killed while the disk is full.
pub async fn run(_: &Settings) -> Outcome {
    let dir = Dir::new();
    let networks = networks(&dir);
    let embedded = Embedded::new(&dir, &networks);
    let mut outcome = Outcome::default();
    let (mut service, mut user) = embedded.start();
    let accounts = connect(&user, 4).await;
    let mut expected = Expected::new();
    for kill in [false, true] {
        let told = round(&embedded, &user, &accounts, kill, &mut outcome).await;
        outcome.require(kill || service.ended().is_none(), "the service ended by itself");
        merge(&mut expected, told.expected);
        if kill {
            drop(service);
            embedded.disk.free();
            (service, user) = embedded.start();
        }
        let after =
            Callers::start(&[user.clone()], &accounts, &format!("after {kill}"), RATE, false);
        tokio::time::sleep(AROUND).await;
        let after = after.end().await;
        outcome.require(after.refused() == 0, format!("with room again: {}", after.answers()));
        merge(&mut expected, after.expected);
        until_over(&user).await;
    }
    let stopped = service.stop(Duration::from_secs(50)).await;
    outcome
        .require(stopped.is_some_and(|status| status.success()), "the service did not stop well");
    let db = embedded.open_copy(&dir).await;
    let (_service, user) = embedded.start();
    compare(&db, &expected, &mut outcome).await;
    let verdict = judge(&user, &db, &expected).await;
    outcome.broken.extend(verdict.faults(false));
    outcome.thrown = format!(
        "the disk of an embedded installation ({SIZE} MiB) full for {} s, twice, once with a SIGKILL meanwhile",
        FULL.as_secs()
    );
    outcome.note(verdict.describe_flagged());
    outcome.verdict = verdict;
    outcome
}

/// Callers post, the disk fills up, posts become due; in the end space is freed, unless the service is to be killed.
async fn round(
    embedded: &Embedded,
    user: &User,
    accounts: &[Account],
    kill: bool,
    outcome: &mut Outcome,
) -> CallerResults {
    let before = Callers::start(
        std::slice::from_ref(user),
        accounts,
        &format!("before {kill}"),
        RATE,
        false,
    );
    tokio::time::sleep(AROUND).await;
    let mut told = before.end().await;
    outcome.require(told.refused() == 0, format!("before: {}", told.answers()));
    let due = to_rfc3339(machine_now() + 5_000);
    for n in 0..DUE {
        let account = accounts[n % accounts.len()];
        let text = format!("due {kill} {} {n}", account.id);
        let body = json!({"account_id": account.id, "caption": text, "scheduled_at": due});
        let _ = user.publish(body).await;
        told.expected.entry(account).or_default().push(text);
    }
    progress("disk", "full");
    embedded.disk.fill();
    let callers =
        Callers::start(std::slice::from_ref(user), accounts, &format!("full {kill}"), RATE, false);
    tokio::time::sleep(FULL).await;
    let full = callers.end().await;
    let only = full.answers.keys().all(|status| [201, 503].contains(status));
    outcome
        .require(only, format!("while there was no room callers were answered {}", full.answers()));
    outcome.require(full.refused() > 0, "the disk was never full for callers");
    let key = format!("told {kill}");
    let body = json!({"account_id": accounts[0].id, "caption": "told"});
    let answer = user.post_keyed("/api/v1/posts", &key.replace(' ', "-"), &body).await;
    outcome.require(
        answer.status == 503
            && answer.text.contains("disk is full")
            && answer.header("retry-after") == "30",
        format!("what a caller is told: {} {}", answer.status, answer.text),
    );
    outcome.note(format!("answers while full {}", full.answers()));
    merge(&mut told.expected, full.expected);
    if !kill {
        embedded.disk.free();
        let repeated = user.post_keyed("/api/v1/posts", &key.replace(' ', "-"), &body).await;
        outcome.require(
            repeated.status == 201,
            format!("the same request with room: {}", repeated.text),
        );
        told.expected.entry(accounts[0]).or_default().push("told".to_owned());
    }
    told
}

fn merge(all: &mut Expected, more: Expected) {
    for (account, texts) in more {
        all.entry(account).or_default().extend(texts);
    }
}

/// Checks that nothing is half written: no row of a refused request, no post without its event, an intact database
/// file.
async fn compare(db: &DatabaseConnection, expected: &Expected, outcome: &mut Outcome) {
    let taken: usize = expected.values().map(Vec::len).sum();
    let rows = count(db, "SELECT count(*) AS n FROM posts").await;
    outcome.require(
        usize::try_from(rows).unwrap() == taken,
        format!("{taken} posts were taken, {rows} are stored"),
    );
    let alone = "SELECT count(*) AS n FROM posts WHERE NOT EXISTS \
        (SELECT 1 FROM events WHERE post_id = posts.id AND event_type = 'post.created')";
    outcome.require(count(db, alone).await == 0, "a post has no event");
    let check = Statement::from_string(db.get_database_backend(), "PRAGMA integrity_check");
    let check = db.query_one_raw(check).await.unwrap().unwrap();
    let check: String = check.try_get("", "integrity_check").unwrap();
    outcome.require(check == "ok", check);
}
