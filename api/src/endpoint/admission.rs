//! Counts a request against the limits of its caller.
//!
//! Most requests are counted before they are read. Two kinds are counted in their bucket only once they are read: one
//! with an `Idempotency-Key`, since a replay costs no more than a read, and one that creates posts, since checks and
//! refusals have a bucket of their own.

use fanfare_core::{
    Domain, Reply, Result,
    access::Caller,
    limits::{self, Meter},
};
use serde_json::Value;

use crate::Bucket;

/// A request that was admitted.
pub(super) struct Admission {
    cx: Domain,
    caller: Caller,
    bucket: Bucket,
    meter: Meter,
    /// True if it is counted in its bucket once it is read.
    late: bool,
    /// The bucket that it was counted in, once it was read.
    counted: Option<Bucket>,
}

impl Admission {
    /// Counts a request before it is read.
    ///
    /// # Errors
    /// A limit is reached.
    pub(super) async fn begin(
        cx: &Domain,
        caller: &Caller,
        (bucket, has_key): (Bucket, bool),
        meter: &Meter,
    ) -> Result<Self> {
        let late = bucket != Bucket::Other && (has_key || bucket == Bucket::Posts);
        limits::admit(cx, caller, if late { Bucket::Other } else { bucket }, meter).await?;
        Ok(Self { late, ..Self::counted_before(cx, caller, meter) }.of(bucket))
    }

    /// Admits a request that was counted before.
    pub(super) fn counted_before(cx: &Domain, caller: &Caller, meter: &Meter) -> Self {
        let (cx, caller, meter) = (cx.clone(), caller.clone(), meter.clone());
        Self { cx, caller, bucket: Bucket::Other, meter, late: false, counted: None }
    }

    fn of(mut self, bucket: Bucket) -> Self {
        self.bucket = bucket;
        self
    }

    /// Counts a replay.
    ///
    /// # Errors
    /// A limit is reached.
    pub(super) async fn count_replay(&mut self) -> Result<()> {
        self.count(Bucket::Reads).await
    }

    /// Counts a request that is not known to be a replay.
    ///
    /// # Errors
    /// A limit is reached.
    pub(super) async fn count_request(&mut self, body: Option<&Value>) -> Result<()> {
        let is_check = self.bucket == Bucket::Posts && body.is_some_and(only_checks);
        self.count(if is_check { Bucket::Checks } else { self.bucket }).await
    }

    async fn count(&mut self, bucket: Bucket) -> Result<()> {
        if self.late {
            limits::count(&self.cx, &self.caller, bucket, &self.meter).await?;
            self.counted = Some(bucket);
        }
        Ok(())
    }

    /// Moves the count of a request to the bucket that its outcome belongs to. If that is full the count stays where it
    /// is, so that refusals have an end, too.
    pub(super) async fn end(self, outcome: &Result<Reply>) {
        let Some(counted) = self.counted.filter(|counted| *counted == self.bucket) else { return };
        let creates = counted == Bucket::Posts;
        let belongs_to = match outcome {
            Ok(reply) if reply.replayed => Bucket::Reads,
            Ok(reply) if creates && !reply.changed => Bucket::Checks,
            Err(error) if creates && error.status() < 500 => Bucket::Checks,
            _ => return,
        };
        limits::recount(&self.cx, &self.caller, (counted, belongs_to), &self.meter).await;
    }
}

/// Returns true if the body of a new post, or of a batch, asks for nothing but checks.
fn only_checks(body: &Value) -> bool {
    let is_check = |body: &Value| body["dry_run"] == true;
    let items = body["posts"].as_array().filter(|items| !items.is_empty());
    is_check(body) || items.is_some_and(|items| items.iter().all(is_check))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::only_checks;

    #[test]
    fn a_batch_is_a_check_if_all_of_it_is() {
        let (check, post) = (json!({"dry_run": true}), json!({"caption": "x"}));
        assert!(only_checks(&check) && !only_checks(&post));
        assert!(only_checks(&json!({"posts": [post], "dry_run": true})));
        assert!(only_checks(&json!({"posts": [check, check]})));
        assert!(!only_checks(&json!({"posts": [check, post]})));
        assert!(!only_checks(&json!({"posts": []})));
    }
}
