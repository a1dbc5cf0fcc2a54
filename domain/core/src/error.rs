//! The errors that callers see.

mod codes;
pub mod refusal;
mod retry;

use std::ops::RangeInclusive;

pub use fanfare_platforms::{Fix, NextAction, Violation, Violations, excerpt};
use sea_orm::DbErr;

use self::refusal::{Refusal, RefusalDetails, RefusalReason, TransitionState};
pub use self::{codes::Code, retry::Retry};
use crate::json_size::json_size;

/// Result of a domain function.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The most characters of a message. Quoted input is already shortened; this keeps a reply small whatever it quotes.
const MAX_MESSAGE_CHARS: usize = 600;

/// The most bytes of the list of violations in a reply: a batch has a reply for each of its items.
const MAX_LISTED_BYTES: usize = 24 * 1024;

/// The same for a post set, whose targets all have their own.
const MAX_LISTED_BYTES_OF_TARGETS: usize = 512 * 1024;

/// The most violations of a post set that are listed.
const LISTED_OF_TARGETS: usize = 1_000;

/// An error reply. Everything in it can be shown to the caller; the cause of a bug is logged, not shown.
#[derive(Debug, Clone)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    code: Code,
    message: String,
    violations: Violations,
    details: RefusalDetails,
    state: TransitionState,
    retry_after: Option<u64>,
    is_conflict: bool,
    next: Vec<NextAction>,
    has_remedies: bool,
}

