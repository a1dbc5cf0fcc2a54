//! Compares posts with the record of the simulated networks.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use fanfare_entities::Millis;
use fanfare_tests::User;
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement};
use serde_json::Value;

use crate::report::progress;

/// A network of each class, and whether it can be asked about the outcome of a call.
pub const NETWORKS: &[(&str, bool)] = &[
    ("bluesky", true),
    ("threads", true),
    ("wordpress", true),
    ("discord", false),
    ("telegram", false),
];

/// If nothing changes for this time, posts will not end by themselves.
const STALL_TIMEOUT: Duration = Duration::from_secs(240);

/// An account on a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Account {
    /// Its id.
    pub id: i64,
    /// The index of its network in [`NETWORKS`].
    pub network: usize,
}

impl Account {
    /// Its network's name.
    pub fn platform(self) -> &'static str {
        NETWORKS[self.network].0
    }
}

/// The expected entries of each account.
pub type Expected = BTreeMap<Account, Vec<String>>;

/// Connects this number of accounts on each network. A network that is asked about a call lists only an account's
/// latest posts, so the load is spread.
pub async fn connect(user: &User, each: usize) -> Vec<Account> {
    let mut accounts = Vec::new();
    for _ in 0..each {
        for (network, (platform, _)) in NETWORKS.iter().enumerate() {
            accounts.push(Account { id: user.connect(platform).await, network });
        }
    }
    accounts
}

/// The result of a comparison.
#[derive(Debug, Default, Clone)]
pub struct Verdict {
    /// The number of accepted posts.
    pub posts: usize,
    /// The number of them that are public.
    pub public: usize,
    /// Posts that are recorded as published but are not on the network.
    pub missing: Vec<String>,
    /// Posts that are recorded as failed without a reason, or although they are public.
    pub wrongly_failed: Vec<String>,
    /// The number of posts that are public more than once.
    pub twice: usize,
    /// The number of posts that ended as `outcome_unknown`, on networks that cannot be asked.
    pub flagged: usize,
    /// The number of flagged posts that are public.
    pub flagged_public: usize,
    /// The time at which each became public, by its text, in ms.
    pub times: BTreeMap<String, Millis>,
}

impl Verdict {
    /// Returns the number of posts that are lost or wrongly recorded as failed.
    pub fn lost(&self) -> usize {
        self.missing.len() + self.wrongly_failed.len()
    }

    /// Returns the violations.
    pub fn faults(&self, doubles_allowed: bool) -> Vec<String> {
        let mut found: Vec<String> =
            [&self.missing, &self.wrongly_failed].into_iter().flatten().cloned().collect();
        if self.twice > 0 && !doubles_allowed {
            found.push(format!("{} posts are public twice", self.twice));
        }
        found
    }

    /// Describes the flagged posts.
    pub fn describe_flagged(&self) -> String {
        format!("{} of the flagged are public", self.flagged_public)
    }

    fn add(&mut self, text: &str, times: usize, asked: bool, failed: Option<&String>) {
        self.posts += 1;
        self.public += times.min(1);
        self.twice += usize::from(times > 1);
        match failed.map(String::as_str) {
            None if times == 0 => {
                self.missing.push(format!("{text} is called published and is nowhere"))
            }
            None => {}
            Some("outcome_unknown") if !asked => {
                self.flagged += 1;
                self.flagged_public += times.min(1);
            }
            Some(code) => self
                .wrongly_failed
                .push(format!("{text} failed with {code} and is public {times} times")),
        }
    }
}

/// Compares the expected posts with those on the networks, after everything has ended.
pub async fn judge(user: &User, db: &DatabaseConnection, expected: &Expected) -> Verdict {
    let failed = failed(db).await;
    let mut verdict = Verdict::default();
    for (account, texts) in expected {
        let mut held: BTreeMap<String, usize> = BTreeMap::new();
        for entry in user.on_network(account.platform(), account.id).await {
            let text = text_of(&entry);
            verdict.times.entry(text.clone()).or_insert_with(|| time_of(&entry));
            *held.entry(text).or_default() += 1;
        }
        for text in texts {
            let times = held.remove(text).unwrap_or(0);
            let failed = failed.get(&(account.id, text.clone()));
            verdict.add(text, times, NETWORKS[account.network].1, failed);
        }
        verdict.wrongly_failed.extend(
            held.into_keys().map(|text| format!("{text} is public and was never asked for")),
        );
    }
    verdict
}

