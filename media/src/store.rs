//! The store of files.

use std::{fmt, fs, ops::Range, path::PathBuf, sync::Arc, time::SystemTime};

use bytes::Bytes;
use futures_util::{StreamExt, stream::BoxStream};
use object_store::{
    GetOptions, GetRange, ObjectStore, ObjectStoreExt, local::LocalFileSystem, path::Path,
};

use crate::{
    Error, FileReader, FileStat, S3, Writer, kind, leftovers,
    location::{Bucket, Location},
    path, s3,
};

/// The size of a part that is written to a directory, in bytes.
const LOCAL_PART: usize = 256 * 1024;
/// The size of a part that is uploaded to a bucket, in bytes. S3 accepts no smaller parts except the last one.
const S3_PART: usize = 5 * 1024 * 1024;
/// The number of bytes that [`Store::check`] writes.
const PROBE_BYTES: usize = 64;

/// A file that [`Store::walk`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// The path.
    pub path: String,
    /// The time at which it was stored.
    pub modified: SystemTime,
    /// The size in bytes.
    pub bytes: u64,
}

/// Stores files under paths such as `workspace/0123….png`, which consist of letters, digits, `-_.` and slashes. A
/// stored
/// file never changes. Cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    objects: Box<dyn ObjectStore>,
    /// Set if the files are on this machine.
    directory: Option<PathBuf>,
    /// The prefix of keys, without leading or trailing slashes. May be empty.
    root: String,
    place: String,
}

impl Store {
    /// Opens the store at `url`: `file:///directory`, which is created if it does not exist, or
    /// `s3://bucket/prefix?endpoint=https://server`, without connecting ([`Store::check`] connects). `s3` is used for
    /// buckets
    /// only. An endpoint may be http only on this machine or with `&allow_http=true`.
    ///
    /// # Errors
    /// [`Error::Config`] if the address or keys cannot be used or the directory cannot be created.
    pub fn open(url: &str, s3: S3) -> Result<Self, Error> {
        let inner = match Location::parse(url)? {
            Location::Directory(directory) => directory_store(directory)?,
            Location::Bucket(bucket) => bucket_store(bucket, &s3)?,
        };
        Ok(Self(Arc::new(inner)))
    }

    /// Writes a small file, reads it back and deletes it.
    ///
    /// # Errors
    /// [`Error::Denied`], [`Error::Failed`], depending on the response of the store.
    pub async fn check(&self) -> Result<(), Error> {
        let path = path::unguessable("probe", "bin")?;
        let bytes = rand::random::<[u8; PROBE_BYTES]>();
        let mut writer = self.writer(&path)?;
        writer.write(&bytes).await?;
        writer.finish().await?;
        let read = self.read(&path, PROBE_BYTES as u64).await;
        let deleted = self.delete(&path).await;
        if read? != bytes.as_slice() {
            return Err(Error::Failed("it gives back other bytes than it was given".to_owned()));
        }
        deleted
    }

    /// Stores a small file of this type at an unguessable path under `prefix` and returns the path.
    ///
    /// # Errors
    /// [`Error::InvalidPath`], [`Error::Denied`], [`Error::Failed`].
    pub async fn put(&self, prefix: &str, mime: &str, bytes: &[u8]) -> Result<String, Error> {
        let path = path::unguessable(prefix, kind::extension(mime))?;
        let mut writer = self.writer(&path)?;
        writer.write(bytes).await?;
        writer.finish().await?;
        Ok(path)
    }

    /// Reads a whole file of at most `max` bytes into memory.
    ///
    /// # Errors
    /// [`Error::Gone`], [`Error::TooLarge`], [`Error::InvalidPath`], [`Error::Denied`], [`Error::Failed`].
    pub async fn read(&self, path: &str, max: u64) -> Result<Bytes, Error> {
        let found = self.0.objects.get(&self.key(path)?).await?;
        let actual = found.meta.size;
        if actual > max {
            return Err(Error::TooLarge { limit: max, actual });
        }
        Ok(found.bytes().await?)
    }

    /// Returns the size and the tag of a file.
    ///
    /// # Errors
    /// As for [`Store::open_read`].
    pub async fn stat(&self, path: &str) -> Result<FileStat, Error> {
        let meta = self.0.objects.head(&self.key(path)?).await?;
        Ok(FileStat { size: meta.size, etag: meta.e_tag })
    }

    /// Opens a file for reading as a stream.
    ///
    /// # Errors
    /// [`Error::Gone`], [`Error::InvalidPath`], [`Error::Denied`], [`Error::Failed`].
    pub async fn open_read(&self, path: &str) -> Result<FileReader, Error> {
        FileReader::begin(self.0.objects.get(&self.key(path)?).await?).await
    }

