//! A connect session as replies show it.

use fanfare_core::{Act, Code, Reply, clock::Time, error::Result};
use fanfare_entities::{
    BrandId, ConnectSessionId, WorkspaceId, account,
    connect_session::{ConnectStatus, Model},
};
use fanfare_platforms::{self as platforms, ConnectSpec, PlatformId};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, PaginatorTrait, QueryFilter, QueryOrder};
use serde::Serialize;
use serde_json::Value;

use super::{super::connect::ConnectedAccount, FINISHING_TIMEOUT, links};

/// A connection that a user makes in a browser.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConnectSession {
    id: ConnectSessionId,
    platform: String,
    method: Method,
    status: ConnectStatus,
    /// The status in a sentence.
    pub(super) status_message: String,
    /// The page for the user.
    connect_url: String,
    /// The address to poll.
    poll_url: String,
    /// The number of connected accounts of the platform.
    connected_count: usize,
    workspace_id: WorkspaceId,
    /// Brand of the connected account.
    workspace_client_id: Option<BrandId>,
    sandbox: bool,
    auto_start: bool,
    /// The address that the person is sent back to.
    return_url: Option<String>,
    /// The text by which you know the person.
    reference: Option<String>,
    /// The name of the program that the page shows.
    app_name: Option<String>,
    /// True if the link needs no account of this service.
    guest: bool,
    /// The accounts that it connected.
    accounts: Vec<ConnectedAccount>,
    /// The reason why it failed or was cancelled.
    error: Option<ConnectSessionError>,
    created_at: Time,
    expires_at: Time,
}

/// The reason why a connect session failed or was cancelled.
#[derive(Debug, Serialize, JsonSchema)]
struct ConnectSessionError {
    /// A code of `/docs/errors`.
    code: &'static str,
    /// A description for people.
    message: Option<String>,
    retryable: bool,
    remedy: &'static str,
}

/// The way in which an account is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ConnectMethod")]
pub enum Method {
    /// A user connects in a browser, at the platform.
    DashboardOauth,
    /// The account is connected with credentials.
    ManualCredentials,
}

/// One connect session.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneSession {
    connect_session: ConnectSession,
}

/// Returns the reply with a session.
pub(super) async fn reply(act: &Act, row: &Model) -> Result<Reply<OneSession>> {
    Ok(Reply::ok(&OneSession { connect_session: view(act, row).await? }))
}

/// Returns a session as replies show it.
pub(super) async fn view(act: &Act, row: &Model) -> Result<ConnectSession> {
    let platform = crate::platforms::from_row(&row.platform)?;
    let spec = platforms::find(platform).spec();
    let of_platform = || {
        let accounts = super::super::visible(act);
        accounts.filter(account::Column::Platform.eq(row.platform.as_str()))
    };
    let connected = of_platform().count(&act.cx.db.read).await?;
    let ids: Vec<i64> = serde_json::from_value(row.account_ids.clone()).unwrap_or_default();
    let own = of_platform().filter(account::Column::Id.is_in(ids));
    let own = own.order_by_asc(account::Column::Id).all(&act.cx.db.read).await?;
    let names: Vec<_> = own.iter().map(|account| account.username.as_str()).collect();
    let status_message = status_sentence(row, spec.label, &names, act.cx.clock.now());
    let base = &act.cx.settings.base_url;
    let connect_url = links::address(&act.cx, row)?;
    Ok(ConnectSession {
        id: row.id,
        platform: row.platform.clone(),
        method: method(&spec.connect),
        status: row.status,
        status_message,
        connect_url,
        poll_url: format!("{base}/api/v1/connect/sessions/{}", row.id),
        connected_count: usize::try_from(connected).unwrap_or(usize::MAX),
        workspace_id: row.workspace_id,
        workspace_client_id: row.brand_id,
        sandbox: row.sandbox,
        auto_start: row.auto_start,
        return_url: row.return_url.clone(),
        reference: row.reference.clone(),
        app_name: row.app_name.clone(),
        guest: row.guest,
        accounts: own.into_iter().map(ConnectedAccount::of).collect(),
        error: error(row),
        created_at: Time(row.created_at),
        expires_at: Time(row.expires_at),
    })
}

/// Returns the address of the page for the user.
pub(super) fn page(base: &str, row: &Model) -> String {
    format!("{base}/connect/sessions/{}", row.id)
}

/// Returns the page on which a user starts without a session.
pub(in crate::accounts) fn start_page(base: &str, platform: PlatformId) -> String {
    format!("{base}/connect/{platform}")
}

pub(in crate::accounts) const fn method(connect: &ConnectSpec) -> Method {
    match connect {
        ConnectSpec::Credentials(_) => Method::ManualCredentials,
        ConnectSpec::Oauth(_) => Method::DashboardOauth,
    }
}

fn error(row: &Model) -> Option<ConnectSessionError> {
    let code = Code::named(row.error_code.as_deref()?)?.entry();
    Some(ConnectSessionError {
        code: code.code,
        message: row.note.clone(),
        retryable: code.retryable,
        remedy: code.remedy,
    })
}

/// Returns the name of a status.
pub(super) const fn status_name(status: ConnectStatus) -> &'static str {
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

/// Describes the progress of a session in a sentence.
fn status_sentence(
    row: &Model,
    label: &str,
    accounts: &[&str],
    now: fanfare_entities::Millis,
) -> String {
    match row.status {
        ConnectStatus::Created if row.guest => {
            format!(
                "Open the link to connect {label}. It is good for 30 minutes, and in one browser."
            )
        }
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
        ConnectStatus::Connected => format!("{label} is connected as {}.", join_names(accounts)),
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
        (None, Some(at)) if at + FINISHING_TIMEOUT > now => {
            format!("{label} has granted access. The connection is being finished.")
        }
        (None, Some(_)) => {
            format!(
                "The connection was interrupted before it was finished. Open the link again and go on to {label} once more."
            )
        }
    }
}

/// Joins names for a sentence.
fn join_names(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::join_names;

    #[test]
    fn names_read_like_a_sentence() {
        assert_eq!(
            [join_names(&["a"]), join_names(&["a", "b"]), join_names(&["a", "b", "c"])],
            ["a", "a and b", "a, b and c"]
        );
    }
}
