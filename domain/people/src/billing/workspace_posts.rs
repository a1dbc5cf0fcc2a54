//! What becomes of a workspace's posts with its subscription. Posts stand on this feature, so it is given them.

use async_trait::async_trait;
use fanfare_core::{Domain, Tx, error::Result};
use fanfare_entities::WorkspaceId;

/// The posts of workspaces.
#[async_trait]
pub trait WorkspacePosts: Send + Sync {
    /// Pauses the next scheduled posts of a workspace whose subscription is paused or has ended. Returns true if there
    /// may be more.
    ///
    /// # Errors
    /// The database's.
    async fn pause_some(&self, tx: &mut Tx, workspace: WorkspaceId) -> Result<bool>;

    /// Schedules the next of those posts again. Returns true if there may be more.
    ///
    /// # Errors
    /// The database's.
    async fn resume_some(&self, tx: &mut Tx, workspace: WorkspaceId) -> Result<bool>;
}

/// Returns the posts of a service's workspaces.
pub(crate) fn posts(cx: &Domain) -> &dyn WorkspacePosts {
    cx.feature::<Box<dyn WorkspacePosts>>().as_ref()
}

/// Schedules all posts of a workspace again that were paused with a subscription, because it does not need one any more.
///
/// # Errors
/// The database's. It may be run again.
pub(crate) async fn resume_all(cx: &Domain, workspace: WorkspaceId) -> Result<()> {
    loop {
        let mut tx = Tx::begin(cx).await?;
        if !posts(cx).resume_some(&mut tx, workspace).await? {
            return Ok(());
        }
        tx.commit().await?;
    }
}
