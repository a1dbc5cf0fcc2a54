//! Waiting for something to happen, with and without the passing of time.

use std::time::Duration;

use fanfare_domain::durable::{self, LEASE};
use fanfare_jobs::JobKind;
use sea_orm::{ConnectionTrait, DbErr, Statement};
use serde_json::Value;

use super::TestApp;
use crate::client::User;

/// The time a test waits for something to happen, in real time. Generous: it only ends a failed test.
const PATIENCE: Duration = Duration::from_secs(300);

/// The condition of a row of work that a worker has in hand at the time $1.
const IN_HAND: &str = "lease_expirations > 0 AND due_at > $1";

/// Says whether a step of passing time is so long that it may end a lease, and lose the work in hand with it.
fn may_end_a_lease(step: Duration) -> bool {
    step.as_millis() >= u128::from(LEASE.unsigned_abs()) / 3
}

/// Returns the longest wait, in real time, for the work of one step of passing time. What waits for something else is left
/// then.
fn room(step: Duration) -> Duration {
    Duration::from_secs(if may_end_a_lease(step) { 5 } else { 1 })
}

impl TestApp {
    /// Waits until a post is in one of these statuses; its record.
    ///
    /// # Panics
    /// It does not get there.
    pub async fn settled(&self, user: &User, id: i64, statuses: &[&str]) -> Value {
        let path = format!("/api/v1/posts/{id}");
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let post = user.get(&path).await.expect(200).body["post"].clone();
            if statuses.iter().any(|status| post["status"] == *status) {
                return post;
            }
            assert!(tokio::time::Instant::now() < deadline, "it stays like this: {post:#}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until a post is public, and lets time pass while its network wants to be asked again.
    ///
    /// # Panics
    /// It never is.
    pub async fn public(&self, user: &User, post: &Value) {
        let path = format!("/api/v1/posts/{}", post["id"]);
        self.in_time("a post is public", Duration::from_secs(5), || async {
            let post = user.get(&path).await.expect(200).body["post"].clone();
            (post["status"] == "published").then_some(())
        })
        .await;
    }

    /// Waits until something holds, and lets time pass meanwhile, a step at a time and each when the work of the one before
    /// is done. So a slow machine finds no day of work behind each step, and no lease or deadline ends because the
    /// test's clock leaps while a worker takes its real time.
    ///
    /// # Panics
    /// It never holds.
    pub async fn in_time<T, F: Future<Output = Option<T>>>(
        &self,
        what: &str,
        step: Duration,
        look: impl Fn() -> F,
    ) -> T {
        let start = tokio::time::Instant::now();
        loop {
            self.pass(step).await;
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
            assert!(start.elapsed() < PATIENCE, "never happened: {what}");
        }
    }

    /// Lets a step of time pass and waits for the work of it, though not for what takes long.
    pub async fn step(&self, by: Duration) {
        self.pass(by).await;
        let begun = tokio::time::Instant::now();
        while begun.elapsed() < room(by) && self.is_at_work().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until no work of any kind is due or in a worker's hands: until what the clock asks for has been done.
    ///
    /// # Panics
    /// It never ends.
    pub async fn at_rest(&self) {
        self.eventually("all work is done", || async { (!self.is_at_work().await).then_some(()) })
            .await;
    }

    /// Waits for what workers have in hand before a step that would end their leases: a call that was answered and not yet
    /// written down would be made again. What takes longer, two seconds of real time, is left.
    pub(super) async fn before(&self, step: Duration) {
        let begun = tokio::time::Instant::now();
        // A story may have stopped its database; then nothing can be written down.
        while may_end_a_lease(step)
            && begun.elapsed() < Duration::from_secs(2)
            && matches!(self.any_work(IN_HAND).await, Ok(true))
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Says whether work of any kind is due or in a worker's hands.
    async fn is_at_work(&self) -> bool {
        let either = format!("due_at <= $1 OR ({IN_HAND})");
        self.any_work(&either).await.expect("the database answers")
    }

    /// Says whether there is work of any kind of which this holds.
    async fn any_work(&self, which: &str) -> Result<bool, DbErr> {
        let db = &self.domain.db.read;
        let of_kind = JobKind::ALL
            .map(|kind| format!("EXISTS (SELECT 1 FROM {} WHERE {which})", durable::table(kind)));
        let sql = format!("SELECT 1 WHERE {}", of_kind.join(" OR "));
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
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look().await {
                return found;
            }
            assert!(tokio::time::Instant::now() < deadline, "never happened: {what}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
