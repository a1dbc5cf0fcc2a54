//! Processes of the service, and their directories.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::load::http;

/// A process in an empty directory.
pub struct Fresh {
    /// The process.
    pub process: Process,
    /// Its origin.
    pub origin: String,
    dir: Dir,
}

impl Fresh {
    /// Returns the folder of its files.
    pub fn dir(&self) -> &std::path::Path {
        &self.dir.0
    }

    /// Waits until it answers.
    pub async fn ready(&self) {
        while http().get(&self.origin).send().await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Starts `fanfare up`, or another command, as a newcomer does.
pub fn fresh(command: &str) -> Fresh {
    let (dir, listen) = (Dir::new(), free_address());
    let started = Command::new(env!("CARGO_BIN_EXE_fanfare"))
        .arg(command)
        .env_clear()
        .env("FANFARE_DATA_DIR", &dir.0)
        .env("FANFARE_LISTEN", &listen)
        .env("FANFARE_LOG", "warn")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let process = Process(started.expect("it starts"));
    Fresh { process, origin: format!("http://{listen}"), dir }
}

/// A directory that is removed on drop. It should be the last field of its owner, so that processes end first.
pub struct Dir(pub PathBuf);

impl Dir {
    /// Creates one.
    pub fn new() -> Self {
        let name = format!("fanfare-bench-{}", uuid::Uuid::now_v7().simple());
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&dir).expect("a directory");
        Self(dir)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running process of the service.
pub struct Process(pub Child);

impl Process {
    /// Returns its id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Asks it to stop and waits until it has.
    pub fn stop(mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a loopback address that nobody listens on.
pub fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").to_string()
}
