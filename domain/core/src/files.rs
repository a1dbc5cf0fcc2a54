//! Stored media files, as they are served.

pub mod signed;

use std::ops::Range;

use fanfare_entities::{Millis, media_asset, media_asset::AssetStatus};
use fanfare_media::Error as StoreError;
pub use fanfare_media::FileReader;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use crate::{
    Domain,
    error::{Code, Error, Result},
};

/// A file that can be served.
#[derive(Debug, Clone)]
pub struct ServedFile {
    /// Its key in the store.
    path: String,
    /// Its media type, detected from its bytes when it was uploaded; `None`: the name's extension decides.
    pub mime: Option<String>,
    /// Size in bytes.
    pub size: u64,
    /// With quotes, as in an `ETag` header.
    pub etag: Option<String>,
    /// The time for which its address stays valid, in ms; `None`: for ever, and for everyone.
    pub valid_for: Option<Millis>,
}

/// Returns the file that is served under `name`. A file without a name of its own (from an older version, or derived
/// from another file) is served by its key, which nobody can guess either. Files that people sent to an inbox are
/// served by signed addresses that expire.
///
/// # Errors
/// [`Code::NotFound`], or [`Code::Unavailable`] if the store cannot be read.
pub async fn find(cx: &Domain, name: &str) -> Result<ServedFile> {
    if let Some((first, rest)) = name.split_once('/') {
        let (path, good_for) = match first {
            signed::SIGNED => {
                let (path, left) = signed::verified_path(cx, rest).ok_or_else(not_found)?;
                (path, Some(left))
            }
            // Files that people sent are served by signed addresses only.
            signed::ROOT => return Err(not_found()),
            _ => (name.to_owned(), None),
        };
        let stat = cx.store.stat(&path).await.map_err(refusal)?;
        return Ok(ServedFile {
            path,
            mime: None,
            size: stat.size,
            etag: stat.etag,
            valid_for: good_for,
        });
    }
    let row = media_asset::Entity::find()
        .filter(media_asset::Column::PublicName.eq(name))
        .filter(media_asset::Column::Status.eq(AssetStatus::Ready))
        .one(&cx.db.read)
        .await?;
    let file = row.and_then(|row| {
        Some(ServedFile {
            path: row.path?,
            mime: row.mime,
            size: row.bytes?.unsigned_abs(),
            etag: row.digest.map(|digest| format!("\"{digest}\"")),
            valid_for: None,
        })
    });
    file.ok_or_else(not_found)
}

/// Opens a file, or the part of it from `range.start` up to `range.end`, for reading.
///
/// # Errors
/// As for [`find`].
pub async fn open(cx: &Domain, file: &ServedFile, range: Option<Range<u64>>) -> Result<FileReader> {
    let opened = match range {
        Some(range) => cx.store.open_range(&file.path, range).await,
        None => cx.store.open_read(&file.path).await,
    };
    opened.map_err(refusal)
}

fn not_found() -> Error {
    refusal(StoreError::Gone)
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
                .with_retry_after(2)
        }
    }
}
