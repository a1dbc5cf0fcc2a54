//! Media: files on their way in, and what happens to them afterwards.

mod copy;

use fanfare_entities::media_asset;

use crate::{Tx, error::Result};

pub use copy::{Outcome, claim, finish, forget_failed};

/// Says that an asset's bytes are all there, in the transaction that makes it ready. Every way in ends here, so what is
/// to be done with a new file begins here.
///
/// # Errors
/// The database's.
pub async fn arrived(_tx: &mut Tx, asset: &media_asset::Model) -> Result<()> {
    tracing::debug!(asset.id = %asset.uid, mime = asset.mime, bytes = asset.bytes, "a file has arrived");
    Ok(())
}
