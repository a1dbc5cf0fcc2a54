//! The append-only journal: one JSON line for every accepted change, buffered in memory and written by one thread.
//!
//! A line is in the buffer before the reply leaves. A killed process loses at most what the last write had not
//! taken (about 50 ms); nothing is synced to the disk, for the sandbox is a judge of speed as well.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;
use crate::world::lock;

/// How long changes gather before they are written together.
const GATHER: Duration = Duration::from_millis(50);

/// Where accepted changes go.
pub(crate) struct Journal {
    shared: Option<Arc<Shared>>,
    writer: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    idle: Condvar,
}

#[derive(Default)]
struct State {
    buffer: Vec<u8>,
    /// Write at once instead of gathering.
    hurry: bool,
    writing: bool,
    closing: bool,
}

/// One line as it is read back.
#[derive(Deserialize)]
pub(crate) struct PastLine {
    #[serde(rename = "n")]
    pub network: String,
    #[serde(rename = "a")]
    pub account: String,
    #[serde(rename = "e")]
    pub entry: Value,
}

/// One line as it is written.
#[derive(Serialize)]
pub(crate) struct Line<'a, E> {
    #[serde(rename = "n")]
    pub network: &'static str,
    #[serde(rename = "a")]
    pub account: &'a str,
    #[serde(rename = "e")]
    pub entry: E,
}

impl Journal {
    /// A journal that keeps nothing.
    pub fn memory() -> Self {
        Self { shared: None, writer: None }
    }

    /// Opens or makes `dir/journal.jsonl`, locks it, and gives what it holds so far.
    pub fn open(dir: &Path) -> Result<(Self, Past), Error> {
        let path = dir.join("journal.jsonl");
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
        let shared = Arc::new(Shared::default());
        let writer = std::thread::Builder::new().name("sandbox-journal".into()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.write_until_closed(file)
        });
        let writer = Some(writer.map_err(failed)?);
        Ok((Self { shared: Some(shared), writer }, Past { path, file: reader }))
    }

    /// Adds one line.
    pub fn push<E: Serialize>(&self, line: &Line<'_, E>) {
        let Some(shared) = &self.shared else { return };
        let mut state = lock(&shared.state);
        let start = state.buffer.len();
        if let Err(error) = serde_json::to_writer(&mut state.buffer, line) {
            state.buffer.truncate(start);
            tracing::error!(%error, network = line.network, "a sandbox change could not be written down");
            return;
        }
        state.buffer.push(b'\n');
        drop(state);
        if start == 0 {
            shared.wake.notify_one();
        }
    }

    /// Returns once everything pushed before is in the file.
    pub fn flush(&self) {
        let Some(shared) = &self.shared else { return };
        let mut state = lock(&shared.state);
        state.hurry = true;
        shared.wake.notify_one();
        while state.writing || !state.buffer.is_empty() {
            state = shared.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.hurry = false;
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
            let mut state = lock(&self.state);
            while state.buffer.is_empty() && !state.closing {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let gathering = |s: &mut State| !s.hurry && !s.closing;
            let waited = self.wake.wait_timeout_while(state, GATHER, gathering);
            let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.buffer.is_empty() && state.closing {
                return;
            }
            std::mem::swap(&mut state.buffer, &mut spare);
            state.writing = true;
            drop(state);
            if let Err(error) = file.write_all(&spare) {
                tracing::error!(%error, "the sandbox journal cannot be written; its state will not outlive the process");
            }
            spare.clear();
            lock(&self.state).writing = false;
            self.idle.notify_all();
        }
    }
}

/// The lines that were in the journal when it was opened.
pub(crate) struct Past {
    path: PathBuf,
    file: File,
}

impl Past {
    /// Gives every line to `apply`, oldest first. A last line that a killed process left torn is cut off.
    pub fn replay(
        self,
        mut apply: impl FnMut(PastLine) -> Result<(), String>,
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
