//! The store of files.

use std::{fmt, fs, ops::Range, path::PathBuf, sync::Arc, time::SystemTime};

use bytes::Bytes;
use futures_util::{StreamExt, stream::BoxStream};
use object_store::{
    GetOptions, GetRange, ObjectStore, ObjectStoreExt, local::LocalFileSystem, path::Path,
};

use crate::{
    Error, S3, Stat, Stored, Writer, kind, leftovers,
    location::{Bucket, Location},
    path, s3,
};

/// A part of a file on its way to a directory, in bytes.
const LOCAL_PART: usize = 256 * 1024;
/// The same for a bucket: the least that S3 takes for a part that is not the last.
const S3_PART: usize = 5 * 1024 * 1024;
/// Bytes that [`Store::check`] writes.
const PROBE: usize = 64;

/// A file in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its location.
    pub path: String,
    /// The time at which it was put there.
    pub modified: SystemTime,
    /// Size in bytes.
    pub bytes: u64,
}

/// Keeps files under paths such as `workspace/0123….png`: letters, digits and `-_.`, with slashes between. A file never
/// changes once it is there. Cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    objects: Box<dyn ObjectStore>,
    /// Set if the files are on this machine.
    directory: Option<PathBuf>,
    /// The prefix of keys, without slashes at its ends; may be empty.
    root: String,
    place: String,
}

impl Store {
    /// Opens the store at `url`: `file:///directory`, which is made if it is not there, or
    /// `s3://bucket/prefix?endpoint=https://server`, which is not spoken to yet ([`Store::check`] does). `s3` is for
    /// buckets only. An endpoint is http only on this machine, or with `&allow_http=true`.
    ///
    /// # Errors
    /// [`Error::Config`] when the address or keys cannot be used or the directory cannot be made.
    pub fn open(url: &str, s3: S3) -> Result<Self, Error> {
        let inner = match Location::parse(url)? {
            Location::Directory(directory) => local(directory)?,
            Location::Bucket(bucket) => remote(bucket, &s3)?,
        };
        Ok(Self(Arc::new(inner)))
    }

    /// Writes a small file, reads it back and deletes it.
    ///
    /// # Errors
    /// [`Error::Denied`], [`Error::Failed`]: whatever the store answered.
    pub async fn check(&self) -> Result<(), Error> {
        let path = path::fresh("probe", "bin")?;
        let bytes = rand::random::<[u8; PROBE]>();
        let mut writer = self.writer(&path)?;
        writer.write(&bytes).await?;
        writer.finish().await?;
        let read = self.read(&path, PROBE as u64).await;
        let deleted = self.delete(&path).await;
        if read? != bytes.as_slice() {
            return Err(Error::Failed("it gives back other bytes than it was given".to_owned()));
        }
        deleted
    }

    /// Stores a small file of this type under `prefix`, where nobody can guess; its path.
    ///
    /// # Errors
    /// [`Error::InvalidPath`], [`Error::Denied`], [`Error::Failed`].
    pub async fn keep(&self, prefix: &str, mime: &str, bytes: &[u8]) -> Result<String, Error> {
        let path = path::fresh(prefix, kind::extension(mime))?;
        let mut writer = self.writer(&path)?;
        writer.write(bytes).await?;
        writer.finish().await?;
        Ok(path)
    }

    /// Reads a whole file into memory, if it has at most `max` bytes.
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

    /// Size and tag of a file.
    ///
    /// # Errors
    /// As for [`Store::open_read`].
    pub async fn stat(&self, path: &str) -> Result<Stat, Error> {
        let meta = self.0.objects.head(&self.key(path)?).await?;
        Ok(Stat { size: meta.size, etag: meta.e_tag })
    }

    /// Opens a file to be read as a stream.
    ///
    /// # Errors
    /// [`Error::Gone`], [`Error::InvalidPath`], [`Error::Denied`], [`Error::Failed`].
    pub async fn open_read(&self, path: &str) -> Result<Stored, Error> {
        Stored::begin(self.0.objects.get(&self.key(path)?).await?).await
    }

