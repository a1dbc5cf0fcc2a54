//! Common functions for sending a request and reading its response.

use std::time::Duration;

use chrono::{DateTime, Utc};
use fanfare_outbound::{Reply, Request};
use serde::de::DeserializeOwned;

use crate::{Error, ErrorKind, Result, Session};

/// Sends a request. Parses a success as JSON; `read` turns any other response into an error.
pub async fn send<T: DeserializeOwned>(
    session: &Session,
    request: Request,
    read: fn(&Session, &Reply) -> Error,
) -> Result<T> {
    let reply = request.send().await?;
    if reply.is_success() { Ok(reply.json()?) } else { Err(read(session, &reply)) }
}

/// A header that says when an exhausted limit resets.
#[derive(Debug, Clone, Copy)]
pub enum ResetHeader {
    /// At this Unix time in seconds.
    Unix(&'static str),
    /// In a number of seconds.
    Seconds(&'static str),
    /// At this time in RFC 3339.
    Rfc3339(&'static str),
}

impl ResetHeader {
    fn delay(self, session: &Session, reply: &Reply) -> Option<Duration> {
        // By the clock that the network named the time by.
        let now = reply.date().unwrap_or(session.now);
        let until = |at: DateTime<Utc>| (at - now).to_std().unwrap_or_default();
        match self {
            Self::Unix(name) => {
                let at = reply.header(name)?.trim().parse().ok()?;
                DateTime::from_timestamp(at, 0).map(until)
            }
            Self::Seconds(name) => {
                let seconds = reply.header(name)?.trim().parse().ok()?;
                Duration::try_from_secs_f64(seconds).ok()
            }
            Self::Rfc3339(name) => DateTime::parse_from_rfc3339(reply.header(name)?.trim())
                .ok()
                .map(|at| until(at.to_utc())),
        }
    }
}

/// Returns how long a network asks to wait: `Retry-After`, else the first of these headers that is present.
pub fn retry_delay(session: &Session, reply: &Reply, resets: &[ResetHeader]) -> Option<Duration> {
    reply.retry_after().or_else(|| resets.iter().find_map(|reset| reset.delay(session, reply)))
}

/// Returns the error for a status alone, when the connector does not know the code. `said` is the network's own
/// explanation, redacted.
pub fn error_by_status(label: &str, reply: &Reply, said: &str) -> Error {
    let said = said.trim().trim_end_matches('.');
    let words = |start: String| {
        if said.is_empty() { format!("{start}.") } else { format!("{start}: {said}.") }
    };
    match reply.status {
        300..=399 => Error::target_gone(format!("{label} has moved to another address."))
            .with_remedy("Connect the account again with the address that the browser shows."),
        401 => Error::reconnect(words(format!("{label} no longer accepts the account's access"))),
        403 => Error::permission_missing(words(format!(
            "{label} does not let the account do this"
        )))
        .with_remedy(
            "Give the account the right it lacks, or connect it again with all permissions.",
        ),
        404 | 405 | 410 | 501 => {
            Error::target_gone(format!("{label} does not offer what is needed here."))
                .with_remedy("Check that the account and what the settings name still exist.")
        }
        408 => {
            Error::new(ErrorKind::Ambiguous, format!("{label} did not get the request in time."))
        }
        413 => Error::media_rejected(format!("A file is larger than {label} takes.")),
        415 => Error::media_rejected(words(format!("{label} does not take a file of this type"))),
        429 => Error::new(ErrorKind::RateLimited, format!("{label} asks to wait."))
            .with_retry_after(reply.retry_after()),
        500.. => Error::new(ErrorKind::Server, format!("{label} has a problem of its own.")),
        _ => Error::rejected(words(format!("{label} refuses the post"))).left_open(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{ResetHeader, error_by_status, retry_delay};
    use crate::{ErrorKind, tests::test_server};

    #[test]
    fn a_wait_is_read_in_every_form() {
        let resets = [
            ResetHeader::Unix("x-unix"),
            ResetHeader::Seconds("x-seconds"),
            ResetHeader::Rfc3339("x-time"),
        ];
        let at = test_server::at(90).to_rfc3339();
        let unix = test_server::at(60).timestamp().to_string();
        let ahead = test_server::at(300).timestamp().to_string();
        let date = test_server::at(240).to_rfc2822();
        for (headers, seconds) in [
            (vec![("retry-after", "7"), ("x-unix", unix.as_str())], Some(7)),
            (vec![("x-unix", unix.as_str())], Some(60)),
            (vec![("x-unix", "soon"), ("x-seconds", "2.0")], Some(2)),
            (vec![("x-time", at.as_str())], Some(90)),
            (vec![("x-unix", "1")], Some(0)),
            // The network's clock is four minutes ahead.
            (vec![("x-unix", ahead.as_str()), ("date", date.as_str())], Some(60)),
            (vec![("x-unix", unix.as_str()), ("date", "soon")], Some(60)),
            (vec![], None),
        ] {
            let reply = test_server::reply(429, &headers, &json!({}));
            let found = retry_delay(&test_server::offline(), &reply, &resets);
            assert_eq!(found, seconds.map(Duration::from_secs), "{headers:?}");
        }
    }

    #[test]
    fn a_status_alone_says_enough() {
        for (status, kind) in [
            (302, ErrorKind::TargetGone),
            (400, ErrorKind::Rejected),
            (401, ErrorKind::Reconnect),
            (403, ErrorKind::PermissionMissing),
            (404, ErrorKind::TargetGone),
            (408, ErrorKind::Ambiguous),
            (413, ErrorKind::MediaRejected),
            (422, ErrorKind::Rejected),
            (429, ErrorKind::RateLimited),
            (500, ErrorKind::Server),
            (503, ErrorKind::Server),
        ] {
            let error =
                error_by_status("Net", &test_server::reply(status, &[], &json!({})), "why.");
            assert_eq!(error.kind, kind, "{status}");
            assert!(error.message.ends_with('.') && !error.message.ends_with(".."), "{status}");
        }
    }
}
