//! Parts of a body: bytes in memory, or a file that is read while it is sent.

use std::{
    error::Error as StdError,
    fmt,
    sync::Mutex,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_util::{StreamExt, stream::BoxStream};

/// The largest frame in bytes. A large upload is handed over in frames, as fast as the connection accepts them, so that
/// an upload that fails midway is known not to be sent. The last frame is not smaller than the others. hyper takes it
/// long before the bytes ahead of it are transmitted, so a small last frame would not make the result more certain. It
/// would cost each post, which fits in one frame, a second packet. And a server that acts on a body of which only the
/// end is missing would be reported as "not sent".
pub(crate) const MAX_FRAME: usize = 64 * 1024;

/// The reason that a file could not be read.
pub type Cause = Box<dyn StdError + Send + Sync>;

/// The reason that a request will not be completed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    /// The caller withdrew the request before it was complete.
    #[error("the request was withdrawn")]
    Withdrawn,
    /// The content could not be read or its size differs from the announced one.
    #[error("the file that was to be sent could not be read")]
    Unreadable,
}

/// The content of a file, as a stream.
pub type FileStream = BoxStream<'static, Result<Bytes, Cause>>;

/// A part of a body.
#[derive(Debug)]
pub(crate) enum BodyPart {
    Bytes(Bytes),
    File(File),
}

impl BodyPart {
    pub fn file(size: u64, pieces: FileStream) -> Self {
        Self::File(File { pieces: Mutex::new(pieces), held: Bytes::new(), left: size })
    }

    pub fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(file) => file.left,
        }
    }

    /// Returns a copy if the part can be sent twice, which is not the case for a file.
    pub fn try_clone(&self) -> Option<Self> {
        match self {
            Self::Bytes(bytes) => Some(Self::Bytes(bytes.clone())),
            Self::File(_) => None,
        }
    }
}

/// A file of a known size.
pub(crate) struct File {
    /// Only used through its owner. The lock exists because bodies must be `Sync`.
    pieces: Mutex<FileStream>,
    held: Bytes,
    pub left: u64,
}

impl File {
    /// Returns the next bytes, at most one frame. Fails if the file is shorter or longer than announced or cannot be
    /// read.
    pub fn next_frame(&mut self, cx: &mut Context<'_>) -> Poll<Result<Bytes, BodyError>> {
        if self.held.is_empty() {
            let pieces = self.pieces.get_mut().map_err(|_| BodyError::Unreadable);
            let Ok(pieces) = pieces else { return Poll::Ready(Err(BodyError::Unreadable)) };
            match ready!(pieces.poll_next_unpin(cx)) {
                Some(Ok(piece)) if piece.len() as u64 <= self.left => self.held = piece,
                _ => return Poll::Ready(Err(BodyError::Unreadable)),
            }
        }
        let frame = self.held.split_to(self.held.len().min(MAX_FRAME));
        self.left -= frame.len() as u64;
        Poll::Ready(Ok(frame))
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("left", &self.left).finish_non_exhaustive()
    }
}
