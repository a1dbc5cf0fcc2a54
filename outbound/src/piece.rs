//! Parts of a body: bytes at hand, or a file that is read while it is sent.

use std::{
    error::Error as StdError,
    fmt,
    sync::Mutex,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_util::{StreamExt, stream::BoxStream};

/// Largest frame. A large upload is handed over piece by piece, as the connection takes it, so that one which breaks
/// off in the middle is known not to be sent. The last piece is not cut smaller than the rest: hyper takes it long
/// before the bytes ahead of it are on the wire, so a small tail would tell no more; it would cost each post (which fits
/// one frame) a second packet; and a server that acts on a body with only its tail missing would then be called
/// "not sent".
pub(crate) const FRAME: usize = 64 * 1024;

/// The reason why a file could not be read.
pub type Cause = Box<dyn StdError + Send + Sync>;

/// The request will not be completed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unfinished {
    /// The caller gave up before it was complete.
    #[error("the request was withdrawn")]
    Withdrawn,
    /// The content could not be read, or had another size than announced.
    #[error("the file that was to be sent could not be read")]
    Unreadable,
}

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
