//! The parts of a received file that a network keeps: its size, its hash and its first bytes.

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::{
    picture,
    video_index::{IndexReader, VideoProperties, VideoRequirements},
};

/// Enough to find a JPEG's size behind its metadata.
const HEAD: usize = 256 << 10;

/// A file that was received.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedFile {
    pub size: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
    pub head: Bytes,
    /// The properties of a video, if its index was found.
    pub video: Option<VideoProperties>,
}

/// A file that is being received.
#[derive(Default)]
pub(crate) struct FileReceiver {
    size: u64,
    hash: Sha256,
    head: Vec<u8>,
    index: IndexReader,
}

impl ReceivedFile {
    /// Creates it from a file in memory.
    pub fn of(bytes: &[u8]) -> Self {
        let mut growing = FileReceiver::default();
        growing.add(bytes);
        growing.finish()
    }

    /// Returns the type of a video that meets these requirements. A video without a readable index passes.
    pub fn video(&self, asks: VideoRequirements) -> Option<&'static str> {
        let plays = self.video.as_ref().is_none_or(|film| film.meets(asks));
        picture::video(&self.head).filter(|_| plays)
    }
}

impl FileReceiver {
    /// Adds the next bytes and returns the size so far.
    pub fn add(&mut self, bytes: &[u8]) -> u64 {
        self.size += bytes.len() as u64;
        self.hash.update(bytes);
        self.index.add(bytes);
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.size
    }

    pub fn finish(self) -> ReceivedFile {
        let hash = self.hash.finalize();
        let sha256 = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        ReceivedFile { size: self.size, sha256, head: self.head.into(), video: self.index.read() }
    }
}
