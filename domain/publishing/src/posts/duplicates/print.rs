//! What is compared of a post: its text, its links and its files.

use std::collections::{BTreeSet, HashMap};

use fanfare_core::{
    db::statement,
    error::{Result, refusal::Likeness},
    rows::Rows,
};
use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::measure::{Match, TextPrint, with_files};
use crate::posts::view::PostMedia;

/// The parts of a post that are compared.
#[derive(Debug, Clone, Default)]
pub struct Print {
    pub(super) text: TextPrint,
    pub(super) files: Vec<String>,
}

impl Print {
    /// Returns the print of a post with this text and these files. Files are known by the SHA-256 of their bytes; one that
    /// is not stored yet is known by its address.
    ///
    /// # Errors
    /// The database's.
    pub async fn of<C: ConnectionTrait>(
        conn: &C,
        caption: &str,
        media: &[PostMedia],
    ) -> Result<Self> {
        let digests = digests(conn, media).await?;
        Ok(Self { text: TextPrint::of(caption), files: names(media, &digests) })
    }

    /// Returns how much alike two posts are; `None` if they are not.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Likeness> {
        let texts: Match = self.text.compare(&other.text)?;
        with_files(texts, &self.files, &other.files)
    }

    /// Returns true if there is neither a word nor a link.
    #[must_use]
    pub fn is_without_text(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns true if there is something to compare.
    pub(super) fn says_something(&self) -> bool {
        !self.text.is_empty() || !self.files.is_empty()
    }
}

/// Returns the names under which files are compared, in an order of their own.
pub(super) fn names(media: &[PostMedia], digests: &HashMap<Uuid, String>) -> Vec<String> {
    let name = |file: &PostMedia| {
        let digest = file.asset_id.and_then(|uid| digests.get(&uid));
        digest.or(file.path.as_ref()).unwrap_or(&file.url).clone()
    };
    let mut names: Vec<_> = media.iter().map(name).collect();
    names.sort_unstable();
    names
}

/// Returns the digests of stored files.
pub(super) async fn digests<'a, C: ConnectionTrait>(
    conn: &C,
    media: impl IntoIterator<Item = &'a PostMedia>,
) -> Result<HashMap<Uuid, String>> {
    let uids: BTreeSet<Uuid> = media.into_iter().filter_map(|file| file.asset_id).collect();
    let mut digests = HashMap::new();
    if uids.is_empty() {
        return Ok(digests);
    }
    let rows = Rows::of_uuids(conn, uids);
    let sql = format!(
        "SELECT a.uid, a.digest FROM {} JOIN media_assets AS a ON a.uid = asked.id WHERE a.digest IS NOT NULL",
        rows.from("asked", 1)
    );
    for row in conn.query_all_raw(statement(conn, sql, rows.values())).await? {
        digests.insert(row.try_get("", "uid")?, row.try_get("", "digest")?);
    }
    Ok(digests)
}
