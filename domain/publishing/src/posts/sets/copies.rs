//! The remote files of a set: each is fetched once, however many targets use it.

use std::collections::BTreeMap;

use fanfare_core::{
    Act,
    error::{Error, Result},
};
use futures_util::future;

use super::{
    check::Checked,
    levels::{Level, SetContent},
};
use crate::posts::{media, view::PostMedia};

/// The copies of remote files by their addresses: each is fetched once, however many targets use it.
pub type Copies = BTreeMap<String, Result<PostMedia>>;

/// Copies the files of these targets.
///
/// # Errors
/// As for [`copy_once`].
pub async fn copy_files(act: &Act, checked: &[Checked]) -> Result<Copies> {
    let files = checked.iter().flat_map(|one| &one.examined.content.media).cloned();
    copy_once(act, files.collect()).await
}

/// Copies each of these files that is not ours yet.
///
/// # Errors
/// An error that is not about a file, such as a copy that takes longer than a request may.
pub async fn copy_once(act: &Act, files: Vec<PostMedia>) -> Result<Copies> {
    let remote = files.into_iter().filter(|file| file.path.is_none());
    let remote: BTreeMap<String, PostMedia> = remote.map(|file| (file.url.clone(), file)).collect();
    let copies = remote.into_iter().map(|(url, file)| async move {
        let copied = media::copy_remote(act, vec![file]).await;
        let copied = copied.and_then(|mut one| {
            one.pop().ok_or_else(|| Error::internal("a copied file is missing"))
        });
        (url, copied)
    });
    let copies: Copies = future::join_all(copies).await.into_iter().collect();
    for error in copies.values().filter_map(|copy| copy.as_ref().err()) {
        if error.violations().is_empty() {
            return Err(error.clone());
        }
    }
    Ok(copies)
}

/// Replaces files by their copies.
///
/// # Errors
/// Why a file could not be copied.
pub fn copied(files: &[PostMedia], copies: &Copies) -> Result<Vec<PostMedia>> {
    let copy = |file: &PostMedia| match copies.get(&file.url) {
        Some(copy) => copy.clone(),
        None => Ok(file.clone()),
    };
    files.iter().map(copy).collect()
}

/// Returns the content with the addresses of copies in place of those they were made from.
pub fn with_copies(content: &SetContent, copies: &Copies) -> SetContent {
    let per_platform = content.per_platform.iter();
    SetContent {
        shared: level_with_copies(&content.shared, copies),
        per_platform: per_platform
            .map(|(name, level)| (name.clone(), level_with_copies(level, copies)))
            .collect(),
    }
}

/// The same for one level.
#[must_use]
pub fn level_with_copies(level: &Level, copies: &Copies) -> Level {
    let mut level = level.clone();
    for url in level.media_urls.iter_mut().flatten().flatten() {
        if let Some(Ok(copy)) = copies.get(url) {
            url.clone_from(&copy.url);
        }
    }
    level
}
