//! Parts of a body: bytes at hand, or a file that is read while it is sent.

use std::{
    error::Error as StdError,
    fmt,
    sync::Mutex,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_util::{StreamExt, stream::BoxStream};

use crate::body::{FRAME, Unfinished};

/// The reason why a file could not be read.
pub type Cause = Box<dyn StdError + Send + Sync>;

/// A file, piece by piece.
pub type FileStream = BoxStream<'static, Result<Bytes, Cause>>;

/// A part of a body.
#[derive(Debug)]
pub(crate) enum Piece {
    Bytes(Bytes),
    File(File),
}

impl Piece {
    pub fn file(size: u64, pieces: FileStream) -> Self {
        Self::File(File { pieces: Mutex::new(pieces), held: Bytes::new(), left: size })
    }

    pub fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(file) => file.left,
        }
    }

    /// The same again, if it can be sent twice: a file can not.
    pub fn again(&self) -> Option<Self> {
        match self {
            Self::Bytes(bytes) => Some(Self::Bytes(bytes.clone())),
            Self::File(_) => None,
        }
    }
}

/// A file of a size that was said before.
pub(crate) struct File {
    /// Only ever reached through its owner; the lock makes it shareable, which bodies have to be.
    pieces: Mutex<FileStream>,
    held: Bytes,
    pub left: u64,
}

impl File {
    /// At most a frame; fails if the file ends early, is longer than was said, or cannot be read.
    pub fn next_frame(&mut self, cx: &mut Context<'_>) -> Poll<Result<Bytes, Unfinished>> {
        if self.held.is_empty() {
            let pieces = self.pieces.get_mut().map_err(|_| Unfinished::Unreadable);
            let Ok(pieces) = pieces else { return Poll::Ready(Err(Unfinished::Unreadable)) };
            match ready!(pieces.poll_next_unpin(cx)) {
                Some(Ok(piece)) if piece.len() as u64 <= self.left => self.held = piece,
                _ => return Poll::Ready(Err(Unfinished::Unreadable)),
            }
        }
        let frame = self.held.split_to(self.held.len().min(FRAME));
        self.left -= frame.len() as u64;
        Poll::Ready(Ok(frame))
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("left", &self.left).finish_non_exhaustive()
    }
}
