//! A real third-party program, started for a test.

use std::process::Stdio;

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

/// A running peer. It ends on drop, since it reads from our pipe.
pub struct Peer {
    /// Its first line, when it was ready.
    pub greeting: Value,
    lines: Lines<BufReader<ChildStdout>>,
    child: Child,
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
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let said = hear(&mut lines).await;
        Self { greeting: said, lines, child }
    }

    /// Reads its next line.
    pub async fn read_line(&mut self) -> Value {
        hear(&mut self.lines).await
    }

    /// Writes a line to its standard input.
    pub async fn write_line(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().expect("its input");
        input.write_all(format!("{line}\n").as_bytes()).await.expect("it listens");
    }
}

async fn hear(lines: &mut Lines<BufReader<ChildStdout>>) -> Value {
    let said = lines.next_line().await.expect("its output");
    let said = said.expect("the peer says something; run scripts/install.sh --peers");
    serde_json::from_str(&said).expect("one line of JSON")
}
