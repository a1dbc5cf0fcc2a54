//! Reads a stored file.

use std::{fmt, io::SeekFrom, ops::Range};

use bytes::{Bytes, BytesMut};
use futures_util::{
    StreamExt, TryStreamExt,
    stream::{self, BoxStream},
};
use object_store::{GetResult, GetResultPayload};
use tokio::{
    fs::File,
    io::{AsyncReadExt, AsyncSeekExt},
};

use crate::Error;

/// The number of bytes that are read from a local file at once.
const READ_SIZE: u64 = 128 * 1024;

/// The metadata of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStat {
    /// The size in bytes.
    pub size: u64,
    /// A tag that changes with the file, quoted as in an `ETag` header.
    pub etag: Option<String>,
}

/// An open file, or a range of one, that is about to be read.
pub struct FileReader {
    /// The metadata of the whole file.
    pub stat: FileStat,
    /// The range of bytes to read. It starts as requested and ends at the end of the file at the latest.
    pub range: Range<u64>,
    body: Body,
}

enum Body {
    /// A local file, positioned at the start of the range.
    File(File),
    Stream(BoxStream<'static, object_store::Result<Bytes>>),
}

impl FileReader {
    pub(crate) async fn begin(found: GetResult) -> Result<Self, Error> {
        let stat = FileStat { size: found.meta.size, etag: found.meta.e_tag };
        let body = match found.payload {
            GetResultPayload::File(file, _) => {
                let mut file = File::from_std(file);
                file.seek(SeekFrom::Start(found.range.start)).await?;
                Body::File(file)
            }
            GetResultPayload::Stream(stream) => Body::Stream(stream),
        };
        Ok(Self { stat, range: found.range, body })
    }

    /// Returns the bytes as a stream of chunks of at most a few 100 KiB. It ends early only with an error.
    pub fn into_stream(self) -> BoxStream<'static, Result<Bytes, Error>> {
        let left = self.range.end - self.range.start;
        match self.body {
            Body::File(file) => stream::try_unfold((file, left), read_block).boxed(),
            Body::Stream(stream) => stream.map_err(Error::from).boxed(),
        }
    }
}

async fn read_block((mut file, left): (File, u64)) -> Result<Option<(Bytes, (File, u64))>, Error> {
    if left == 0 {
        return Ok(None);
    }
    let wanted = left.min(READ_SIZE);
    let mut block = BytesMut::with_capacity(usize::try_from(wanted).unwrap_or_default());
    let read = (&mut file).take(wanted).read_buf(&mut block).await?;
    if read == 0 {
        return Err(Error::Failed("a file ends before its end".to_owned()));
    }
    Ok(Some((block.freeze(), (file, left - read as u64))))
}

impl fmt::Debug for FileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stored")
            .field("stat", &self.stat)
            .field("range", &self.range)
            .finish_non_exhaustive()
    }
}
