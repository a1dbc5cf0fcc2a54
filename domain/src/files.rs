//! Stored media files, as they are served.

use std::ops::Range;

use fanfare_media::Error as StoreError;
pub use fanfare_media::{Stat, Stored};

use crate::{
    Domain,
    error::{Code, Error, Result},
};

/// Size and tag of a file.
///
/// # Errors
/// [`Code::NotFound`], or [`Code::Unavailable`] when the store cannot be read.
pub async fn stat(cx: &Domain, path: &str) -> Result<Stat> {
    cx.store.stat(path).await.map_err(refusal)
}

/// A file, or the stretch of it from `range.start` to before `range.end`, ready to be read.
///
/// # Errors
/// As for [`stat`].
pub async fn open(cx: &Domain, path: &str, range: Option<Range<u64>>) -> Result<Stored> {
    let opened = match range {
        Some(range) => cx.store.open_range(path, range).await,
        None => cx.store.open_read(path).await,
    };
    opened.map_err(refusal)
}

fn refusal(error: StoreError) -> Error {
    match error {
        StoreError::Gone | StoreError::InvalidPath | StoreError::OutOfRange { .. } => {
            Error::new(Code::NotFound, "There is no such file.")
        }
        StoreError::TooLarge { .. }
        | StoreError::Config(_)
        | StoreError::Denied(_)
        | StoreError::Failed(_) => {
            tracing::warn!(%error, "the media store cannot be read");
            Error::new(Code::Unavailable, "The media store cannot be read right now.")
                .retry_after(2)
        }
    }
}