impl Error {
    /// Creates an error with a message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            message: truncated(message.into(), MAX_MESSAGE_CHARS),
            violations: Violations::default(),
            details: RefusalDetails::default(),
            state: TransitionState::default(),
            retry_after: None,
            is_conflict: false,
            next: Vec::new(),
            has_remedies: false,
        }))
    }

    /// Adds remedies: `put` completes the violations and returns the calls that help with the request as a whole.
    /// Without remedies no fix is shown, because it may not fit the body that was sent.
    #[must_use]
    pub fn with_remedies(mut self, put: impl FnOnce(&mut Violations) -> Vec<NextAction>) -> Self {
        self.0.next = put(&mut self.0.violations);
        self.0.has_remedies = true;
        self
    }

    /// Returns true if [`Self::with_remedies`] was called.
    #[must_use]
    pub const fn has_remedies(&self) -> bool {
        self.0.has_remedies
    }

    /// Returns true if the database aborted the transaction because of a conflict with another one: run again, it
    /// succeeds.
    #[must_use]
    pub const fn is_conflict(&self) -> bool {
        self.0.is_conflict
    }

    /// Fails if there are violations. The first one determines code and message.
    ///
    /// # Errors
    /// The violations, if there are any.
    pub fn check(violations: impl Into<Violations>) -> Result<()> {
        let violations = violations.into().truncated();
        let Some(first) = violations.first() else { return Ok(()) };
        let code = Code::named(first.code).unwrap_or(Code::InvalidField);
        let mut error = Self::new(code, first.message.clone());
        error.0.details.supported = supported_types(&violations);
        error.0.violations = violations;
        Err(error)
    }

    /// Creates the error for a post set with these violations, of which at least one stands at a target.
    #[must_use]
    pub fn targets_refused(violations: Vec<Violation>) -> Self {
        let first = violations.first().map(|first| first.message.clone()).unwrap_or_default();
        let count = violations.len();
        let message = match count {
            1 => first,
            _ => format!("{first} This is the first of {count} faults."),
        };
        let mut error = Self::new(Code::TargetsRefused, message);
        let mut listed = Violations::default();
        listed.append_all(violations.into_iter().take(LISTED_OF_TARGETS));
        if count > LISTED_OF_TARGETS {
            error.0.details.validation_errors_omitted = Some(count - LISTED_OF_TARGETS);
        }
        error.0.violations = listed;
        error
    }

    /// Adds the number of targets of a post set that would be accepted.
    #[must_use]
    pub fn with_valid_targets(mut self, count: usize) -> Self {
        self.0.details.valid_targets = Some(count);
        self
    }

    /// Merges `outcome` with violations that were found before, so that one reply reports all of them. Violations of
    /// fields that could not be parsed are left out of `outcome`.
    ///
    /// # Errors
    /// Both, or `outcome`'s own error if it is not about fields and there were no violations before.
    pub fn merge<T>(earlier: Violations, outcome: Result<T>) -> Result<T> {
        let mut later = match outcome {
            Ok(value) => return Self::check(earlier).map(|()| value),
            Err(error) if error.violations().is_empty() => {
                Self::check(earlier)?;
                return Err(error);
            }
            Err(error) => error.0.violations,
        };
        let unread =
            |one: &Violation| earlier.iter().any(|broken| is_within(&one.field, &broken.field));
        later.retain(|one| !unread(one));
        let mut all = earlier;
        all.append(later);
        Self::check(all)?;
        Err(Self::internal("an error about fields named none"))
    }

    /// Returns all values, or the violations of all of them.
    ///
    /// # Errors
    /// All violations together; otherwise the first error that is not about fields.
    pub fn all<T>(outcomes: Vec<Result<T>>) -> Result<Vec<T>> {
        let (mut values, mut broken, mut other) = (Vec::new(), Violations::default(), None);
        for outcome in outcomes {
            match outcome {
                Ok(value) => values.push(value),
                Err(error) if error.violations().is_empty() => other = other.or(Some(error)),
                Err(error) => broken.append(error.0.violations),
            }
        }
        Self::check(broken)?;
        other.map_or(Ok(values), Err)
    }

    /// Creates an error about one field.
    pub fn field(
        code: Code,
        field: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::violation(violation(code, field, message, remedy))
    }

    /// Creates an error with one violation.
    #[must_use]
    pub fn violation(violation: Violation) -> Self {
        let code = Code::named(violation.code).unwrap_or(Code::InvalidField);
        let mut error = Self::new(code, violation.message.clone());
        error.0.violations.push(violation);
        error
    }

    /// Adds details to the body.
    #[must_use]
    pub fn with_details(mut self, details: RefusalDetails) -> Self {
        self.0.details = details;
        self
    }

    /// Adds the current status of the resource, and the statuses that it can change to.
    #[must_use]
    pub fn with_state(mut self, status: &'static str, allowed: &'static [&'static str]) -> Self {
        self.0.state = TransitionState { status: Some(status), allowed: Some(allowed) };
        self
    }

    /// Returns the details of the error.
    #[must_use]
    pub fn details(&self) -> &RefusalDetails {
        &self.0.details
    }

    /// Adds a `Retry-After` in seconds.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// Creates an error for a bug or a broken dependency that the caller cannot do anything about; the cause is only
    /// logged.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        tracing::error!(%cause, "a request failed");
        Self::new(Code::InternalError, "Something went wrong on our side.")
    }

    /// Returns the code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.0.code.entry().status
    }

    /// Returns the seconds after which a retry makes sense, if that is known.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.0.retry_after
    }

    /// Returns the message for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the violations, if the error is about fields.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.0.violations
    }

    /// Returns the number of violations beyond those that are listed.
    #[must_use]
    pub fn unlisted_violations(&self) -> usize {
        self.0.violations.omitted()
    }

    /// Returns all violations.
    #[must_use]
    pub fn into_violations(self) -> Violations {
        self.0.violations
    }

    /// Returns the body without `request_id` and `doc_url`, which the API adds.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        Refusal { reason: self.reason(), state: self.0.state }
    }

    /// Returns the same without the state, which only `invalid_transition` has.
    #[must_use]
    pub fn reason(&self) -> RefusalReason {
        let entry = self.0.code.entry();
        let room = match self.0.code {
            Code::TargetsRefused => MAX_LISTED_BYTES_OF_TARGETS,
            _ => MAX_LISTED_BYTES,
        };
        let mut listed = listed_violations(&self.0.violations, room);
        if !self.0.has_remedies {
            listed.iter_mut().for_each(|one| one.fix.clear());
        }
        RefusalReason {
            error: self.0.message.clone(),
            code: entry.code,
            retryable: entry.retryable,
            retry: self.0.code.retry(),
            retry_after: self.0.retry_after,
            more_violations: self.0.violations.len() - listed.len() + self.unlisted_violations(),
            validation_errors: listed,
            next: self.0.next.clone(),
            details: RefusalDetails { remedy: Some(self.remedy()), ..self.0.details.clone() },
        }
    }

    /// Returns what to do: what is known of this error, or else what the catalogue says of its code.
    fn remedy(&self) -> String {
        let own = self.0.details.remedy.as_deref();
        let first = self.0.violations.first().map(|broken| broken.remedy.as_str());
        let known = own.or(first).filter(|remedy| !remedy.is_empty());
        known.unwrap_or(self.0.code.entry().remedy).to_owned()
    }
}

