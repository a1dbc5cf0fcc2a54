//! Media: files on their way in, and what becomes of them.
//!
//! Every way in ends in a row of `media_assets` that is written after its bytes are in the store, whole: there is no row
//! without its bytes. Bytes without a row are what a crash leaves; [`orphans`] finds them.

pub mod analysis;
mod asset;
mod derived;
mod generated;
pub mod guest_uploads;
mod import_job;
mod import_notices;
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

use fanfare_entities::media_asset;

use crate::{Tx, error::Result};

pub use asset::Media;
pub(crate) use asset::url;
pub(crate) use asset::url as url_of;
pub use derived::prefix as made_prefix;
pub(crate) use generated::{
    Generated, keep as keep_generated, receive as receive_generated,
    receive_for as receive_generated_for, tidy as tidy_generated,
};
pub use import_job::{Outcome, claim, finish, forget_failed, known_copy, prefix};
pub use import_notices::{ImportNotices, Subscription, listen};
pub use import_request::{NewRemote, from_url};
pub(crate) use import_request::{Source, request_import};
pub use list::{MediaPage, MediaQuery, list};
pub use upload::{NewFile, RELAYED, fields_of, relay, upload};

/// Says that an asset's bytes are all there, in the transaction that makes it ready. Every way in ends here, so what is
/// to be done with a new file begins here.
///
/// # Errors
/// The database's.
pub async fn arrived(tx: &mut Tx, asset: &media_asset::Model) -> Result<()> {
    tracing::debug!(asset.id = %asset.uid, mime = asset.mime, bytes = asset.bytes, "a file has arrived");
    analysis::begin(tx, asset).await
}
