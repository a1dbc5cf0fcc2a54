//! What a network keeps of a received file: its size, its hash and its first bytes.

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::{
    film::{Asks, Film, Index},
    picture,
};

/// Enough to find a JPEG's size behind its metadata.
const HEAD: usize = 256 << 10;

/// A file that was received.
#[derive(Debug, Clone)]
pub(crate) struct Specimen {
    pub size: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
    pub head: Bytes,
    /// The properties of a video, if its index was found.
    pub film: Option<Film>,
}

/// A file that is being received.
#[derive(Default)]
pub(crate) struct Growing {
    size: u64,
    hash: Sha256,
    head: Vec<u8>,
    index: Index,
}

impl Specimen {
    /// Creates it from a file in memory.
    pub fn of(bytes: &[u8]) -> Self {
        let mut growing = Growing::default();
        growing.add(bytes);
        growing.done()
    }

    /// Returns the type of a video that meets these requirements. A video without a readable index passes.
    pub fn video(&self, asks: Asks) -> Option<&'static str> {
        let plays = self.film.as_ref().is_none_or(|film| film.plays(asks));
        picture::video(&self.head).filter(|_| plays)
    }
}

impl Growing {
    /// Adds the next bytes and returns the size so far.
    pub fn add(&mut self, bytes: &[u8]) -> u64 {
        self.size += bytes.len() as u64;
        self.hash.update(bytes);
        self.index.add(bytes);
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.size
    }

    pub fn done(self) -> Specimen {
        let hash = self.hash.finalize();
        let sha256 = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Specimen { size: self.size, sha256, head: self.head.into(), film: self.index.read() }
    }
}
