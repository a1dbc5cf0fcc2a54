//! Long polling: reads that wait until a status changes, so that callers need not poll.

use std::time::Duration;

use fanfare_domain::{Code, Error, Reply, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::progress::Progress;

/// The longest wait, in seconds: shorter than the usual time-outs of proxies.
const LONGEST: i64 = 25;

/// The interval between two reads.
const PAUSE: Duration = Duration::from_millis(250);

/// Final statuses.
const ENDED: [&str; 6] = ["published", "failed", "connected", "cancelled", "expired", "completed"];

/// The wait of a reading.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// Answer when the status changes, or after so many seconds, 0 to 25. Left out: at once. It counts as one request.
    #[serde(default)]
    pub wait: Option<i64>,
}

/// Reads until the status changes or is final, or until the wait is over.
///
/// # Errors
/// [`Code::InvalidField`] for an invalid wait, or an error of `read`.
pub async fn for_change<T, F: Future<Output = Result<Reply<T>>>>(
    wait: Wait,
    progress: &Progress,
    read: impl Fn() -> F,
) -> Result<Reply<T>> {
    let length = length(wait)?;
    let until = Instant::now() + length;
    let most = u32::try_from(length.as_secs()).ok().filter(|most| *most > 0);
    let mut reply = read().await?;
    let Some(first) = status(&reply).filter(|status| !ENDED.contains(&status.as_str())) else {
        return Ok(reply);
    };
    loop {
        if let (Some(what), Some(_)) = (stage(&reply), most) {
            progress.report(&what, most);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(reply);
        }
        sleep(left.min(PAUSE)).await;
        reply = read().await?;
        if status(&reply).as_ref() != Some(&first) {
            return Ok(reply);
        }
    }
}

fn length(wait: Wait) -> Result<Duration> {
    let seconds = wait.wait.unwrap_or(0);
    if !(0..=LONGEST).contains(&seconds) {
        let message = format!("wait is {seconds}; it may be 0 to {LONGEST}.");
        let remedy = format!("Send a number from 0 to {LONGEST}.");
        return Err(Error::field(Code::InvalidField, "wait", message, remedy));
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

    use super::*;

    /// Waits on a resource with these statuses, one per read; returns the last one and the number of reads.
    async fn ask(seconds: i64, statuses: &[&str]) -> Result<(String, usize)> {
        let asked = AtomicUsize::new(0);
        let reply = for_change(Wait { wait: Some(seconds) }, &Progress::default(), || {
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
    async fn it_ends_with_its_time_and_does_not_begin_where_nothing_comes() {
        let (status, asked) = ask(1, &["scheduled"]).await.unwrap();
        assert!(status == "scheduled" && asked > 1, "{asked}");
        assert_eq!(ask(25, &["published"]).await.unwrap().1, 1);
        assert_eq!(ask(0, &["scheduled"]).await.unwrap().1, 1);
    }

    #[tokio::test]
    async fn nobody_waits_for_longer() {
        for seconds in [-1, 26] {
            let refused = ask(seconds, &["scheduled"]).await.unwrap_err();
            assert_eq!(refused.code(), Code::InvalidField);
        }
    }
}
