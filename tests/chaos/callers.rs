//! Callers who create posts during a fault.

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

/// The number of callers. Each waits for a reply before its next request, so that a slow machine is not overloaded.
const CALLERS: usize = 16;

/// The time for which a caller repeats a request.
const PATIENCE: Duration = Duration::from_secs(600);

/// The replies that callers got.
#[derive(Debug, Default)]
pub struct CallerResults {
    /// Accepted posts.
    pub expected: Expected,
    /// The post ids in the replies, by the text of the post.
    pub ids: BTreeMap<String, BTreeSet<i64>>,
    /// The number of replies by status.
    pub answers: BTreeMap<u16, usize>,
    /// The slowest reply.
    pub slowest: Duration,
    /// Requests that were given up.
    pub given_up: usize,
    /// Connections that broke before a reply; those requests were sent again.
    pub broken: usize,
}

impl CallerResults {
    /// Returns the number of accepted posts.
    pub fn taken(&self) -> usize {
        self.expected.values().map(Vec::len).sum()
    }

    /// Returns the number of replies other than 201.
    pub fn refused(&self) -> usize {
        self.answers.iter().filter(|(status, _)| **status != 201).map(|(_, n)| n).sum()
    }

    /// Describes the replies by status.
    pub fn answers(&self) -> String {
        let each = self.answers.iter().map(|(status, n)| format!("{n} × {status}"));
        let broken = (self.broken > 0).then(|| format!("{} × none", self.broken));
        each.chain(broken).collect::<Vec<_>>().join(", ")
    }
}

/// Running callers.
pub struct Callers {
    stop: CancellationToken,
    working: JoinHandle<()>,
    told: Arc<Mutex<CallerResults>>,
}

impl Callers {
    /// Starts callers that create up to `per_second` posts a second, in turn on each account and through each of
    /// `users`. With `persist` each request is repeated with its key until the reply is 201.
    pub fn start(
        users: &[User],
        accounts: &[Account],
        name: &str,
        per_second: u32,
        persist: bool,
    ) -> Self {
        let (stop, told) = (CancellationToken::new(), Arc::<Mutex<CallerResults>>::default());
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

    /// Returns the number of posts accepted so far.
    pub fn taken(&self) -> usize {
        self.told.lock().expect("the lock").taken()
    }

    /// Stops the callers, and waits for pending replies.
    ///
    /// # Panics
    /// A request got no reply.
    pub async fn end(self) -> CallerResults {
        self.stop.cancel();
        self.working.await.expect("the callers");
        std::mem::take(&mut *self.told.lock().expect("the lock"))
    }
}

/// Creates a post. A request without a reply is sent again with its key; with `persist` also one that was refused.
async fn call(
    user: &User,
    account: Account,
    text: String,
    persist: bool,
    told: &Mutex<CallerResults>,
) {
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

/// The recorded parts of a reply.
struct Answer {
    status: u16,
    retry_after: u64,
    id: Option<i64>,
}

/// Sends a request; returns `None` if the connection broke.
async fn ask(user: &User, key: &str, body: &Value) -> Option<Answer> {
    let request = user.http.post(format!("{}/api/v1/posts", user.origin));
    let request = request.bearer_auth(&user.key).header("Idempotency-Key", key).json(body);
    let reply = request.send().await.ok()?;
    let status = reply.status().as_u16();
    let wait = reply.headers().get("retry-after").and_then(|wait| wait.to_str().ok()?.parse().ok());
    let body: Value = reply.json().await.ok()?;
    Some(Answer { status, retry_after: wait.unwrap_or(1), id: body["post"]["id"].as_i64() })
}

/// Records a reply; returns true if the post was accepted.
fn note(
    answer: Option<Answer>,
    took: Duration,
    account: Account,
    text: &str,
    told: &Mutex<CallerResults>,
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
