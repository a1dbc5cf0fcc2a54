//! Waiting for conditions, with and without advancing the clocks.

use std::{sync::Mutex, time::Duration};

use fanfare_core::durable::LEASE;
use fanfare_jobs::JobKind;
use sea_orm::{ConnectionTrait, DbErr, Statement};
use serde_json::Value;

use super::TestApp;
use crate::{client::User, patience::patience};

/// The SQL condition of work that a worker has leased, at the time $1.
const LEASED: &str = "lease_expirations > 0 AND due_at > $1";

/// Returns true if a step of time is so long that it may end a lease.
fn may_end_a_lease(step: Duration) -> bool {
    step.as_millis() >= u128::from(LEASE.unsigned_abs()) / 3
}

/// Returns the longest wait, in real time, for the work of one step of time. Work that waits for something else is left
/// running.
fn room(step: Duration) -> Duration {
    Duration::from_secs(if may_end_a_lease(step) { 5 } else { 1 })
}

/// The last value that a story saw, printed if it fails.
#[derive(Default)]
struct LastSeen(Mutex<Value>);

impl LastSeen {
    fn set(&self, seen: Value) {
        *self.0.lock().expect("the lock") = seen;
    }
}

impl Drop for LastSeen {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seen last: {:#}", self.0.get_mut().expect("the lock"));
        }
    }
}

impl TestApp {
    /// Waits until a post has one of these statuses; returns it.
    ///
    /// # Panics
    /// It does not get there.
    pub async fn wait_for_status(&self, user: &User, id: i64, statuses: &[&str]) -> Value {
        let path = format!("/api/v1/posts/{id}");
        let deadline = tokio::time::Instant::now() + patience();
        loop {
            let post = user.get(&path).await.expect(200).body["post"].clone();
            if statuses.iter().any(|status| post["status"] == *status) {
                return post;
            }
            assert!(tokio::time::Instant::now() < deadline, "it stays like this: {post:#}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until a post is published, and advances the clocks while its network has to be polled.
    ///
    /// # Panics
    /// It never is.
    pub async fn wait_until_published(&self, user: &User, post: &Value) {
        let path = format!("/api/v1/posts/{}", post["id"]);
        let last = LastSeen::default();
        self.eventually_in_time("a post is public", Duration::from_secs(5), || async {
            let post = user.get(&path).await.expect(200).body["post"].clone();
            let is_public = post["status"] == "published";
            last.set(post);
            is_public.then_some(())
        })
        .await;
    }

    /// Waits until something holds, and advances the clocks step by step, each when the work of the previous one is
    /// done. So work does not pile up on a slow machine, and no lease or deadline ends because the clock jumps while a
    /// worker runs in real time.
    ///
    /// # Panics
    /// It never holds.
    pub async fn eventually_in_time<T, F: Future<Output = Option<T>>>(
        &self,
        what: &str,
        step: Duration,
        look: impl Fn() -> F,
    ) -> T {
        let start = tokio::time::Instant::now();
        loop {
            self.pass_time(step).await;
            let begun = tokio::time::Instant::now();
            loop {
                if let Some(found) = look().await {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
                if begun.elapsed() >= room(step) || !self.is_at_work().await {
                    break;
                }
            }
            assert!(start.elapsed() < patience(), "never happened: {what}");
        }
    }

    /// Advances the clocks by a step and waits for its work, except for work that takes long.
    pub async fn step(&self, by: Duration) {
        self.pass_time(by).await;
        let begun = tokio::time::Instant::now();
        while begun.elapsed() < room(by) && self.is_at_work().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until no work is due or leased.
    ///
    /// # Panics
    /// It never ends.
    pub async fn wait_until_idle(&self) {
        let deadline = tokio::time::Instant::now() + patience();
        while self.is_at_work().await {
            if tokio::time::Instant::now() >= deadline {
                panic!("work never ends: {:?}", self.kinds_at_work().await);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns the kinds of which work is due or leased.
    async fn kinds_at_work(&self) -> Vec<JobKind> {
        let mut busy = Vec::new();
        for kind in JobKind::ALL {
            let which = format!("due_at <= $1 OR ({LEASED})");
            let sql =
                format!("SELECT 1 WHERE EXISTS (SELECT 1 FROM {} WHERE {which})", kind.table());
            if self.finds(sql).await.expect("the database answers") {
                busy.push(kind);
            }
        }
        busy
    }

    /// Waits for leased work before a step that would end its lease: a call whose reply is not stored yet would be made
    /// again. Work that takes more than two seconds of real time is left running.
    pub(super) async fn finish_work_before(&self, step: Duration) {
        let begun = tokio::time::Instant::now();
        // A story may have stopped its database; then nothing can be stored.
        while may_end_a_lease(step)
            && begun.elapsed() < Duration::from_secs(2)
            && matches!(self.any_work(LEASED).await, Ok(true))
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns true if work of any kind is due or leased.
    async fn is_at_work(&self) -> bool {
        let either = format!("due_at <= $1 OR ({LEASED})");
        self.any_work(&either).await.expect("the database answers")
    }

    /// Returns true if there is work of any kind that meets an SQL condition.
    async fn any_work(&self, which: &str) -> Result<bool, DbErr> {
        let of_kind = JobKind::ALL
            .map(|kind| format!("EXISTS (SELECT 1 FROM {} WHERE {which})", kind.table()));
        self.finds(format!("SELECT 1 WHERE {}", of_kind.join(" OR "))).await
    }

    /// Returns true if a query about the time $1 has a row.
    async fn finds(&self, sql: String) -> Result<bool, DbErr> {
        let db = &self.domain.db.read;
        let now = self.clock.now().into();
        let asked = Statement::from_sql_and_values(db.get_database_backend(), sql, [now]);
        Ok(db.query_one_raw(asked).await?.is_some())
    }

    /// Waits until something holds.
    ///
    /// # Panics
    /// It never does.
    pub async fn eventually<T, F: Future<Output = Option<T>>>(
        &self,
        what: &str,
        look: impl Fn() -> F,
    ) -> T {
        let deadline = tokio::time::Instant::now() + patience();
        loop {
            if let Some(found) = look().await {
                return found;
            }
            assert!(tokio::time::Instant::now() < deadline, "never happened: {what}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
