//! Media files: the operations, the endpoint that receives files and the one that serves them.

mod files;
mod gateway;
mod origin;

use fanfare_core::{Deleted, Listed, Reply, Result};
use fanfare_publishing::media::{self, guest_uploads, retention, signed};

use crate::Call;

pub use files::Files;
pub use gateway::{UploadEndpoint, require_uncompressed};
pub use origin::MediaOrigin;

/// Stores a small file.
pub async fn upload(mut call: Call) -> Result<Reply<media::Media>> {
    let new = call.body()?;
    media::upload(&call.act, new).await
}

/// Stores a small file, at an older path.
pub async fn relay(mut call: Call) -> Result<Reply<media::Media>> {
    let new = call.body()?;
    media::relay(&call.act, new).await
}

/// Announces a file.
pub async fn announce(mut call: Call) -> Result<Reply<signed::SignedUpload>> {
    let new = call.body()?;
    signed::announce(&call.act, new).await
}

/// Copies a file from another address.
pub async fn from_url(mut call: Call) -> Result<Reply<media::Media>> {
    let new = call.body()?;
    media::from_url(&call.act, new).await
}

/// Creates a guest upload page.
pub async fn create_drop(mut call: Call) -> Result<Reply<guest_uploads::DropSession>> {
    let new = call.body()?;
    guest_uploads::create(&call.act, new).await
}

/// Lists files.
pub async fn list(mut call: Call) -> Result<Reply<Listed<media::MediaPage>>> {
    let query = call.query()?;
    media::list(&call.act, query).await
}

/// Deletes a file.
pub async fn delete(call: Call) -> Result<Reply<Deleted>> {
    retention::delete(&call.act, call.media()?).await
}
