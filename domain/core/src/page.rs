//! A page of a list: a number of rows that fits into a reply.

use schemars::JsonSchema;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, EntityTrait, QuerySelect, QueryTrait, Select,
    sea_query::{Asterisk, Expr, Func, Query},
};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// The most bytes of the rows of a page. A larger row is a page by itself.
const MAX_PAGE_BYTES: usize = 8 << 20;

tokio::task_local! {
    /// The most bytes of a page in this task.
    static LIMIT: usize;
}

/// Runs `work`, whose pages have at most so many bytes.
pub async fn limited_to<F: Future>(bytes: usize, work: F) -> F::Output {
    LIMIT.scope(bytes, work).await
}

/// Returns the most bytes of the rows of a page.
pub fn max_bytes() -> usize {
    LIMIT.try_with(|limit| *limit).unwrap_or(MAX_PAGE_BYTES)
}

/// The number of rows that are read at first. A page of the usual length is read at once, and of large rows not many
/// more are read than fit.
const FIRST_CHUNK: u64 = 25;

/// The most rows that are read at once.
const MAX_CHUNK: u64 = 1_000;

/// The limit of a page without a limit.
pub const ALL: u64 = u64::MAX - 1;

/// Why a list is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EmptyBecause {
    /// There is nothing yet.
    NothingYet,
    /// There is something beyond the filter.
    Filtered,
    /// The page is after the last one.
    PastTheEnd,
    /// No account is connected.
    NoAccounts,
    /// None of the connected accounts is on a platform that has such things.
    NotOffered,
    /// The accounts did not grant what is needed to read them.
    PermissionMissing,
    /// The accounts have not been read yet.
    NotReadYet,
    /// None of the connected accounts is on a platform whose numbers can be read.
    NotMeasurable,
}

impl EmptyBecause {
    /// Returns why a page is empty. `any` is true if there is something that the caller can see without the filter, and
    /// `is_later` if the page does not begin with the first row.
    pub const fn of(any: bool, is_later: bool) -> Self {
        match (any, is_later) {
            (true, true) => Self::PastTheEnd,
            (true, false) => Self::Filtered,
            (false, _) => Self::NothingYet,
        }
    }
}

/// A list with the reason why it is empty, if it is: every operation that lists something answers with this.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Listed<T> {
    #[serde(flatten)]
    list: T,
    /// Why the list is empty; null if it is not.
    empty_because: Option<EmptyBecause>,
}

impl<T> Listed<T> {
    /// Creates a list.
    pub const fn new(list: T, empty_because: Option<EmptyBecause>) -> Self {
        Self { list, empty_because }
    }

    /// Returns the list.
    pub fn into_list(self) -> T {
        self.list
    }

    /// Creates a list without pages and filters, which is empty only if there is nothing yet.
    pub fn whole(is_empty: bool, list: T) -> Self {
        Self { list, empty_because: is_empty.then_some(EmptyBecause::NothingYet) }
    }
}

/// Returns why a page is empty; `None` if it is not. `all` selects what the caller can see without a filter, and `is_later`
/// says that the page does not begin with the first row.
///
/// # Errors
/// The database's.
pub async fn why_empty<E: EntityTrait>(
    db: &DatabaseConnection,
    (is_empty, is_later): (bool, bool),
    all: Select<E>,
) -> Result<Option<EmptyBecause>> {
    if !is_empty {
        return Ok(None);
    }
    let any = count_up_to(db, all, 1).await? > 0;
    Ok(Some(EmptyBecause::of(any, is_later)))
}

/// The rows of a page, and whether more follow.
pub struct Page<M> {
    /// The rows, in the list's order.
    pub rows: Vec<M>,
    /// The approximate number of bytes that they take in the reply.
    pub bytes: usize,
    /// True if more rows follow.
    pub more: bool,
}

impl<M> Page<M> {
    /// Returns the cursor of the next page, if there is one.
    pub fn next(&self, cursor: impl Fn(&M) -> String) -> Option<String> {
        self.rows.last().filter(|_| self.more).map(cursor)
    }
}

/// Reads a page of at most `limit` rows. `after` returns the list after a row, or from the start of the page; `size`
/// returns the approximate number of bytes that a row takes in the reply.
pub async fn read<E: EntityTrait>(
    db: &DatabaseConnection,
    limit: u64,
    after: impl Fn(Option<&E::Model>) -> Select<E>,
    size: impl Fn(&E::Model) -> usize,
) -> Result<Page<E::Model>> {
    let (most, max_bytes) = (usize::try_from(limit).unwrap_or(usize::MAX), max_bytes());
    let (mut rows, mut bytes) = (Vec::new(), 0);
    loop {
        let wanted = next_chunk(rows.len(), bytes).min(limit + 1 - rows.len() as u64);
        let read = after(rows.last()).limit(wanted).all(db).await?;
        let ended = (read.len() as u64) < wanted;
        for row in read {
            let size = size(&row);
            if rows.len() == most || (bytes + size > max_bytes && !rows.is_empty()) {
                return Ok(Page { rows, bytes, more: true });
            }
            bytes += size;
            rows.push(row);
        }
        if ended {
            return Ok(Page { rows, bytes, more: false });
        }
    }
}

/// The most rows that the total of a list counts: the last that its offset and limit can reach.
pub const COUNTED: u64 = 10_200;

/// Counts the rows of a list, at most `most` of them, since a count costs as much as reading them.
pub async fn count_up_to<E: EntityTrait>(
    db: &DatabaseConnection,
    list: Select<E>,
    most: u64,
) -> Result<u64> {
    let rows = list.select_only().expr_as(Expr::val(1), "found").limit(most).into_query();
    let count = Query::select()
        .expr_as(Func::count(Expr::col(Asterisk)), "rows")
        .from_subquery(rows, "counted")
        .to_owned();
    let row = db.query_one(&count).await?;
    let counted = row.map(|row| row.try_get::<i64>("", "rows")).transpose()?;
    Ok(counted.unwrap_or_default().unsigned_abs())
}

/// Returns the number of rows to read next: about as many as fit, estimated from the size of those before.
fn next_chunk(rows: usize, bytes: usize) -> u64 {
    if rows == 0 {
        return FIRST_CHUNK;
    }
    let average = (bytes / rows).max(1);
    ((MAX_PAGE_BYTES.saturating_sub(bytes) / average) as u64).clamp(FIRST_CHUNK, MAX_CHUNK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_rows_are_read_by_the_thousand_and_large_ones_few_at_a_time() {
        assert_eq!(next_chunk(0, 0), FIRST_CHUNK);
        assert_eq!(next_chunk(25, 25 * 500), MAX_CHUNK);
        assert_eq!(next_chunk(4, 4 << 20), FIRST_CHUNK);
        assert_eq!(next_chunk(25, 25 * 100_000), (MAX_PAGE_BYTES / 100_000 - 25) as u64);
    }
}
