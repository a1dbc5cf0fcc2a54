//! The commands that only show information.

use anyhow::Result;
use fanfare_core::Domain;
use fanfare_entities::Millis;
use fanfare_ops::ops::{
    audit, failing_webhooks, fleet, networks, pauses, queues,
    search::{self, SearchQuery, WorkKind},
    story::{self, Story},
};
use serde_json::{Value, json};

use super::{
    Filter,
    table::{maybe, plain, print, time},
};
use crate::commands::say;

impl Filter {
    /// Returns true if no option of it is given.
    pub const fn is_empty(&self) -> bool {
        self.kind.is_none()
            && self.id.is_none()
            && self.status.is_none()
            && self.platform.is_none()
            && self.class.is_none()
            && self.account.is_none()
            && self.workspace.is_none()
            && self.error.is_none()
            && self.cursor.is_none()
    }

    /// Returns the filter as a search.
    pub fn query(&self) -> Result<SearchQuery> {
        Ok(SearchQuery {
            kind: self.kind.as_deref().map_or(Ok(WorkKind::default()), WorkKind::named)?,
            id: self.id,
            status: self.status.clone(),
            platform: self.platform.clone(),
            class: self.class.clone(),
            account: self.account,
            workspace: self.workspace,
            error: self.error.clone(),
            cursor: self.cursor,
        })
    }
}

pub async fn queues(cx: &Domain, json: bool) -> Result<()> {
    let queues = queues::list(cx).await?;
    let rows: Vec<_> = queues
        .iter()
        .map(|queue| {
            vec![
                queue.name(),
                queue.depth.to_string(),
                maybe(queue.oldest.map(|ms| format!("{} s", ms / 1_000))),
                late(queue.p50),
                late(queue.p99),
                queue.done.to_string(),
                queue.failed.to_string(),
                queue.retried.to_string(),
            ]
        })
        .collect();
    let heads =
        ["queue", "due", "oldest", "late p50", "late p99", "done 1h", "failed 1h", "retried 1h"];
    print(json, &queues, &heads, &rows)
}

fn late(ms: Option<Millis>) -> String {
    match ms {
        None => "-".to_owned(),
        Some(Millis::MAX) => "> 600000 ms".to_owned(),
        Some(ms) => format!("<= {ms} ms"),
    }
}

pub async fn work(cx: &Domain, query: &SearchQuery, json: bool) -> Result<()> {
    let page = search::find(cx, query).await?;
    let rows: Vec<_> = page
        .rows
        .iter()
        .map(|row| {
            vec![
                row.id.to_string(),
                maybe(row.platform.as_ref()),
                maybe(row.account_id),
                row.status.clone(),
                time(row.scheduled_at),
                time(row.due_at),
                row.attempts.to_string(),
                row.error
                    .as_deref()
                    .map_or("-".to_owned(), |error| error.chars().take(40).collect()),
            ]
        })
        .collect();
    let heads = ["id", "platform", "account", "status", "scheduled", "due", "attempts", "error"];
    print(json, &page, &heads, &rows)?;
    if let (Some(next), false) = (page.next, json) {
        say(format_args!("older: --cursor {next}"));
    }
    Ok(())
}

pub async fn story(cx: &Domain, kind: &str, id: i64, json: bool) -> Result<()> {
    let story = story::story(cx, WorkKind::named(kind)?, id).await?;
    if json {
        say(serde_json::to_string_pretty(&story)?);
        return Ok(());
    }
    for line in lines(&story) {
        say(plain(&line));
    }
    Ok(())
}

fn lines(story: &Story) -> Vec<String> {
    let mut lines =
        vec![format!("{}: {}", story.title, story.status), format!("Next: {}", story.next)];
    let facts = story.facts.iter().filter(|(_, value)| !value.is_empty());
    lines.extend(facts.map(|(name, value)| format!("{name}: {value}")));
    let times = story.times.iter().filter(|(_, at)| at.is_some());
    lines.extend(times.map(|(name, at)| format!("{name}: {}", time(*at))));
    lines.extend(story.error.as_ref().map(|error| format!("Error: {error}")));
    lines.extend(story.post.map(|post| format!("It is about post {post}.")));
    for attempt in &story.attempts {
        let outcome = attempt.outcome.as_deref().unwrap_or("running");
        let (from, to) = (time(Some(attempt.started_at)), time(attempt.ended_at));
        let (number, worker) = (attempt.number, &attempt.worker);
        lines.push(format!("Attempt {number}: {outcome}, {from} to {to}, by {worker}"));
        lines.extend(attempt.steps.as_array().into_iter().flatten().map(step));
    }
    for event in &story.events {
        lines.push(format!("{} {}: {}", time(Some(event.at)), event.event_type, event.message));
    }
    for one in &story.deliveries {
        lines.push(format!("  to {}: {}, {} attempts", one.address, one.status, one.tries));
    }
    lines
}

