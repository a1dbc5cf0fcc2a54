//! A page of a list: so many rows, and no more of them than a reply can hold.

use std::io;

use sea_orm::{DatabaseConnection, EntityTrait, QuerySelect, Select};
use serde::Serialize;

use crate::error::Result;

/// The most bytes of the rows of a page. A row that is larger is a page by itself.
const LARGEST: usize = 8 << 20;

/// Rows that are read in one go. A page of the usual length is read at once, and of large rows not many more are read than
/// fit.
const STRETCH: u64 = 25;

/// The rows of a page, and whether more follow.
pub(crate) struct Page<M> {
    /// The rows, in the list's order.
    pub rows: Vec<M>,
    /// More rows follow.
    pub more: bool,
}

impl<M> Page<M> {
    /// The cursor of the next page, if there is one.
    pub fn next(&self, cursor: impl Fn(&M) -> String) -> Option<String> {
        self.rows.last().filter(|_| self.more).map(cursor)
    }
}

/// Reads a page of at most `limit` rows. `after` is the list from behind a row on, or from where the page begins; `size` is
/// about how many bytes a row takes in the reply.
pub(crate) async fn read<E: EntityTrait>(
    db: &DatabaseConnection,
    limit: u64,
    after: impl Fn(Option<&E::Model>) -> Select<E>,
    size: impl Fn(&E::Model) -> usize,
) -> Result<Page<E::Model>> {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut rows, mut bytes) = (Vec::new(), 0);
    loop {
        let wanted = STRETCH.min(limit + 1 - rows.len() as u64);
        let stretch = after(rows.last()).limit(wanted).all(db).await?;
        let ended = (stretch.len() as u64) < wanted;
        for row in stretch {
            bytes += size(&row);
            if rows.len() == most || (bytes > LARGEST && !rows.is_empty()) {
                return Ok(Page { rows, more: true });
            }
            rows.push(row);
        }
        if ended {
            return Ok(Page { rows, more: false });
        }
    }
}

/// Returns the size of a value as JSON, in bytes.
pub(crate) fn size(value: &impl Serialize) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Nothing here fails: values have text keys, and the counter takes everything.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}
