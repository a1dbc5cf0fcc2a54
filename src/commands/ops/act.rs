//! The commands that change something: they show a preview, and act only with `--yes` and a reason.

use anyhow::{Result, bail};
use fanfare_core::{Domain, PostId, WebhookId};
use fanfare_ops::ops::{self, Action, Order, Preview};
use serde_json::json;
use uuid::Uuid;

use super::{ActionArgs, Command, table::print};
use crate::commands::{say, shell_actor};

/// Shows what an action would do, or carries it out.
pub async fn run(cx: &Domain, command: Command, json: bool) -> Result<()> {
    let mut found = None;
    let (action, why) = match command {
        Command::Drain { worker, undo: false, why } => (Action::Drain(worker), why),
        Command::Drain { worker, undo: true, why } => (Action::Wake(worker), why),
        Command::Pause { target, why } => (Action::Pause(target.parse()?), why),
        Command::Resume { target, why } => (Action::Resume(target.parse()?), why),
        Command::Replay { webhook, why } => (Action::Replay(WebhookId(webhook)), why),
        Command::Retry { ids, filter, risky, why } => {
            let posts = if ids.is_empty() {
                found.insert(ops::candidates(cx, filter.query()?).await?).posts.clone()
            } else if filter.is_empty() {
                ids.into_iter().map(PostId).collect()
            } else {
                bail!("name posts or a filter that finds them, not both");
            };
            (Action::Retry { posts, risky: risky.into_iter().map(PostId).collect() }, why)
        }
        _ => bail!("this command only shows information"),
    };
    if !why.yes {
        let preview = match &found {
            Some(found) => ops::preview_found(cx, found).await?,
            None => ops::preview(cx, &action).await?,
        };
        return show(&preview, &action, why.reason.is_some(), json);
    }
    Box::pin(carry_out(cx, action, why, json)).await
}

async fn carry_out(cx: &Domain, action: Action, why: ActionArgs, json: bool) -> Result<()> {
    let Some(reason) = why.reason else {
        bail!("give a reason with --reason; it is written to the audit log");
    };
    let order = Order { id: Uuid::now_v7(), action, reason };
    let done = ops::perform(cx, &shell_actor(), order).await?;
    say(if json { serde_json::to_string_pretty(&done)? } else { done.outcome });
    Ok(())
}

fn show(preview: &Preview, action: &Action, has_reason: bool, json: bool) -> Result<()> {
    let is_accepted =
        |id: &PostId| matches!(action, Action::Retry { risky, .. } if risky.contains(id));
    if json {
        say(serde_json::to_string_pretty(&json!({ "would": preview }))?);
        return Ok(());
    }
    say(&preview.question);
    for sentence in &preview.consequences {
        say(sentence);
    }
    if !preview.rows.is_empty() {
        let rows: Vec<_> = preview
            .rows
            .iter()
            .map(|row| {
                let what = match (&row.left_out, row.risky) {
                    (Some(why), _) => format!("left out: {why}"),
                    (None, true) if !is_accepted(&row.id) => {
                        format!("left out unless --accept-risk-of {}", row.id)
                    }
                    (None, _) => "sent again".to_owned(),
                };
                let but =
                    row.warning.as_ref().map(|warning| format!(", but likely to fail: {warning}"));
                let what = what + but.as_deref().unwrap_or_default();
                vec![row.id.to_string(), row.what.clone(), row.error.clone(), what]
            })
            .collect();
        print(false, preview, &["post", "where", "error", "what is done"], &rows)?;
    }
    say(match has_reason {
        true => "Nothing was done. Add --yes to do it.",
        false => "Nothing was done. Add --yes and --reason to do it.",
    });
    Ok(())
}