fn step(step: &Value) -> String {
    let text = |key: &str| step[key].as_str().unwrap_or("-");
    let (name, phase, id) = (text("name"), text("phase"), text("remote_id"));
    format!("  {name} ({phase}): {} to {}, id {id}", text("started_at"), text("ended_at"))
}

pub async fn fleet(cx: &Domain, json: bool) -> Result<()> {
    let (fleet, now) = (fleet::list(cx).await?, cx.clock.now());
    let rows: Vec<_> = fleet
        .iter()
        .map(|worker| {
            let oldest = worker.running.first();
            vec![
                worker.name.clone(),
                worker.state.as_str().to_owned(),
                worker.version.clone(),
                worker.queues.clone(),
                worker.running_count.to_string(),
                worker.slots.to_string(),
                oldest.map_or("-".to_owned(), |row| {
                    format!("{} {} for {} s", row.kind, row.id, (now - row.since) / 1_000)
                }),
                format!("{} s ago", (now - worker.seen_at) / 1_000),
            ]
        })
        .collect();
    print(
        json,
        &fleet,
        &["worker", "state", "version", "queues", "running", "slots", "oldest", "last report"],
        &rows,
    )
}

pub async fn platforms(cx: &Domain, json: bool) -> Result<()> {
    let (networks, pauses) = (networks::list(cx).await?, pauses::list(cx).await?);
    if json {
        say(serde_json::to_string_pretty(&json!({"platforms": networks, "pauses": pauses}))?);
        return Ok(());
    }
    let rows: Vec<_> = networks
        .iter()
        .map(|network| {
            let share = |share: Option<f64>| {
                share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0))
            };
            let errors: Vec<_> =
                network.day.errors.iter().map(|(code, n)| format!("{code} {n}")).collect();
            vec![
                network.platform.clone(),
                network.connected.to_string(),
                share(network.hour.success_rate()),
                share(network.day.success_rate()),
                errors.join(", "),
                share(network.budget.as_ref().map(networks::Budget::share)),
                match (network.api_version, network.api_days_left) {
                    (Some(version), Some(days)) => format!("{version}, {days} d left"),
                    (version, _) => version.unwrap_or("-").to_owned(),
                },
            ]
        })
        .collect();
    print(
        false,
        &networks,
        &["platform", "accounts", "success 1h", "success 24h", "errors 24h", "budget used", "api"],
        &rows,
    )?;
    let rows: Vec<_> = pauses
        .iter()
        .map(|pause| {
            vec![
                pause.target.clone(),
                pause.reason.clone(),
                pause.operator.clone(),
                time(Some(pause.since)),
                pause.held.to_string(),
            ]
        })
        .collect();
    print(false, &pauses, &["paused", "why", "who", "since", "posts waiting"], &rows)
}

pub async fn webhooks(cx: &Domain, json: bool) -> Result<()> {
    let failing = failing_webhooks::list(cx).await?;
    let rows: Vec<_> = failing
        .iter()
        .map(|hook| {
            let state = if hook.enabled { "failing" } else { "disabled" };
            vec![
                hook.id.to_string(),
                hook.address.clone(),
                state.to_owned(),
                time(hook.failing_since),
                hook.pending.to_string(),
                hook.failed.to_string(),
                maybe(hook.last_status),
            ]
        })
        .collect();
    let heads = ["webhook", "receiver", "state", "failing since", "waiting", "given up", "answer"];
    print(json, &failing, &heads, &rows)
}

pub async fn audit(cx: &Domain, before: Option<i64>, json: bool) -> Result<()> {
    let page = audit::list(cx, before).await?;
    let rows: Vec<_> = page
        .entries
        .iter()
        .map(|entry| {
            vec![
                entry.id.to_string(),
                time(Some(entry.at)),
                entry.operator.clone(),
                entry.action.clone(),
                entry.target.clone(),
                entry.reason.clone(),
                entry.outcome.clone(),
            ]
        })
        .collect();
    print(json, &page, &["id", "when", "who", "what", "on", "why", "outcome"], &rows)?;
    if let (Some(next), false) = (page.next, json) {
        say(format_args!("older: --before {next}"));
    }
    Ok(())
}
