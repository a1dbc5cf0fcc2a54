//! Posts that need a person's attention: it is unknown whether they went out, or they could not start in time.

use fanfare_core::{Domain, error::Result};

use super::search::{self, SearchQuery, WorkKind};

/// The reason why a post needs attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttentionReason {
    /// A call had no answer and could not be settled.
    Unknown,
    /// It could not start within the allowed lateness.
    Missed,
}

impl AttentionReason {
    /// Returns the code of the error.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unknown => "outcome_unknown",
            Self::Missed => "missed",
        }
    }
}

/// Returns the posts that need attention for this reason, newest first.
///
/// # Errors
/// The database's.
pub async fn list(
    cx: &Domain,
    why: AttentionReason,
    cursor: Option<i64>,
) -> Result<search::SearchPage> {
    let query = SearchQuery {
        kind: WorkKind::Post,
        status: Some("failed".to_owned()),
        error: Some(why.code().to_owned()),
        cursor,
        ..SearchQuery::default()
    };
    search::find(cx, &query).await
}