/// Returns the post types that a platform has, if another one was asked for.
fn supported_types(violations: &[Violation]) -> Option<Vec<String>> {
    let unsupported = Code::PostTypeUnsupported.entry().code;
    let refused = violations.iter().find(|one| one.code == unsupported)?;
    let types = refused.limit.as_ref()?.as_str()?;
    Some(types.split(", ").map(str::to_owned).collect())
}

/// Returns the violations that fit into a reply.
fn listed_violations(violations: &[Violation], mut room: usize) -> Vec<Violation> {
    let short = |violation: &Violation| Violation {
        field: excerpt(&violation.field).to_owned(),
        message: truncated(violation.message.clone(), MAX_MESSAGE_CHARS),
        remedy: truncated(violation.remedy.clone(), MAX_MESSAGE_CHARS),
        ..violation.clone()
    };
    violations
        .iter()
        .map(short)
        .take_while(|shown| {
            let size = json_size(shown) + 1;
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        })
        .collect()
}

/// Shortens a message to at most this many characters.
fn truncated(mut sentence: String, most: usize) -> String {
    if let Some((end, _)) = sentence.char_indices().nth(most) {
        sentence.truncate(end);
        sentence.push('…');
    }
    sentence
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.0.message, self.0.code.entry().code)
    }
}

impl std::error::Error for Error {}

/// A database that is away or full is `unavailable`; any other database error is a bug.
impl From<DbErr> for Error {
    fn from(error: DbErr) -> Self {
        if is_full(&error) {
            tracing::error!(%error, "the database has no room left; free some, and everything goes on");
            let message = "The service cannot store anything right now: its disk is full. Nothing of this was kept.";
            return Self::new(Code::Unavailable, message).with_retry_after(30);
        }
        if is_connection_trouble(&error) {
            tracing::warn!(%error, "the database is not reachable");
            return Self::new(Code::Unavailable, "The database is not reachable right now.")
                .with_retry_after(2);
        }
        if is_conflict(&error) {
            tracing::debug!(%error, "two transactions got in each other's way");
            let message = "Other changes got in the way; nothing of this was kept.";
            let mut conflict = Self::new(Code::Unavailable, message).with_retry_after(1);
            conflict.0.is_conflict = true;
            return conflict;
        }
        Self::internal(error)
    }
}

/// Returns true if the database gave a transaction up because of another one: PostgreSQL after a deadlock (40P01) or a
/// serialization failure (40001), SQLite after another process had the file for too long (5, and 517 for a snapshot
/// that is old by then). Nothing was written, and the transaction succeeds when it is run again.
fn is_conflict(error: &DbErr) -> bool {
    let Some(sea_orm::sqlx::Error::Database(error)) = driver_error(error) else { return false };
    error.code().is_some_and(|code| matches!(&*code, "40P01" | "40001" | "5" | "517"))
}

