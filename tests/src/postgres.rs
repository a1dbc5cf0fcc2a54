//! A private PostgreSQL, for tests that crash it.

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

/// A private server, which ends on drop and loses its data.
pub struct Postgres {
    url: String,
    port: String,
    home: PathBuf,
    child: Option<Child>,
}

impl Postgres {
    /// Starts one on a free port.
    ///
    /// # Panics
    /// PostgreSQL is not installed.
    #[must_use]
    pub fn start() -> Self {
        let name = format!("fanfare-test-pg-{}", uuid::Uuid::now_v7().simple());
        let home = std::env::temp_dir().join(name);
        let keep = home.display().to_string();
        let (child, url) = run(&["--keep", &keep]);
        let port = url.rsplit_once(':').and_then(|(_, rest)| rest.split('/').next());
        let port = port.expect("a port").to_owned();
        Self { url, port, home, child: Some(child) }
    }

    /// Returns the address of its empty database.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Stops it like `pg_ctl stop -m immediate`: without a shutdown, and with recovery at the next start.
    ///
    /// # Panics
    /// It is not running.
    pub fn crash(&mut self) {
        let pid = std::fs::read_to_string(self.home.join("data/postmaster.pid"));
        let pid = pid.expect("it runs").lines().next().expect("its process id").to_owned();
        let sent = Command::new("kill").args(["-QUIT", &pid]).status();
        assert!(sent.expect("kill runs").success());
        let mut child = self.child.take().expect("it runs");
        // The script fails when its server ends.
        child.wait().expect("it ends");
    }

    /// Starts it again at the same address, with all committed data.
    ///
    /// # Panics
    /// It does not recover, or its port is taken.
    pub fn restart(&mut self) {
        let keep = self.home.display().to_string();
        self.child = Some(run(&["--port", &self.port, "--keep", &keep]).0);
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

fn run(args: &[&str]) -> (Child, String) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/pg.sh");
    let mut child = Command::new(script)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("scripts/pg.sh runs");
    let mut url = String::new();
    let output = child.stdout.take().expect("its output");
    BufReader::new(output).read_line(&mut url).expect("its address");
    assert!(!url.is_empty(), "PostgreSQL did not start; run scripts/install.sh");
    (child, url.trim().to_owned())
}
