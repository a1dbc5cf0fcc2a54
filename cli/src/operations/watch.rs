//! `fanfare watch`: prints the events of a workspace as they happen.

use std::{io::Write, time::Duration};

use anyhow::Result;
use clap::ArgMatches;
use serde_json::Value;

use super::{Exit, Shape, command, request::Request, send, send::Reply, show};

/// Prints events as they arrive, until standard output is closed.
///
/// # Errors
/// The service does not answer, or standard output cannot be written.
pub(super) async fn watch(matches: &ArgMatches) -> Result<Exit> {
    let mut after = match command::values_of(matches, "after").next() {
        Some(after) => after.clone(),
        None => match newest(matches).await? {
            Ok(newest) => newest.to_string(),
            Err(refused) => return show(&refused, matches, &Shape::default(), None),
        },
    };
    loop {
        let reply = events(matches, &after, 100).await?;
        if reply.status >= 400 {
            return show(&reply, matches, &Shape::default(), None);
        }
        let events = reply.body["events"].as_array().cloned().unwrap_or_default();
        if !print_events(&events, matches.get_flag("json"))? {
            return Ok(Exit::Fine);
        }
        let last = events.last().and_then(|event| event["sequence"].as_i64());
        match last {
            Some(last) => after = last.to_string(),
            None => tokio::time::sleep(Duration::from_secs(2)).await,
        }
    }
}

async fn events(matches: &ArgMatches, after: &str, limit: u32) -> Result<Reply> {
    let path = format!("/api/v1/events?after={after}&limit={limit}");
    send::as_user(&command::profile_options(matches), &Request::get(path)).await
}

/// Returns the number of the newest event, 0 if there is none, or the reply of an error.
async fn newest(matches: &ArgMatches) -> Result<std::result::Result<i64, Reply>> {
    let reply = events(matches, "0", 1).await?;
    if reply.status >= 400 {
        return Ok(Err(reply));
    }
    Ok(Ok(reply.body["latest_sequence"].as_i64().unwrap_or_default()))
}

/// Prints events, one a line; returns false if nobody reads them any more.
fn print_events(events: &[Value], as_json: bool) -> Result<bool> {
    for event in events {
        let text = |name: &str| event[name].as_str().unwrap_or_default();
        let line = match as_json {
            true => event.to_string(),
            false => {
                format!("{}\t{}\t{}", text("created_at"), text("type"), subjects(&event["data"]))
            }
        };
        match writeln!(std::io::stdout(), "{line}") {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(false),
            written => written?,
        }
    }
    Ok(true)
}

/// Returns the resources that an event is about: `post 12`.
fn subjects(data: &Value) -> String {
    let things = data.as_object().into_iter().flatten();
    let named = things.filter_map(|(name, thing)| match &thing["id"] {
        Value::String(id) => Some(format!("{name} {id}")),
        Value::Number(id) => Some(format!("{name} {id}")),
        _ => None,
    });
    named.collect::<Vec<_>>().join(", ")
}
