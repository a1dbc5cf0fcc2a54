//! A connect session as its creator sees it.

use fanfare_entities::{
    account,
    connect_session::{ConnectStatus, Model},
};
use fanfare_platforms::{self as platforms, Connect, PlatformId};
use sea_orm::{ColumnTrait, QueryFilter};
use serde_json::{Value, json};

use super::FINISHING;
use crate::{Act, Code, clock::show, error::Result};

/// The record.
pub(super) async fn view(act: &Act, row: &Model) -> Result<Value> {
    let platform = crate::posts::platform(&row.platform)?;
    let spec = platforms::find(platform).spec();
    let accounts = super::super::visible(act)
        .filter(account::Column::Platform.eq(row.platform.as_str()))
        .all(&act.cx.db.read)
        .await?;
    let ids: Vec<i64> = serde_json::from_value(row.account_ids.clone()).unwrap_or_default();
    let own: Vec<_> = accounts.iter().filter(|account| ids.contains(&account.id.0)).collect();
    let names: Vec<_> = own.iter().map(|account| account.username.as_str()).collect();
    let shown = own.iter().map(
        |account| json!({"id": account.id, "platform": account.platform, "username": account.username}),
    );
    let base = &act.cx.settings.base_url;
    Ok(json!({
        "id": row.id,
        "platform": row.platform,
        "method": method(&spec.connect),
        "status": name(row.status),
        "status_message": narrate(row, spec.label, &names, act.cx.clock.now()),
        "connect_url": page(base, row),
        "poll_url": format!("{base}/api/v1/connect/sessions/{}", row.id),
        "connected_count": accounts.len(),
        "workspace_id": row.workspace_id,
        "workspace_client_id": row.brand_id,
        "sandbox": row.sandbox,
        "auto_start": row.auto_start,
        "accounts": shown.collect::<Vec<_>>(),
        "error": error(row),
        "created_at": show(row.created_at),
        "expires_at": show(row.expires_at),
    }))
}

/// The page for the person.
fn page(base: &str, row: &Model) -> String {
    format!("{base}/connect/sessions/{}", row.id)
}

/// The page at which a person begins without a session.
pub(in crate::accounts) fn start_page(base: &str, platform: PlatformId) -> String {
    format!("{base}/connect/{platform}")
}

pub(in crate::accounts) const fn method(connect: &Connect) -> &'static str {
    match connect {
        Connect::Credentials(_) => "manual_credentials",
        Connect::Oauth(_) => "dashboard_oauth",
    }
}

fn error(row: &Model) -> Option<Value> {
    let code = Code::named(row.error_code.as_deref()?)?.entry();
    Some(json!({
        "code": code.code, "message": row.note, "retryable": code.retryable, "remedy": code.remedy,
    }))
}

/// A status's name.
pub(super) const fn name(status: ConnectStatus) -> &'static str {
    match status {
        ConnectStatus::Created => "created",
        ConnectStatus::Opened => "opened",
        ConnectStatus::AwaitingProvider => "awaiting_provider",
        ConnectStatus::AwaitingCredentials => "awaiting_credentials",
        ConnectStatus::Connected => "connected",
        ConnectStatus::Failed => "failed",
        ConnectStatus::Cancelled => "cancelled",
        ConnectStatus::Expired => "expired",
    }
}

/// Returns the progress of a session as a sentence.
fn narrate(row: &Model, label: &str, accounts: &[&str], now: fanfare_entities::Millis) -> String {
    match row.status {
        ConnectStatus::Created => {
            format!("Open the link and log in to connect {label}. It is good for 30 minutes.")
        }
        ConnectStatus::Opened => {
            format!("The link is open in a browser. The next step there leads on to {label}.")
        }
        ConnectStatus::AwaitingCredentials => {
            format!(
                "The link is open in a browser. {label} is connected as soon as the form there is filled in."
            )
        }
        ConnectStatus::AwaitingProvider => awaiting(row, label, now),
        ConnectStatus::Connected if accounts.is_empty() => format!("{label} was connected."),
        ConnectStatus::Connected => format!("{label} is connected as {}.", and(accounts)),
        ConnectStatus::Failed => {
            let why = row.note.as_deref().unwrap_or("Something went wrong.");
            format!("{label} could not be connected. {why}")
        }
        ConnectStatus::Cancelled => {
            let why = row.note.as_deref().unwrap_or("It was cancelled.");
            format!("{why} Nothing was connected.")
        }
        ConnectStatus::Expired => {
            format!(
                "The link has expired, and {label} was not connected. Start again for a new one."
            )
        }
    }
}

fn awaiting(row: &Model, label: &str, now: fanfare_entities::Millis) -> String {
    match (row.choices.as_ref().and_then(Value::as_array), row.taken_at) {
        (Some(choices), _) => {
            let count = choices.len();
            format!(
                "{label} has granted access to {count} accounts. Choose in the browser which to connect."
            )
        }
        (None, None) => {
            format!("{label} is open in a browser. Grant access there to go on.")
        }
        (None, Some(at)) if at + FINISHING > now => {
            format!("{label} has granted access. The connection is being finished.")
        }
        (None, Some(_)) => {
            format!(
                "The connection was interrupted before it was finished. Open the link again and go on to {label} once more."
            )
        }
    }
}

/// Names in a sentence.
fn and(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::and;

    #[test]
    fn names_read_like_a_sentence() {
        assert_eq!(
            [and(&["a"]), and(&["a", "b"]), and(&["a", "b", "c"])],
            ["a", "a and b", "a, b and c"]
        );
    }
}
