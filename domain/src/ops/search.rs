//! Finding work among millions of rows, at a price that does not grow with them.
//!
//! A search that no index serves looks at the newest [`WINDOW`] rows below its cursor and says how far it came; the
//! next page goes on from there.

use fanfare_entities::{AccountId, Millis, WorkspaceId};
use sea_orm::{ConnectionTrait, FromQueryResult, Value};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    Domain,
    db::statement,
    error::{Code, Error, Result},
};

/// Rows of one page.
const PAGE: usize = 50;

/// Rows that one page looks at, at most, where no index helps.
pub const WINDOW: i64 = 100_000;

/// Kind of work to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Posts.
    #[default]
    Post,
    /// Webhook deliveries.
    Delivery,
    /// Media files to be copied.
    Copy,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Post, Self::Delivery, Self::Copy];

    /// As addresses and commands write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Post => "post",
            Self::Delivery => "delivery",
            Self::Copy => "copy",
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// [`Code::InvalidField`].
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name).ok_or_else(|| {
            let message = format!("There is no kind of work called {name:?}.");
            Error::field(Code::InvalidField, "kind", message, "Name post, delivery or copy.")
        })
    }

    /// The statuses its rows have.
    #[must_use]
    pub const fn statuses(self) -> &'static [&'static str] {
        match self {
            Self::Post => {
                &["draft", "scheduled", "paused", "publishing", "processing", "published", "failed"]
            }
            Self::Delivery => &["pending", "delivered", "failed"],
            Self::Copy => &["copying", "ready", "failed"],
        }
    }

    const fn table(self) -> &'static str {
        match self {
            Self::Post => "posts",
            Self::Delivery => "webhook_deliveries",
            Self::Copy => "media_assets",
        }
    }

    /// The columns of [`Found`].
    const fn columns(self) -> &'static str {
        match self {
            Self::Post => {
                "id, workspace_id, platform, account_id, status, scheduled_at, due_at, fencing_token, lease_expirations, attempt AS attempts, \
                 error ->> 'code' AS error, duplicate_risk, updated_at"
            }
            Self::Delivery => {
                "id, workspace_id, NULL AS platform, NULL AS account_id, status, NULL AS scheduled_at, due_at, \
                 fencing_token, lease_expirations, attempts, last_error AS error, 1 = 0 AS duplicate_risk, updated_at"
            }
            Self::Copy => {
                "id, workspace_id, NULL AS platform, NULL AS account_id, status, NULL AS scheduled_at, due_at, \
                 fencing_token, lease_expirations, attempts, error ->> 'code' AS error, 1 = 0 AS duplicate_risk, updated_at"
            }
        }
    }
}

/// The search terms.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Kind of work.
    pub kind: Kind,
    /// One row.
    pub id: Option<i64>,
    /// Its status.
    pub status: Option<String>,
    /// Network of a post.
    pub platform: Option<String>,
    /// Account of a post.
    pub account: Option<i64>,
    /// Its workspace.
    pub workspace: Option<Uuid>,
    /// Code of the error.
    pub error: Option<String>,
    /// The id at which the previous page ended.
    pub cursor: Option<i64>,
}