/// Returns true if the same statement may succeed later: the database is away, restarting or out of connections.
fn is_connection_trouble(error: &DbErr) -> bool {
    use sea_orm::sqlx::Error as Sqlx;
    match driver_error(error) {
        None => matches!(error, DbErr::ConnectionAcquire(_)),
        Some(Sqlx::Io(_) | Sqlx::PoolTimedOut | Sqlx::PoolClosed | Sqlx::WorkerCrashed) => true,
        // 57P0x: the server is stopping or starting; 08xxx: the connection broke; 53300: too many connections; 25P03:
        // the transaction was idle for too long, because this machine is overloaded.
        Some(Sqlx::Database(error)) => error.code().is_some_and(|code| {
            code.starts_with("57P") || code.starts_with("08") || code == "53300" || code == "25P03"
        }),
        Some(_) => false,
    }
}

/// Returns true if the disk is full: code 13 of SQLite, 53100 of PostgreSQL.
fn is_full(error: &DbErr) -> bool {
    let Some(sea_orm::sqlx::Error::Database(error)) = driver_error(error) else { return false };
    error.code().is_some_and(|code| code == "13" || code == "53100")
}

fn driver_error(error: &DbErr) -> Option<&sea_orm::sqlx::Error> {
    let (DbErr::Conn(cause) | DbErr::Exec(cause) | DbErr::Query(cause)) = error else {
        return None;
    };
    let sea_orm::RuntimeErr::SqlxError(cause) = cause else { return None };
    Some(cause)
}

/// Returns true for the field itself and for fields inside it.
fn is_within(field: &str, whole: &str) -> bool {
    let rest = field.strip_prefix(whole);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Returns the violation of a number that is not in its range.
#[must_use]
pub fn out_of_range(field: &str, given: i64, range: &RangeInclusive<i64>) -> Violation {
    let (least, most) = (*range.start(), *range.end());
    let message = format!("{field} is {given}; it may be {least} to {most}.");
    let remedy = format!("Send a number from {least} to {most}.");
    let limit = if given < least { least } else { most };
    violation(Code::InvalidField, field, message, remedy).with_limit(limit, given)
}

/// Returns the violation of a list that has too many entries, or none where it needs one.
#[must_use]
pub fn wrong_count(field: &str, count: usize, range: &RangeInclusive<usize>) -> Violation {
    let (least, most) = (*range.start(), *range.end());
    let may = if least == 0 { most.to_string() } else { format!("{least} to {most}") };
    let message = format!("{field} has {count} entries; it may have {may}.");
    let remedy = if least == 0 { format!("Send {most} at most.") } else { format!("Send {may}.") };
    let limit = if count < least { least } else { most };
    violation(Code::InvalidField, field, message, remedy)
        .with_limit(limit, count)
        .in_unit("entries")
}

/// Creates a violation, for lists of them.
pub fn violation(
    code: Code,
    field: impl Into<String>,
    message: impl Into<String>,
    remedy: impl Into<String>,
) -> Violation {
    Violation::new(field, code.entry().code, message, remedy)
}

#[cfg(test)]
mod tests {
    use sea_orm::ConnectionTrait;

    use super::*;
    use crate::db::Db;

    #[tokio::test]
    async fn a_full_disk_is_told_as_such() {
        let file = format!("fanfare-test-{}.db", uuid::Uuid::now_v7().simple());
        let file = std::env::temp_dir().join(file);
        let db = Db::open(&format!("sqlite://{}", file.display()), 1).await.unwrap();
        let run = async |sql: &str| db.write.execute_unprepared(sql).await;
        run("CREATE TABLE t (a TEXT)").await.unwrap();
        run("PRAGMA max_page_count = 4").await.unwrap();
        let full = run("INSERT INTO t VALUES (zeroblob(100000))").await.unwrap_err();
        let error = Error::from(full);
        assert_eq!((error.code(), error.retry_after_seconds()), (Code::Unavailable, Some(30)));
        run("PRAGMA max_page_count = 1000").await.unwrap();
        run("INSERT INTO t VALUES (zeroblob(100000))").await.unwrap();
        drop(db);
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", file.display()));
        }
    }
}