/// Returns the accounts and texts of failed posts, with their error codes.
async fn failed(db: &DatabaseConnection) -> BTreeMap<(i64, String), String> {
    let sql = "SELECT account_id, caption, error FROM posts WHERE status = 'failed'";
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await;
    let read = |row: &sea_orm::QueryResult| {
        let error: Value = row.try_get("", "error").unwrap();
        let post = (row.try_get("", "account_id").unwrap(), row.try_get("", "caption").unwrap());
        (post, error["code"].as_str().unwrap().to_owned())
    };
    rows.unwrap().iter().map(read).collect()
}

/// Returns the text of a post on a network; an article has it as its title.
fn text_of(entry: &Value) -> String {
    let title = entry["title"].as_str().filter(|title| !title.is_empty());
    title.or(entry["text"].as_str()).expect("an entry has a text").to_owned()
}

fn time_of(entry: &Value) -> Millis {
    let text = entry["created_at"].as_str().expect("an entry has a time");
    let time = humantime::parse_rfc3339(text).expect("a time");
    let since = time.duration_since(std::time::UNIX_EPOCH).expect("a time after 1970");
    i64::try_from(since.as_millis()).expect("a time before the year 292 million")
}

/// Waits until every post that is due before `until` has ended.
///
/// # Panics
/// Nothing changes for minutes.
pub async fn wait_until_ended(db: &DatabaseConnection, fault: &str, until: Millis) {
    let open = format!(
        "SELECT count(*) AS n FROM posts WHERE status NOT IN ('published', 'failed') AND scheduled_at < {until}"
    );
    let (mut before, mut since) = (-1, Instant::now());
    loop {
        let now = count(db, &open).await;
        if now == 0 {
            return;
        }
        if now != before {
            (before, since) = (now, Instant::now());
        }
        progress(fault, format_args!("{now} posts are still on their way"));
        assert!(since.elapsed() < STALL_TIMEOUT, "it never ends: {now} posts stay on their way");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Returns a number from the database; waits while it is unreachable.
///
/// # Panics
/// It is unreachable for a minute.
pub async fn count(db: &DatabaseConnection, sql: &str) -> i64 {
    for _ in 0..120 {
        let asked = Statement::from_string(db.get_database_backend(), sql);
        if let Ok(Some(row)) = db.query_one_raw(asked).await {
            return row.try_get("", "n").expect("a number called n");
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    panic!("the database does not answer: {sql}");
}

/// Returns the lateness of posts that state in their text when they were due (`due=<ms>`), and of which `part` holds.
pub fn lateness(times: &BTreeMap<String, Millis>, part: impl Fn(Millis) -> bool) -> Lateness {
    let due = |text: &str| text.split_once("due=")?.1.parse::<Millis>().ok();
    let late = times.iter().filter_map(|(text, at)| Some((due(text)?, *at)));
    let mut late: Vec<Millis> =
        late.filter(|(due, _)| part(*due)).map(|(due, at)| at - due).collect();
    late.sort_unstable();
    Lateness(late)
}

/// The lateness of posts, in ms, in order.
#[derive(Debug)]
pub struct Lateness(Vec<Millis>);

impl Lateness {
    /// Returns the number that were early.
    pub fn early(&self) -> usize {
        self.0.iter().filter(|late| **late < 0).count()
    }

    /// Returns the number of them.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    fn part(&self, of_100: usize) -> Millis {
        let place = (self.0.len() * of_100).div_ceil(100).max(1) - 1;
        self.0.get(place).copied().unwrap_or(0)
    }
}

impl std::fmt::Display for Lateness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} / {} / {} ms", self.part(50), self.part(99), self.part(100))
    }
}
