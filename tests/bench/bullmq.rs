//! BullMQ, run by the programs in tests/peers/bullmq.

use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Command, Stdio},
};

use serde_json::Value;

/// A program of the peer.
pub struct Program {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Program {
    /// Starts `name.mjs` with these variables and waits until it is ready.
    pub fn start(name: &str, variables: &[(&str, String)]) -> Self {
        let root = env!("CARGO_MANIFEST_DIR");
        let mut child = Command::new(format!("{root}/scripts/node.sh"))
            .arg(format!("{root}/tests/peers/bullmq/{name}.mjs"))
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Node starts; run scripts/install.sh --peers");
        let lines = BufReader::new(child.stdout.take().expect("its output"));
        let mut program = Self { child, lines };
        assert_eq!(program.line()["ready"], true, "{name}.mjs; run scripts/install.sh --peers");
        program
    }

    /// Waits for its final output.
    pub fn finish(mut self) -> Value {
        let said = self.line();
        let ended = self.child.wait().expect("it ends");
        assert!(ended.success(), "{said}");
        said
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("its output");
        serde_json::from_str(&line).unwrap_or(Value::Null)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
