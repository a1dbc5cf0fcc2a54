//! The append-only journal: one JSON line for every accepted change, synced to disk before the response is sent.
//!
//! One thread writes. All lines that were pushed during a write form the next write, so they share one sync.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

use crate::Error;
use crate::env::lock;

/// Its name in the simulator's directory.
const FILE: &str = "realms.jsonl";

/// The file that accepted changes are written to.
pub(crate) struct Journal {
    shared: Option<Arc<Shared>>,
    writer: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    progress: watch::Sender<Progress>,
}

#[derive(Default)]
struct State {
    buffer: Vec<u8>,
    /// The number of lines that were ever pushed.
    pushed: u64,
    closing: bool,
}

/// The writer's position, in lines.
#[derive(Debug, Default, Clone, Copy)]
struct Progress {
    /// All lines up to here were attempted.
    tried: u64,
    /// Some lines up to here could not be written.
    lost: u64,
}

/// A change could not be written to disk.
#[derive(Debug)]
pub(crate) struct WriteFailed;

/// A line that is read back.
#[derive(Deserialize)]
pub(crate) struct StoredLine {
    #[serde(rename = "r")]
    pub realm: String,
    #[serde(rename = "n")]
    pub network: String,
    #[serde(rename = "a")]
    pub account: String,
    #[serde(rename = "e")]
    pub entry: Value,
}

/// A line that is written.
#[derive(Serialize)]
pub(crate) struct NewLine<'a, E> {
    #[serde(rename = "r")]
    pub realm: &'a str,
    #[serde(rename = "n")]
    pub network: &'static str,
    #[serde(rename = "a")]
    pub account: &'a str,
    #[serde(rename = "e")]
    pub entry: E,
}

impl Journal {
    /// Creates a journal that stores nothing.
    pub fn in_memory() -> Self {
        Self { shared: None, writer: None }
    }

    /// Opens or creates the journal in `dir`, locks it, and returns its lines.
    pub fn open(dir: &Path) -> Result<(Self, StoredLines), Error> {
        let path = dir.join(FILE);
        let failed = |source| Error::Io { path: path.clone(), source };
        std::fs::create_dir_all(dir).map_err(failed)?;
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::InUse(path)),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let reader = file.try_clone().map_err(failed)?;
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            wake: Condvar::new(),
            progress: watch::Sender::new(Progress::default()),
        });
        let writer = std::thread::Builder::new().name("sandbox-journal".into()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.write_until_closed(file)
        });
        let writer = Some(writer.map_err(failed)?);
        Ok((Self { shared: Some(shared), writer }, StoredLines { path, file: reader }))
    }

    /// Adds one line.
    pub fn push<E: Serialize>(&self, line: &NewLine<'_, E>) {
        let Some(shared) = &self.shared else { return };
        let mut state = lock(&shared.state);
        let start = state.buffer.len();
        if let Err(error) = serde_json::to_writer(&mut state.buffer, line) {
            state.buffer.truncate(start);
            tracing::error!(%error, network = line.network, "a sandbox change could not be written down");
            return;
        }
        state.buffer.push(b'\n');
        state.pushed += 1;
        drop(state);
        shared.wake.notify_one();
    }

    /// Waits until all lines that were pushed before are on disk.
    pub async fn synced(&self) -> Result<(), WriteFailed> {
        let Some(shared) = &self.shared else { return Ok(()) };
        let wanted = lock(&shared.state).pushed;
        let mut progress = shared.progress.subscribe();
        let is_tried = |progress: &Progress| progress.tried >= wanted;
        // The sender lives as long as `self` does.
        let progress = progress.wait_for(is_tried).await.map_err(|_| WriteFailed)?;
        if progress.lost < wanted || wanted == 0 { Ok(()) } else { Err(WriteFailed) }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            lock(&shared.state).closing = true;
            shared.wake.notify_one();
        }
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("the sandbox journal's writer panicked");
        }
    }
}

impl Shared {
    fn write_until_closed(&self, mut file: File) {
        let mut spare = Vec::new();
        loop {
            let state = lock(&self.state);
            let is_idle = |state: &mut State| state.buffer.is_empty() && !state.closing;
            let waited = self.wake.wait_while(state, is_idle);
            let mut state = waited.unwrap_or_else(PoisonError::into_inner);
            if state.buffer.is_empty() {
                return;
            }
            std::mem::swap(&mut state.buffer, &mut spare);
            let tried = state.pushed;
            drop(state);
            let written = append(&mut file, &spare);
            spare.clear();
            if let Err(error) = &written {
                tracing::error!(%error, "the simulator's journal cannot be written; its calls are answered with errors");
            }
            self.progress.send_modify(|progress| {
                progress.tried = tried;
                progress.lost = if written.is_err() { tried } else { progress.lost };
            });
        }
    }
}

/// Appends lines and syncs them; if that fails, a partial write is removed again.
fn append(file: &mut File, lines: &[u8]) -> std::io::Result<()> {
    let before = file.metadata()?.len();
    let written = file.write_all(lines).and_then(|()| file.sync_data());
    if written.is_err() {
        file.set_len(before)?;
    }
    written
}

/// The lines that were in the journal when it was opened.
pub(crate) struct StoredLines {
    path: PathBuf,
    file: File,
}

impl StoredLines {
    /// Calls `apply` with every line, oldest first. An incomplete last line, left by a killed process, is removed.
    pub fn replay(
        self,
        mut apply: impl FnMut(StoredLine) -> Result<(), String>,
    ) -> Result<(), Error> {
        let failed = |source| Error::Io { path: self.path.clone(), source };
        let mut reader = BufReader::with_capacity(1 << 20, &self.file);
        reader.seek(SeekFrom::Start(0)).map_err(failed)?;
        let (mut bytes, mut number, mut good) = (Vec::new(), 0, 0_u64);
        loop {
            bytes.clear();
            let length = reader.read_until(b'\n', &mut bytes).map_err(failed)?;
            if length == 0 {
                return Ok(());
            }
            number += 1;
            if bytes.last() != Some(&b'\n') {
                tracing::warn!(path = %self.path.display(), line = number, "the last line is torn and was cut off");
                return self.file.set_len(good).map_err(failed);
            }
            let line = serde_json::from_slice(&bytes).map_err(|e| e.to_string());
            line.and_then(&mut apply).map_err(|reason| Error::Journal {
                path: self.path.clone(),
                line: number,
                reason,
            })?;
            good += length as u64;
        }
    }
}