    /// Opens a stretch of a file, in bytes from its beginning. What lies behind the file's end is left out.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when no byte of the file is in `range`; else as for [`Store::open_read`].
    pub async fn open_range(&self, path: &str, range: Range<u64>) -> Result<Stored, Error> {
        if range.is_empty() {
            return Err(Error::OutOfRange { size: self.stat(path).await?.size });
        }
        let options = GetOptions::new().with_range(Some(GetRange::Bounded(range.clone())));
        match self.0.objects.get_opts(&self.key(path)?, options).await {
            Ok(found) => Stored::begin(found).await,
            // Stores differ in how they say it.
            Err(error) => match self.stat(path).await?.size {
                size if range.start >= size => Err(Error::OutOfRange { size }),
                _ => Err(error.into()),
            },
        }
    }

    /// Deletes a file. One that is not there counts as deleted.
    ///
    /// # Errors
    /// [`Error::InvalidPath`], [`Error::Denied`], [`Error::Failed`].
    pub async fn delete(&self, path: &str) -> Result<(), Error> {
        match self.0.objects.delete(&self.key(path)?).await.map_err(Error::from) {
            Ok(()) | Err(Error::Gone) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Every file under `prefix`, in no order, as they are found.
    ///
    /// # Errors
    /// [`Error::InvalidPath`]; in the stream, [`Error::Denied`] and [`Error::Failed`].
    pub fn walk(&self, prefix: &str) -> Result<BoxStream<'static, Result<Found, Error>>, Error> {
        let (key, root) = (self.key(prefix)?, self.0.root.clone());
        let found = self.0.objects.list(Some(&key)).map(move |meta| {
            let meta = meta?;
            let key = meta.location.as_ref();
            let path = key.strip_prefix(root.as_str()).unwrap_or(key).trim_start_matches('/');
            Ok(Found {
                path: path.to_owned(),
                modified: meta.last_modified.into(),
                bytes: meta.size,
            })
        });
        Ok(found.boxed())
    }

    /// Starts to write a file; see [`Writer`].
    ///
    /// # Errors
    /// [`Error::InvalidPath`].
    pub fn writer(&self, path: &str) -> Result<Writer, Error> {
        Ok(Writer::new(self.clone(), self.key(path)?))
    }

    /// Removes what processes that died have left of unfinished files in a directory, if it was last written before
    /// `before`, and returns how many there were. Does nothing for a bucket: a lifecycle rule of its own does that.
    ///
    /// # Errors
    /// [`Error::Denied`], [`Error::Failed`].
    pub async fn remove_unfinished(&self, before: SystemTime) -> Result<u64, Error> {
        let Some(directory) = self.0.directory.clone() else { return Ok(0) };
        tokio::task::spawn_blocking(move || leftovers::remove(directory, before))
            .await
            .map_err(|_| Error::Failed("the clean-up was cut short".to_owned()))?
    }

    /// Are the files on this machine?
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

    /// Size of all parts of an upload but the last, in bytes.
    pub(crate) fn part(&self) -> usize {
        if self.0.directory.is_some() { LOCAL_PART } else { S3_PART }
    }

    fn key(&self, path: &str) -> Result<Path, Error> {
        path::key(&self.0.root, path)
    }
}

/// A store in a directory. Only our own user may look into one that we make: what is in it is not published yet.
fn local(directory: PathBuf) -> Result<Inner, Error> {
    let unusable = |why: &dyn fmt::Display| {
        Error::Config(format!("The media directory {} cannot be used: {why}.", directory.display()))
    };
    make(&directory).map_err(|error| unusable(&error))?;
    let objects = LocalFileSystem::new_with_prefix(&directory).map_err(|error| unusable(&error))?;
    let place = format!("file://{}", directory.display());
    // A row that says that a file is there must not outlive the file in a power cut.
    let objects = Box::new(objects.with_fsync(true));
    Ok(Inner { objects, directory: Some(directory), root: String::new(), place })
}

fn make(directory: &std::path::Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}

fn remote(bucket: Bucket, keys: &S3) -> Result<Inner, Error> {
    let objects = Box::new(s3::open(&bucket, keys)?);
    let place = format!("s3://{}/{}", bucket.name, bucket.prefix);
    Ok(Inner { objects, directory: None, root: bucket.prefix, place })
}

/// Shows the place alone: the client below it holds the keys.
impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.0.place).finish()
    }
}
