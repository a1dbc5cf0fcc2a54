//! Sets as pages show them.

use std::collections::BTreeMap;

use fanfare_core::{Act, error::Result};
use fanfare_entities::{PostSetId, post_set};

use super::{
    levels::{Origin, SetContent},
    read::{brands, find},
    rows::{TargetRow, content_of, targets_of},
};
use crate::platforms;

/// A set with its content and the targets that the caller sees.
pub struct WholeSet {
    /// The set.
    pub set: post_set::Model,
    /// The content that its targets have in common, and that for each platform.
    pub content: SetContent,
    /// Its targets, in order.
    pub targets: Vec<TargetRow>,
}

impl WholeSet {
    /// Finds a set.
    ///
    /// # Errors
    /// [`fanfare_core::Code::PostSetNotFound`].
    pub async fn find(act: &Act, id: PostSetId) -> Result<Self> {
        let (set, targets) = find(act, &act.cx.db.read, id).await?;
        Ok(Self { content: content_of(&set)?, set, targets })
    }

    /// Returns the shared text; empty without one.
    #[must_use]
    pub fn text(&self) -> &str {
        self.content.shared.caption.as_ref().and_then(Option::as_deref).unwrap_or_default()
    }

    /// Returns the addresses of the shared files.
    #[must_use]
    pub fn files(&self) -> &[String] {
        self.content.shared.media_urls.as_ref().and_then(Option::as_deref).unwrap_or_default()
    }

    /// Returns the text that a target has in place of the shared one; `None` if it has that.
    ///
    /// # Errors
    /// A column cannot be read.
    pub fn own_text(&self, target: &TargetRow) -> Result<Option<String>> {
        let platform = platforms::from_row(&target.post.platform)?;
        let effective = self.content.effective(&target.own()?, platform);
        let is_own =
            matches!(effective.from.get("caption"), Some(Origin::Target | Origin::Platform));
        Ok(is_own.then(|| effective.caption.unwrap_or_default()))
    }
}

/// Returns the targets of these sets that the caller sees, in their order. Their posts are without content.
///
/// # Errors
/// The database's.
pub async fn targets(act: &Act, sets: &[PostSetId]) -> Result<BTreeMap<PostSetId, Vec<TargetRow>>> {
    targets_of(&act.cx.db.read, sets, brands(act)).await
}
