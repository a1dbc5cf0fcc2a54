//! People who post all the while.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use fanfare_tests::User;
use serde_json::{Value, json};
use tokio::{
    sync::Semaphore,
    task::{JoinHandle, JoinSet},
    time::MissedTickBehavior,
};
use tokio_util::sync::CancellationToken;

use crate::judge::{Account, Expected};

/// Callers, each of whom waits for an answer before the next request: a slow machine is not buried under them.
const CALLERS: usize = 16;

/// A caller who repeats a request gives up after this time.
const PATIENCE: Duration = Duration::from_secs(600);

/// The answers that callers got.
#[derive(Debug, Default)]
pub struct Told {
    /// Posts that were taken.
    pub expected: Expected,
    /// Ids of the posts that a text was answered with.
    pub ids: BTreeMap<String, BTreeSet<i64>>,
    /// The number of times each status was answered.
    pub answers: BTreeMap<u16, usize>,
    /// The slowest answer.
    pub slowest: Duration,
    /// Requests that were given up.
    pub given_up: usize,
    /// Connections that broke before an answer; those requests were sent again.
    pub broken: usize,
}

impl Told {
    /// Returns the number of posts that were taken.
    pub fn taken(&self) -> usize {
        self.expected.values().map(Vec::len).sum()
    }

    /// Answers other than 201.
    pub fn refused(&self) -> usize {
        self.answers.iter().filter(|(status, _)| **status != 201).map(|(_, n)| n).sum()
    }

    /// Statuses in words.
    pub fn answers(&self) -> String {
        let each = self.answers.iter().map(|(status, n)| format!("{n} × {status}"));
        let broken = (self.broken > 0).then(|| format!("{} × none", self.broken));
        each.chain(broken).collect::<Vec<_>>().join(", ")
    }
}

/// Callers at work.
pub struct Callers {
    stop: CancellationToken,
    working: JoinHandle<()>,
    told: Arc<Mutex<Told>>,
}

impl Callers {
    /// Lets callers post up to `per_second` times a second, in turn on each account and through each of `users`. `persist`:
    /// each request is repeated under its key until it is answered with 201.
    pub fn start(
        users: &[User],
        accounts: &[Account],
        name: &str,
        per_second: u32,
        persist: bool,
    ) -> Self {
        let (stop, told) = (CancellationToken::new(), Arc::<Mutex<Told>>::default());
        let (users, accounts, name) = (users.to_vec(), accounts.to_vec(), name.to_owned());
        let (until, heard) = (stop.clone(), Arc::clone(&told));
        let working = tokio::spawn(async move {
            let mut calls = JoinSet::new();
            let mut beat = tokio::time::interval(Duration::from_secs(1) / per_second);
            beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let free = Arc::new(Semaphore::new(CALLERS));
            for n in 0.. {
                let next = async {
                    beat.tick().await;
                    Arc::clone(&free).acquire_owned().await.expect("it is never closed")
                };
                let caller = tokio::select! {
                    caller = next => caller,
                    () = until.cancelled() => break,
                };
                let (user, account) =
                    (users[n % users.len()].clone(), accounts[n % accounts.len()]);
                let (text, heard) = (format!("{name} {} {n}", account.id), Arc::clone(&heard));
                calls.spawn(async move {
                    call(&user, account, text, persist, &heard).await;
                    drop(caller);
                });
            }
            while let Some(ended) = calls.join_next().await {
                ended.expect("the service answers");
            }
        });
        Self { stop, working, told }
    }

    /// Returns the number of posts that were taken so far.
    pub fn taken(&self) -> usize {
        self.told.lock().expect("the lock").taken()
    }

    /// Ends it, and waits for answers that are still to come.
    ///
    /// # Panics
    /// A request was not answered.
    pub async fn end(self) -> Told {
        self.stop.cancel();
        self.working.await.expect("the callers");
        std::mem::take(&mut *self.told.lock().expect("the lock"))
    }
}

/// Asks for a post. A request that is not answered at all is sent again under its key, as any other is with `persist`.
async fn call(user: &User, account: Account, text: String, persist: bool, told: &Mutex<Told>) {
    let body = json!({"account_id": account.id, "caption": text});
    let (key, begun) = (text.replace(' ', "-"), Instant::now());
    loop {
        let asked = Instant::now();
        let answer = ask(user, &key, &body).await;
        let over = answer.is_some() && !persist || begun.elapsed() >= PATIENCE;
        let wait = answer.as_ref().map_or(1, |answer| answer.retry_after.clamp(1, 5));
        let taken = note(answer, asked.elapsed(), account, &text, told);
        if taken || over {
            told.lock().expect("the lock").given_up += usize::from(!taken && persist);
            return;
        }
        tokio::time::sleep(Duration::from_secs(wait)).await;
    }
}

/// The recorded parts of an answer.
struct Answer {
    status: u16,
    retry_after: u64,
    id: Option<i64>,
}

/// One request; nothing if the connection broke.
async fn ask(user: &User, key: &str, body: &Value) -> Option<Answer> {
    let request = user.http.post(format!("{}/api/v1/posts", user.origin));
    let request = request.bearer_auth(&user.key).header("Idempotency-Key", key).json(body);
    let reply = request.send().await.ok()?;
    let status = reply.status().as_u16();
    let wait = reply.headers().get("retry-after").and_then(|wait| wait.to_str().ok()?.parse().ok());
    let body: Value = reply.json().await.ok()?;
    Some(Answer { status, retry_after: wait.unwrap_or(1), id: body["post"]["id"].as_i64() })
}

/// Notes an answer; true if the post was taken.
fn note(
    answer: Option<Answer>,
    took: Duration,
    account: Account,
    text: &str,
    told: &Mutex<Told>,
) -> bool {
    let mut told = told.lock().expect("the lock");
    let Some(answer) = answer else {
        told.broken += 1;
        return false;
    };
    *told.answers.entry(answer.status).or_default() += 1;
    told.slowest = told.slowest.max(took);
    let taken = answer.status == 201;
    if taken {
        told.ids.entry(text.to_owned()).or_default().extend(answer.id);
        told.expected.entry(account).or_default().push(text.to_owned());
    }
    taken
}
