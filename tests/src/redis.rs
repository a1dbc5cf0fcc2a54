//! A private Redis, for tests that flush or stop it.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

/// A private server, which ends on drop.
pub struct Redis {
    port: String,
    child: Option<Child>,
}

impl Redis {
    /// Starts one on a free port.
    ///
    /// # Panics
    /// Redis is not installed.
    #[must_use]
    pub fn start() -> Self {
        let (child, url) = run(&[]);
        let port = url.rsplit_once(':').map(|(_, port)| port.to_owned()).expect("a port");
        Self { port, child: Some(child) }
    }

    /// Returns its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    /// Stops it; its data is lost.
    ///
    /// # Panics
    /// It does not stop.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.stdin.take());
            child.wait().expect("it stops");
        }
    }

    /// Starts it again at the same address, empty.
    ///
    /// # Panics
    /// Its port is taken.
    pub fn restart(&mut self) {
        self.child = Some(run(&["--port", &self.port]).0);
    }

    /// Deletes all its data.
    ///
    /// # Panics
    /// It does not answer.
    pub fn flush(&self) {
        assert_eq!(self.ask(&["FLUSHALL"]), "OK");
    }

    /// Runs a command; returns the reply.
    ///
    /// # Panics
    /// It does not answer.
    #[must_use]
    pub fn ask(&self, command: &[&str]) -> String {
        let said = Command::new("redis-cli").args(["-p", &self.port]).args(command).output();
        let said = said.expect("redis-cli runs");
        assert!(said.status.success(), "Redis does not answer");
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(args: &[&str]) -> (Child, String) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/redis.sh");
    let mut child = Command::new(script)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("scripts/redis.sh runs");
    let mut url = String::new();
    let output = child.stdout.take().expect("its output");
    BufReader::new(output).read_line(&mut url).expect("its address");
    assert!(!url.is_empty(), "Redis did not start; run scripts/install.sh");
    (child, url.trim().to_owned())
}
