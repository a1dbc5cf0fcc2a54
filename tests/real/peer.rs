//! A real network, started for a test and stopped with it.

use std::process::Stdio;

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// A running peer; it ends when this is dropped, because it reads from our pipe.
pub struct Peer {
    /// Its output when it was ready.
    pub said: Value,
    _child: Child,
}

impl Peer {
    /// Starts `command` (relative to the repository) and waits until it is ready.
    pub async fn start(command: &[&str]) -> Self {
        let root = env!("CARGO_MANIFEST_DIR");
        let mut child = Command::new(format!("{root}/{}", command[0]))
            .args(&command[1..])
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(false)
            .spawn()
            .expect("the peer starts; run scripts/install.sh --peers");
        let said =
            BufReader::new(child.stdout.take().expect("its output")).lines().next_line().await;
        let said =
            said.expect("its output").expect("the peer is ready; run scripts/install.sh --peers");
        let said = serde_json::from_str(&said).expect("one line of JSON");
        Self { said, _child: child }
    }
}
