//! Media: how files come in, and what is done with them.
//!
//! Every upload or import ends with a row of `media_assets`, which is written after all its bytes are in the store:
//! there is no row without its bytes. A crash may leave bytes without a row; [`orphans`] removes them.

pub mod analysis;
mod asset;
mod derived;
mod generated;
pub mod guest_uploads;
mod import_job;
mod import_request;
mod list;
pub mod media_waiters;
pub mod orphans;
mod receive;
pub mod retention;
pub mod signed;
pub mod sizes;
mod upload;
pub mod variants;

use fanfare_core::{Tx, error::Result};
use fanfare_entities::{WorkspaceId, media_asset};

pub use asset::Media;
pub(crate) use asset::url;
pub use asset::url as url_of;
pub use derived::prefix as made_prefix;
pub use generated::{
    GeneratedFile, keep as keep_generated, receive as receive_generated,
    receive_for as receive_generated_for, tidy as tidy_generated,
};
pub use import_job::{CopyOutcome, claim, delete_failed, earlier_copy, finish, prefix};
pub(crate) use import_request::{ImportSource, request_import};
pub use import_request::{NewImport, from_url};
pub use list::{MediaPage, MediaQuery, list};
pub use upload::{NewFile, RELAY_MAX_BYTES, new_file_fields, relay, upload};

/// Starts the work on a file whose bytes are stored, in the transaction that makes it ready. Every upload or import
/// calls this.
///
/// # Errors
/// The database's.
pub async fn on_stored(tx: &mut Tx, asset: &media_asset::Model) -> Result<()> {
    tracing::debug!(asset.id = %asset.uid, mime = asset.mime, bytes = asset.bytes, "a file has arrived");
    analysis::create(tx, asset).await
}

/// Returns the folders of a workspace's files in the store.
pub fn prefixes(workspace: WorkspaceId) -> [String; 2] {
    [asset::prefix(workspace), derived::prefix(workspace)]
}
