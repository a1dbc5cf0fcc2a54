//! Long polling: reads that wait until a status changes, so that callers need not poll.

use std::time::Duration;

use fanfare_core::{
    Error, Reply, Result,
    error::out_of_range,
    notices::{Awaited, Subscription},
    stopping::Stopping,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::progress::Progress;

/// The longest wait, in seconds: shorter than the usual time-outs of proxies.
const LONGEST: i64 = 25;

/// The interval between two reads.
const PAUSE: Duration = Duration::from_millis(250);

/// The interval between two reads of what announces its changes, in case an announcement is lost.
const LONG_PAUSE: Duration = Duration::from_secs(5);

/// The pauses between the reads of one wait.
pub enum Pauses {
    /// Short ones.
    Short,
    /// Until this row announces a change.
    Until(Subscription, Awaited),
}

impl Pauses {
    async fn next(&mut self, left: Duration, stopping: &Stopping) {
        match self {
            Self::Short => stopping.sleep(left.min(PAUSE)).await,
            Self::Until(notices, row) => {
                tokio::select! {
                    _ = timeout(left.min(LONG_PAUSE), notices.wait_for(*row)) => {}
                    () = stopping.closed.cancelled() => {}
                }
            }
        }
    }
}

/// Final statuses.
const ENDED: [&str; 7] =
    ["published", "failed", "partial", "connected", "cancelled", "expired", "completed"];

/// The wait of a reading.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// Answer when the status changes, or after so many seconds, 0 to 25. Left out: at once. It counts as one request.
    #[serde(default)]
    #[schemars(range(min = 0, max = 25))]
    pub wait: Option<i64>,
    /// `final` waits for a status that stays; tools do.
    #[serde(default)]
    pub wait_for: WaitFor,
}

/// The change that a reading waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitFor {
    /// Another status.
    #[default]
    Change,
    /// A status that stays, such as `published` or `failed`.
    Final,
}

/// Reads until the status changes or is final, or until the wait is over or this process closes.
///
/// # Errors
/// [`InvalidField`](fanfare_core::Code::InvalidField) for an invalid wait, or an error of `read`.
pub async fn for_change<T, F: Future<Output = Result<Reply<T>>>>(
    wait: Wait,
    (progress, stopping): (&Progress, &Stopping),
    read: impl Fn() -> F,
) -> Result<Reply<T>> {
    for_change_after(wait, (progress, stopping), Pauses::Short, read).await
}

