//! Makes pictures of linked pages small enough for a network.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use fanfare_core::Domain;
use fanfare_media::{Scratch, Tools};
use fanfare_platforms::PictureShrinker;
use tokio::sync::Semaphore;

/// Limits how many pictures this process shrinks at a time: each holds a file of up to 20 MiB besides its pixels.
static SHRINK_SLOTS: Semaphore = Semaphore::const_new(2);

/// Shrinks pictures with the tools that also convert the pictures of posts.
pub(super) struct LinkPictureShrinker {
    tools: Tools,
    scratch: Scratch,
}

impl LinkPictureShrinker {
    /// Uses the tools and the scratch directory of the service.
    pub fn of(cx: &Domain) -> Self {
        Self {
            tools: crate::settings(cx).tools.clone(),
            scratch: crate::settings(cx).scratch.clone(),
        }
    }
}

impl fmt::Debug for LinkPictureShrinker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardPictures").finish_non_exhaustive()
    }
}

#[async_trait]
impl PictureShrinker for LinkPictureShrinker {
    async fn shrink(&self, picture: Bytes, bytes_max: usize) -> Option<Bytes> {
        let _few = SHRINK_SLOTS.acquire().await.ok()?;
        let made = fanfare_media::shrink(&self.tools, &self.scratch, &picture, bytes_max as u64);
        match made.await {
            Ok(made) => Some(made),
            Err(flaw) => {
                tracing::info!(%flaw, bytes = picture.len(), "a picture of a page is left out");
                None
            }
        }
    }
}
