//! Waiting for something to happen, with and without the passing of time.

use std::time::Duration;

use fanfare_entities::{ai_job, post};
use sea_orm::{ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter};
use serde_json::Value;

use super::TestApp;
use crate::client::User;

/// The time a test waits for something to happen, in real time. Generous: it only ends a failed test.
const PATIENCE: Duration = Duration::from_secs(120);

/// Steps of passing time that follow each other at once.
const BRISK: u32 = 40;

/// The time between two steps after those, in real time.
const SLOW: Duration = Duration::from_secs(1);

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

    /// Waits until something holds, and lets time pass meanwhile: a step each look at first, then one a second, and
    /// slowly while a worker has a post or a film in hand. So a slow machine finds no day of work behind each step, and no deadline of
    /// a call passes because the test's clock leaps while the call takes its real time.
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
        for turn in 0_u32.. {
            self.pass(step).await;
            let begun = tokio::time::Instant::now();
            let pause = if turn < BRISK { Duration::ZERO } else { SLOW };
            loop {
                if let Some(found) = look().await {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
                let waited = begun.elapsed();
                if waited >= SLOW || waited >= pause && !self.is_at_work().await {
                    break;
                }
            }
            assert!(start.elapsed() < PATIENCE, "never happened: {what}");
        }
        unreachable!("patience ends before the turns do")
    }

    /// Says whether a worker may have a post or a film in hand just now.
    async fn is_at_work(&self) -> bool {
        let db = &self.domain.db.read;
        let in_hand = Condition::any()
            .add(post::Column::SendingAt.is_not_null())
            .add(post::Column::Laps.gt(0));
        let posts = post::Entity::find().filter(in_hand).count(db);
        let films = ai_job::Entity::find().filter(ai_job::Column::Laps.gt(0)).count(db);
        let (posts, films) = tokio::join!(posts, films);
        posts.expect("the database answers") + films.expect("the database answers") > 0
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
