//! Searches work among millions of rows, in a time that does not grow with their number.
//!
//! A search without an index checks the newest [`WINDOW`] rows below its cursor and returns how far it came; the next
//! page continues from there.

use fanfare_core::{
    Domain,
    db::statement,
    error::{Code, Error, Result},
};
use fanfare_entities::{AccountId, Millis, WorkspaceId};
use sea_orm::{ConnectionTrait, FromQueryResult, Value};
use serde::Serialize;
use uuid::Uuid;

/// The number of rows on a page.
const PAGE: usize = 50;

/// The most rows that one page checks if no index helps.
pub const WINDOW: i64 = 100_000;

/// The kind of work to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkKind {
    /// Posts.
    #[default]
    Post,
    /// Webhook deliveries.
    Delivery,
    /// Media files to be copied.
    Copy,
}

impl WorkKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Post, Self::Delivery, Self::Copy];

    /// Returns its name in addresses and commands.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Post => "post",
            Self::Delivery => "delivery",
            Self::Copy => "copy",
        }
    }

    /// Returns the kind with this name.
    ///
    /// # Errors
    /// [`Code::InvalidField`].
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name).ok_or_else(|| {
            let message = format!("There is no kind of work called {name:?}.");
            Error::field(Code::InvalidField, "kind", message, "Name post, delivery or copy.")
        })
    }

    /// Returns the statuses of its rows.
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

    /// Returns the columns of [`Found`].
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
pub struct SearchQuery {
    /// Kind of work.
    pub kind: WorkKind,
    /// One row.
    pub id: Option<i64>,
    /// Its status.
    pub status: Option<String>,
    /// Network of a post.
    pub platform: Option<String>,
    /// The class of the network of a post: what can be found out there after a lost answer.
    pub class: Option<String>,
    /// Account of a post.
    pub account: Option<i64>,
    /// Its workspace.
    pub workspace: Option<Uuid>,
    /// Code of the error.
    pub error: Option<String>,
    /// The id at which the previous page ended.
    pub cursor: Option<i64>,
}

impl SearchQuery {
    /// Returns true if nothing narrows the search within its kind. A cursor says where to go on, not what to find.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.id.is_none()
            && self.status.is_none()
            && self.platform.is_none()
            && self.class.is_none()
            && self.account.is_none()
            && self.workspace.is_none()
            && self.error.is_none()
    }
}

/// A row that was found.
#[derive(Debug, Clone, Serialize, FromQueryResult)]
pub struct SearchRow {
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
    /// The time at which it is due; the end of the lease while it is held.
    pub due_at: Option<Millis>,
    /// Raised by every claim, finish and edit.
    pub fencing_token: i64,
    /// Claims in a row without a result.
    pub lease_expirations: i32,
    /// The number of attempts so far.
    pub attempts: i32,
    /// The code of its error, or the error as text.
    pub error: Option<String>,
    /// True if it may be public although it failed.
    pub duplicate_risk: bool,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

impl SearchRow {
    /// Returns the number of leases in a row that expired, without the one that is held now.
    #[must_use]
    pub fn expired_leases(&self, now: Millis) -> i32 {
        expired_leases(self.lease_expirations, self.due_at, now)
    }
}

/// Returns the number of expired leases of a row that was claimed `lease_expirations` times without a result.
pub(super) fn expired_leases(lease_expirations: i32, due_at: Option<Millis>, now: Millis) -> i32 {
    (lease_expirations - i32::from(due_at.is_some_and(|until| until > now))).max(0)
}

/// A page of rows.
#[derive(Debug, Clone, Serialize)]
pub struct SearchPage {
    /// The rows, newest first.
    pub rows: Vec<SearchRow>,
    /// The cursor of the next page; `None` at the end.
    pub next: Option<i64>,
}

/// Returns a page of the rows that match a query.
///
/// # Errors
/// An invalid filter.
pub async fn find(cx: &Domain, query: &SearchQuery) -> Result<SearchPage> {
    let mut wanted = Conditions::of(query)?;
    let conn = &cx.db.read;
    let top = match query.cursor {
        Some(cursor) => cursor,
        None => newest(cx, query.kind).await?.saturating_add(1),
    };
    wanted.and("id <", top.into());
    // There is an index for one id, account or workspace, and for failed posts.
    let indexed = query.id.or(query.account).is_some()
        || query.workspace.is_some()
        || (query.kind == WorkKind::Post && query.status.as_deref() == Some("failed"));
    let floor = if indexed { i64::MIN } else { top.saturating_sub(WINDOW) };
    wanted.and("id >=", floor.into());
    let sql = format!(
        "SELECT {} FROM {} WHERE {} ORDER BY id DESC LIMIT {}",
        query.kind.columns(),
        query.kind.table(),
        wanted.sql.join(" AND "),
        PAGE + 1
    );
    let found = SearchRow::find_by_statement(statement(conn, sql, wanted.values)).all(conn).await?;
    let mut rows: Vec<SearchRow> = found;
    let more = rows.len() > PAGE;
    rows.truncate(PAGE);
    let next = if more { rows.last().map(|row| row.id) } else { Some(floor).filter(|id| *id > 1) };
    Ok(SearchPage { rows, next })
}

async fn newest(cx: &Domain, kind: WorkKind) -> Result<i64> {
    let conn = &cx.db.read;
    let sql = format!("SELECT max(id) AS id FROM {}", kind.table());
    let row = conn.query_one_raw(statement(conn, sql, [])).await?;
    let id = row.map(|row| row.try_get::<Option<i64>>("", "id")).transpose();
    Ok(id?.flatten().unwrap_or(0))
}

/// Conditions with their parameters.
#[derive(Default)]
struct Conditions {
    sql: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    fn of(query: &SearchQuery) -> Result<Self> {
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
            // A delivery has no error code but a sentence, which is searched by its beginning.
            (Some(text), WorkKind::Delivery) => wanted.begins(text),
            (Some(code), _) => wanted.and("error ->> 'code' =", code.as_str().into()),
        }
        Ok(wanted)
    }

    fn of_posts(&mut self, query: &SearchQuery) -> Result<()> {
        if query.kind != WorkKind::Post {
            return match (&query.platform, &query.class, query.account) {
                (None, None, None) => Ok(()),
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
        if let Some(name) = &query.class {
            let named: Vec<_> =
                networks_of_class(name)?.iter().map(|id| format!("'{id}'")).collect();
            self.sql.push(format!("platform IN ({})", named.join(", ")));
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

/// The classes of networks.
pub const CLASSES: [&str; 4] = ["key", "handle", "search", "blind"];

/// Returns the networks of a class.
fn networks_of_class(name: &str) -> Result<Vec<&'static str>> {
    if !CLASSES.contains(&name) {
        let message = format!("There is no class called {name:?}.");
        let remedy = format!("Use {}.", CLASSES.join(", "));
        return Err(Error::field(Code::InvalidField, "class", message, remedy));
    }
    let specs = fanfare_platforms::all().iter().map(|platform| platform.spec());
    let of_class = specs.filter(|spec| spec.recovery_class.as_str() == name);
    Ok(of_class.map(|spec| spec.id.as_str()).collect())
}

/// Returns the status as a constant, which is written into the statement so that the index of failed posts is used.
fn known_status(kind: WorkKind, name: &str) -> Result<&'static str> {
    let known = kind.statuses();
    known.iter().copied().find(|status| *status == name).ok_or_else(|| {
        let message = format!("There is no status called {name:?}.");
        Error::field(Code::InvalidField, "status", message, format!("Use {}.", known.join(", ")))
    })
}