/// Reads with these pauses until the status changes or is final, or until the wait is over or this process closes.
///
/// # Errors
/// [`InvalidField`](fanfare_core::Code::InvalidField) for an invalid wait, or an error of `read`.
pub async fn for_change_after<T, F: Future<Output = Result<Reply<T>>>>(
    wait: Wait,
    (progress, stopping): (&Progress, &Stopping),
    mut pauses: Pauses,
    read: impl Fn() -> F,
) -> Result<Reply<T>> {
    let length = length(wait)?;
    let until = Instant::now() + length;
    let most = u32::try_from(length.as_secs()).ok().filter(|most| *most > 0);
    let mut reply = read().await?;
    let is_final = |status: &String| ENDED.contains(&status.as_str());
    let Some(first) = status(&reply).filter(|status| !is_final(status)) else {
        return Ok(reply);
    };
    let is_awaited = |now: Option<String>| match wait.wait_for {
        WaitFor::Change => now.as_ref() != Some(&first),
        WaitFor::Final => now.as_ref().is_none_or(is_final),
    };
    loop {
        if let (Some(what), Some(_)) = (stage(&reply), most) {
            progress.report(&what, most);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || stopping.closed.is_cancelled() {
            return Ok(reply);
        }
        pauses.next(left, stopping).await;
        reply = read().await?;
        if is_awaited(status(&reply)) {
            return Ok(reply);
        }
    }
}

/// Reads a list until it has an entry, or until the wait is over or this process closes. What is cheap to read says when
/// there may be one.
///
/// # Errors
/// [`InvalidField`](fanfare_core::Code::InvalidField) for an invalid wait, or an error of a read.
pub async fn for_entry<T, L, F>(
    wait: Option<i64>,
    stopping: &Stopping,
    list: &str,
    (latest, read): (impl Fn() -> L, impl Fn() -> F),
) -> Result<Reply<T>>
where
    L: Future<Output = Result<i64>>,
    F: Future<Output = Result<Reply<T>>>,
{
    let until = Instant::now() + length_of(wait)?;
    loop {
        let seen = latest().await?;
        let reply = read().await?;
        let left = || until.saturating_duration_since(Instant::now());
        if left().is_zero() || has_entry(&reply, list) {
            return Ok(reply);
        }
        while latest().await? == seen {
            if left().is_zero() || stopping.closed.is_cancelled() {
                return Ok(reply);
            }
            stopping.sleep(left().min(PAUSE)).await;
        }
    }
}

fn has_entry<T>(reply: &Reply<T>, list: &str) -> bool {
    let body: Option<Value> = serde_json::from_str(reply.body()).ok();
    body.as_ref().and_then(|body| body[list].as_array()).is_some_and(|list| !list.is_empty())
}

fn length(wait: Wait) -> Result<Duration> {
    length_of(wait.wait)
}

fn length_of(wait: Option<i64>) -> Result<Duration> {
    let seconds = wait.unwrap_or(0);
    if !(0..=LONGEST).contains(&seconds) {
        return Err(Error::violation(out_of_range("wait", seconds, &(0..=LONGEST))));
    }
    Ok(Duration::from_secs(seconds.unsigned_abs()))
}

/// Returns the status of the resource in a reply.
fn status<T>(reply: &Reply<T>) -> Option<String> {
    let body: Value = serde_json::from_str(reply.body()).ok()?;
    let thing = body.as_object()?.values().next()?;
    thing.get("status")?.as_str().map(str::to_owned)
}

/// Describes the stage of the resource in a reply: `post: publishing`, `job: running, 40 %`.
fn stage<T>(reply: &Reply<T>) -> Option<String> {
    let body: Value = serde_json::from_str(reply.body()).ok()?;
    let (name, thing) = body.as_object()?.iter().next()?;
    let status = thing.get("status")?.as_str()?;
    let part = thing.get("progress").and_then(Value::as_i64);
    let part = part.map(|part| format!(", {part} %")).unwrap_or_default();
    Some(format!("{}: {status}{part}", name.replace('_', " ")))
}

#[cfg(test)]
mod tests {
    use std::{
        future::ready,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use serde_json::json;

    use fanfare_core::Code;

    use super::*;

    /// Waits on a resource with these statuses, one per read; returns the last one and the number of reads.
    async fn ask(seconds: i64, statuses: &[&str]) -> Result<(String, usize)> {
        ask_for(WaitFor::Change, seconds, statuses).await
    }

    async fn ask_for(
        wait_for: WaitFor,
        seconds: i64,
        statuses: &[&str],
    ) -> Result<(String, usize)> {
        let asked = AtomicUsize::new(0);
        let wait = Wait { wait: Some(seconds), wait_for };
        let reply = for_change(wait, (&Progress::default(), &Stopping::default()), || {
            let turn = asked.fetch_add(1, Ordering::Relaxed).min(statuses.len() - 1);
            ready(Ok(Reply::ok(&json!({"post": {"status": statuses[turn]}}))))
        })
        .await?;
        Ok((status(&reply).unwrap(), asked.into_inner()))
    }

    #[tokio::test]
    async fn a_reading_waits_for_another_status() {
        let all = ["scheduled", "scheduled", "publishing", "published"];
        assert_eq!(ask(25, &all).await.unwrap(), ("publishing".to_owned(), 3));
    }

    #[tokio::test]
    async fn or_for_one_that_stays() {
        for last in ["published", "failed", "connected"] {
            let all = ["scheduled", "publishing", "processing", last, "another"];
            assert_eq!(ask_for(WaitFor::Final, 25, &all).await.unwrap(), (last.to_owned(), 4));
        }
        let (status, asked) = ask_for(WaitFor::Final, 1, &["processing"]).await.unwrap();
        assert!(status == "processing" && asked > 1, "{asked}");
    }

    #[tokio::test]
    async fn it_ends_with_its_time_and_does_not_begin_where_nothing_comes() {
        let (status, asked) = ask(1, &["scheduled"]).await.unwrap();
        assert!(status == "scheduled" && asked > 1, "{asked}");
        assert_eq!(ask(25, &["published"]).await.unwrap().1, 1);
        assert_eq!(ask(0, &["scheduled"]).await.unwrap().1, 1);
    }

    #[tokio::test]
    async fn a_process_that_closes_gives_what_it_has() {
        let stopping = Stopping::default();
        stopping.closed.cancel();
        let wait = Wait { wait: Some(25), wait_for: WaitFor::Final };
        let progress = Progress::default();
        let reply = for_change(wait, (&progress, &stopping), || {
            ready(Ok(Reply::ok(&json!({"post": {"status": "publishing"}}))))
        });
        assert_eq!(status(&reply.await.unwrap()).unwrap(), "publishing");
    }

    #[tokio::test]
    async fn a_list_is_read_again_only_when_there_may_be_more() {
        let (looked, reads) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // The third look shows something that the filter leaves out, the fifth something that it does not.
        let latest = || {
            let turn = looked.fetch_add(1, Ordering::Relaxed);
            ready(Ok(if turn < 2 {
                7
            } else if turn < 5 {
                8
            } else {
                9
            }))
        };
        let read = || {
            let turn = reads.fetch_add(1, Ordering::Relaxed);
            let events = if turn < 2 { json!([]) } else { json!([{"sequence": 9}]) };
            ready(Ok(Reply::ok(&json!({"events": events}))))
        };
        let stopping = Stopping::default();
        let reply = for_entry(Some(25), &stopping, "events", (latest, read)).await.unwrap();
        assert!(has_entry(&reply, "events"));
        assert_eq!(reads.into_inner(), 3);
    }

    #[tokio::test]
    async fn nobody_waits_for_longer() {
        for seconds in [-1, 26] {
            let refused = ask(seconds, &["scheduled"]).await.unwrap_err();
            assert_eq!(refused.code(), Code::InvalidField);
        }
    }
}