    /// Opens a byte range of a file. Bytes after the end of the file are left out.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if no byte of the file is in `range`; otherwise as for [`Store::open_read`].
    pub async fn open_range(&self, path: &str, range: Range<u64>) -> Result<FileReader, Error> {
        if range.is_empty() {
            return Err(Error::OutOfRange { size: self.stat(path).await?.size });
        }
        let options = GetOptions::new().with_range(Some(GetRange::Bounded(range.clone())));
        match self.0.objects.get_opts(&self.key(path)?, options).await {
            Ok(found) => FileReader::begin(found).await,
            // Stores report this in different ways.
            Err(error) => match self.stat(path).await?.size {
                size if range.start >= size => Err(Error::OutOfRange { size }),
                _ => Err(error.into()),
            },
        }
    }

    /// Deletes a file. Succeeds if the file does not exist.
    ///
    /// # Errors
    /// [`Error::InvalidPath`], [`Error::Denied`], [`Error::Failed`].
    pub async fn delete(&self, path: &str) -> Result<(), Error> {
        match self.0.objects.delete(&self.key(path)?).await.map_err(Error::from) {
            Ok(()) | Err(Error::Gone) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns a stream of all files under `prefix`, in any order.
    ///
    /// # Errors
    /// [`Error::InvalidPath`]; in the stream, [`Error::Denied`] and [`Error::Failed`].
    pub fn walk(
        &self,
        prefix: &str,
    ) -> Result<BoxStream<'static, Result<FoundFile, Error>>, Error> {
        let (key, root) = (self.key(prefix)?, self.0.root.clone());
        let found = self.0.objects.list(Some(&key)).map(move |meta| {
            let meta = meta?;
            let key = meta.location.as_ref();
            let path = key.strip_prefix(root.as_str()).unwrap_or(key).trim_start_matches('/');
            Ok(FoundFile {
                path: path.to_owned(),
                modified: meta.last_modified.into(),
                bytes: meta.size,
            })
        });
        Ok(found.boxed())
    }

    /// Starts writing a file; see [`Writer`].
    ///
    /// # Errors
    /// [`Error::InvalidPath`].
    pub fn writer(&self, path: &str) -> Result<Writer, Error> {
        Ok(Writer::new(self.clone(), self.key(path)?))
    }

    /// Removes unfinished files of dead processes in a directory that were last written before `before`, and returns
    /// their
    /// number. Does nothing for a bucket, where a lifecycle rule does this.
    ///
    /// # Errors
    /// [`Error::Denied`], [`Error::Failed`].
    pub async fn remove_unfinished(&self, before: SystemTime) -> Result<u64, Error> {
        let Some(directory) = self.0.directory.clone() else { return Ok(0) };
        tokio::task::spawn_blocking(move || leftovers::remove(directory, before))
            .await
            .map_err(|_| Error::Failed("the clean-up was cut short".to_owned()))?
    }

    /// Returns true if the files are on this machine.
    pub(crate) fn is_on_this_machine(&self) -> bool {
        self.0.directory.is_some()
    }

    /// Returns the path of a file that is on this machine.
    pub(crate) fn own_path(&self, path: &str) -> Result<Option<PathBuf>, Error> {
        let key = self.key(path)?;
        Ok(self.0.directory.as_ref().map(|directory| directory.join(key.as_ref())))
    }

    pub(crate) fn objects(&self) -> &dyn ObjectStore {
        self.0.objects.as_ref()
    }

    /// Returns the size of all parts of an upload except the last, in bytes.
    pub(crate) fn part(&self) -> usize {
        if self.0.directory.is_some() { LOCAL_PART } else { S3_PART }
    }

    fn key(&self, path: &str) -> Result<Path, Error> {
        path::key(&self.0.root, path)
    }
}

/// Opens a store in a directory. A directory that is created is readable only by this user, because its files are not
/// published yet.
fn directory_store(directory: PathBuf) -> Result<Inner, Error> {
    let unusable = |why: &dyn fmt::Display| {
        Error::Config(format!("The media directory {} cannot be used: {why}.", directory.display()))
    };
    make_directory(&directory).map_err(|error| unusable(&error))?;
    let objects = LocalFileSystem::new_with_prefix(&directory).map_err(|error| unusable(&error))?;
    let place = format!("file://{}", directory.display());
    // After a power failure, no database row may refer to a file that was lost.
    let objects = Box::new(objects.with_fsync(true));
    Ok(Inner { objects, directory: Some(directory), root: String::new(), place })
}

fn make_directory(directory: &std::path::Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}

fn bucket_store(bucket: Bucket, keys: &S3) -> Result<Inner, Error> {
    let objects = Box::new(s3::open(&bucket, keys)?);
    let place = format!("s3://{}/{}", bucket.name, bucket.prefix);
    Ok(Inner { objects, directory: None, root: bucket.prefix, place })
}

/// Shows only the location, because the client contains the keys.
impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.0.place).finish()
    }
}
