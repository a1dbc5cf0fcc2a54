//! Processes that tests kill and freeze.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// The number of log lines that are kept.
const KEPT: usize = 200;

/// A process, which is killed on drop.
pub struct Process {
    child: Child,
    first: String,
    logged: Arc<Mutex<VecDeque<String>>>,
}

impl Process {
    /// Starts it and waits for the line that says that it is ready.
    ///
    /// # Panics
    /// It ends before that.
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the process starts");
        let logged = Arc::<Mutex<VecDeque<String>>>::default();
        let (log, kept) = (child.stderr.take().expect("its log"), Arc::clone(&logged));
        std::thread::spawn(move || {
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                let mut kept = kept.lock().expect("the lock");
                kept.push_back(line);
                if kept.len() > KEPT {
                    kept.pop_front();
                }
            }
        });
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let first = lines.next().and_then(Result::ok).unwrap_or_default();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let process = Self { child, first, logged };
        assert!(!process.first.is_empty(), "it ends at once: {:?}", process.logged());
        process
    }

    /// Returns the address in its first line.
    ///
    /// # Panics
    /// The line holds no address.
    pub fn address(&self) -> String {
        let word = self.first.split([' ', ';']).find(|word| word.starts_with("http://"));
        word.expect("an address").to_owned()
    }

    /// Returns the last lines of its log.
    pub fn logged(&self) -> Vec<String> {
        self.logged.lock().expect("the lock").iter().cloned().collect()
    }

    /// Waits until it says that it has stopped at its failpoint.
    ///
    /// # Panics
    /// It does not reach it within a minute.
    pub async fn wait_for_failpoint(&self) {
        let begun = Instant::now();
        while !self.logged().iter().any(|line| line.contains("stopped at a failpoint")) {
            assert!(begun.elapsed().as_secs() < 60, "never at its failpoint: {:?}", self.logged());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Sends a signal, such as `-STOP`.
    ///
    /// # Panics
    /// It has ended.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success(), "{signal} finds nobody");
    }

    /// Returns its exit status, if it has ended.
    ///
    /// # Panics
    /// The system does not report it.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("its state")
    }

    /// Asks it to stop; returns its exit status, if it ends within `patience`.
    pub async fn stop(mut self, patience: Duration) -> Option<ExitStatus> {
        self.signal("-TERM");
        let begun = Instant::now();
        while begun.elapsed() < patience {
            if let Some(ended) = self.ended() {
                return Some(ended);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        None
    }
}

impl Drop for Process {
    /// Sends SIGKILL.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