/// A row that was found.
#[derive(Debug, Clone, Serialize, FromQueryResult)]
pub struct Found {
    /// The row.
    pub id: i64,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// Network of a post.
    pub platform: Option<String>,
    /// Account of a post.
    pub account_id: Option<AccountId>,
    /// Its status.
    pub status: String,
    /// The time at which a post is to go out.
    pub scheduled_at: Option<Millis>,
    /// The time at which there is something to do; the end of the lease while it is held.
    pub due_at: Option<Millis>,
    /// Raised by every claim, finish and edit.
    pub fencing_token: i64,
    /// Claims in a row without a result.
    pub lease_expirations: i32,
    /// Tries so far.
    pub attempts: i32,
    /// Code of its error, or what went wrong.
    pub error: Option<String>,
    /// It may be public although it failed.
    pub duplicate_risk: bool,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

impl Found {
    /// Leases in a row that lapsed: the one that is held now has not.
    #[must_use]
    pub fn lapsed(&self, now: Millis) -> i32 {
        lapsed(self.lease_expirations, self.due_at, now)
    }
}

/// Leases in a row that lapsed, of a row that was claimed so often without a result.
pub(super) fn lapsed(lease_expirations: i32, due_at: Option<Millis>, now: Millis) -> i32 {
    (lease_expirations - i32::from(due_at.is_some_and(|until| until > now))).max(0)
}

/// A page.
#[derive(Debug, Clone, Serialize)]
pub struct Page {
    /// Newest first.
    pub rows: Vec<Found>,
    /// To be given back for older ones; `None` at the end.
    pub next: Option<i64>,
}

/// Searches.
///
/// # Errors
/// A filter that means nothing.
pub async fn find(cx: &Domain, query: &Query) -> Result<Page> {
    let mut wanted = Wanted::of(query)?;
    let conn = &cx.db.read;
    let top = match query.cursor {
        Some(cursor) => cursor,
        None => newest(cx, query.kind).await?.saturating_add(1),
    };
    wanted.and("id <", top.into());
    // An index leads straight to the rows of one id, account, workspace, or those that failed.
    let indexed = query.id.or(query.account).is_some()
        || query.workspace.is_some()
        || (query.kind == Kind::Post && query.status.as_deref() == Some("failed"));
    let floor = if indexed { i64::MIN } else { top.saturating_sub(WINDOW) };
    wanted.and("id >=", floor.into());
    let sql = format!(
        "SELECT {} FROM {} WHERE {} ORDER BY id DESC LIMIT {}",
        query.kind.columns(),
        query.kind.table(),
        wanted.sql.join(" AND "),
        PAGE + 1
    );
    let found = Found::find_by_statement(statement(conn, sql, wanted.values)).all(conn).await?;
    let mut rows: Vec<Found> = found;
    let more = rows.len() > PAGE;
    rows.truncate(PAGE);
    let next = if more { rows.last().map(|row| row.id) } else { Some(floor).filter(|id| *id > 1) };
    Ok(Page { rows, next })
}

async fn newest(cx: &Domain, kind: Kind) -> Result<i64> {
    let conn = &cx.db.read;
    let sql = format!("SELECT max(id) AS id FROM {}", kind.table());
    let row = conn.query_one_raw(statement(conn, sql, [])).await?;
    let id = row.map(|row| row.try_get::<Option<i64>>("", "id")).transpose();
    Ok(id?.flatten().unwrap_or(0))
}

/// Conditions with their parameters.
#[derive(Default)]
struct Wanted {
    sql: Vec<String>,
    values: Vec<Value>,
}

impl Wanted {
    fn of(query: &Query) -> Result<Self> {
        let mut wanted = Self::default();
        if let Some(id) = query.id {
            wanted.and("id =", id.into());
        }
        if let Some(status) = &query.status {
            wanted.sql.push(format!("status = '{}'", known_status(query.kind, status)?));
        }
        if let Some(workspace) = query.workspace {
            wanted.and("workspace_id =", workspace.into());
        }
        wanted.of_posts(query)?;
        match (&query.error, query.kind) {
            (None, _) => {}
            // A delivery has no codes: what went wrong is a sentence, and its beginning is searched for.
            (Some(text), Kind::Delivery) => wanted.begins(text),
            (Some(code), _) => wanted.and("error ->> 'code' =", code.as_str().into()),
        }
        Ok(wanted)
    }

    fn of_posts(&mut self, query: &Query) -> Result<()> {
        if query.kind != Kind::Post {
            return match (&query.platform, query.account) {
                (None, None) => Ok(()),
                _ => Err(Error::field(
                    Code::InvalidField,
                    "kind",
                    "Only posts have a platform and an account.",
                    "Leave them out, or search for posts.",
                )),
            };
        }
        if let Some(name) = &query.platform {
            let known: fanfare_platforms::PlatformId = name.parse().map_err(|error| {
                let remedy = "Name one of the platforms listed on the platforms page.";
                Error::field(Code::InvalidField, "platform", format!("{error}"), remedy)
            })?;
            self.and("platform =", known.as_str().into());
        }
        if let Some(account) = query.account {
            self.and("account_id =", account.into());
        }
        Ok(())
    }

    fn and(&mut self, condition: &str, value: Value) {
        self.values.push(value);
        self.sql.push(format!("{condition} ${}", self.values.len()));
    }

    fn begins(&mut self, text: &str) {
        self.values.push(text.into());
        let n = self.values.len();
        self.sql.push(format!("substr(last_error, 1, length(${n})) = ${n}"));
    }
}

/// The status as our own text: written into the statement, so that the index of failed posts serves it.
fn known_status(kind: Kind, name: &str) -> Result<&'static str> {
    let known = kind.statuses();
    known.iter().copied().find(|status| *status == name).ok_or_else(|| {
        let message = format!("There is no status called {name:?}.");
        Error::field(Code::InvalidField, "status", message, format!("Use {}.", known.join(", ")))
    })
}
