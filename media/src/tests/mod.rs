//! Stores in directories of their own, servers on loopback, and files made here.

mod analyses;
mod both;
mod conversions;
mod copies;
mod directory;
pub mod files;
pub mod films;
mod intake;
mod marked;
mod pictures;
mod s3;
mod server;
mod shrinking;
mod sources;

use std::{env, fs, io, path::PathBuf, time::Duration};

use tokio::time::{Instant, sleep};

use crate::{Error, S3, Sizes, Store};

pub type Failure = Box<dyn std::error::Error + Send + Sync>;
pub type Outcome = Result<(), Failure>;

/// Files of every size are taken.
pub const ANY: Sizes = Sizes::all(u64::MAX);

/// A directory that goes away with the value.
pub struct Room(pub PathBuf);

impl Room {
    pub fn new() -> Self {
        Self(env::temp_dir().join(format!("fanfare-media-{:032x}", rand::random::<u128>())))
    }

    pub fn store(&self) -> Result<Store, Error> {
        Store::open(&format!("file://{}", self.0.display()), S3::default())
    }

    /// Every file below, of whatever name, with the path to it.
    pub fn files(&self) -> io::Result<Vec<PathBuf>> {
        let (mut open, mut found) = (vec![self.0.clone()], Vec::new());
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory)? {
                let path = entry?.path();
                if path.is_dir() { open.push(path) } else { found.push(path) }
            }
        }
        Ok(found)
    }

    /// Waits until there is no file; for what is removed in the background.
    pub async fn empties(&self) -> Result<bool, Failure> {
        let until = Instant::now() + Duration::from_secs(20);
        while !self.files()?.is_empty() {
            if Instant::now() > until {
                return Ok(false);
            }
            sleep(Duration::from_millis(5)).await;
        }
        Ok(true)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
