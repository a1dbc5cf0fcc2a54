//! A page of a list: a number of rows that fits into a reply.

use sea_orm::{DatabaseConnection, EntityTrait, QuerySelect, Select};

use crate::error::Result;

/// The most bytes of the rows of a page. A larger row is a page by itself.
pub(crate) const MAX_PAGE_BYTES: usize = 8 << 20;

/// The number of rows that are read at first. A page of the usual length is read at once, and of large rows not many
/// more are read than fit.
const FIRST_CHUNK: u64 = 25;

/// The most rows that are read at once.
const MAX_CHUNK: u64 = 1_000;

/// The limit of a page without a limit.
pub(crate) const ALL: u64 = u64::MAX - 1;

/// The rows of a page, and whether more follow.
pub(crate) struct Page<M> {
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
pub(crate) async fn read<E: EntityTrait>(
    db: &DatabaseConnection,
    limit: u64,
    after: impl Fn(Option<&E::Model>) -> Select<E>,
    size: impl Fn(&E::Model) -> usize,
) -> Result<Page<E::Model>> {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut rows, mut bytes) = (Vec::new(), 0);
    loop {
        let wanted = next_chunk(rows.len(), bytes).min(limit + 1 - rows.len() as u64);
        let read = after(rows.last()).limit(wanted).all(db).await?;
        let ended = (read.len() as u64) < wanted;
        for row in read {
            let size = size(&row);
            if rows.len() == most || (bytes + size > MAX_PAGE_BYTES && !rows.is_empty()) {
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
