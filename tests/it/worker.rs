//! A worker in a process of its own, to be killed.

use std::process::{Child, Command, ExitStatus, Stdio};

use fanfare_tests::TestApp;

/// A worker in a process of its own, killed at the latest with the test.
pub struct Worker(Child);

/// The binary on the database and queue of a service under test.
pub fn command(app: &TestApp) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
    command
        .env("FANFARE_DATABASE_URL", &app.database_url)
        .env("FANFARE_DATA_DIR", app.dir())
        .env("FANFARE_MEDIA_URL", format!("file://{}", app.dir().join("media").display()))
        .env("FANFARE_MASTER_KEY", &app.master_key)
        .env("FANFARE_SANDBOX_URL", app.simulator.url.as_str())
        .env("FANFARE_SANDBOX_SECRET", &app.simulator.secret)
        .env("FANFARE_AI", "sandbox")
        .env("FANFARE_ALLOW_PRIVATE_TARGETS", "true")
        .env("FANFARE_LOG", "warn")
        .stdin(Stdio::null());
    if let Some(url) = &app.redis_url {
        command.env("FANFARE_REDIS_URL", url);
    }
    command
}

impl Worker {
    /// Starts one on the database and queue of a service under test.
    pub fn start(app: &TestApp, failpoint: Option<&str>) -> Self {
        let mut command = command(app);
        command
            .args(["worker", "--concurrency", "8"])
            .stdout(Stdio::null())
            .stderr(if failpoint.is_some() { Stdio::piped() } else { Stdio::null() });
        if let Some(name) = failpoint {
            command.env("FANFARE_FAILPOINT", name);
        }
        Self(command.spawn().expect("the worker starts"))
    }

    /// Starts one with more variables than those of the service under test.
    pub fn with(app: &TestApp, variables: &[(&str, &str)]) -> Self {
        let mut command = command(app);
        command.args(["worker", "--concurrency", "8"]).envs(variables.iter().copied());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().expect("the worker starts"))
    }

    /// Waits until it has stopped at its failpoint.
    ///
    /// # Panics
    /// It ended by itself.
    pub async fn arrived(&mut self) {
        let stderr = self.0.stderr.take().expect("its standard error");
        let read = tokio::task::spawn_blocking(move || {
            use std::io::BufRead;
            let mut said = Vec::new();
            let mut lines = std::io::BufReader::new(stderr).lines().map_while(Result::ok);
            for line in &mut lines {
                if line.contains("stopped at a failpoint") {
                    // It may go on, and write more.
                    std::thread::spawn(move || lines.for_each(drop));
                    return Ok(());
                }
                said.push(line);
            }
            Err(said)
        });
        read.await.expect("the reader ends").expect("the worker ended by itself");
    }
}

impl Worker {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Sends a signal, such as `-STOP`.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.id().to_string()]).status();
        assert!(sent.expect("kill runs").success(), "{signal} finds nobody");
    }

    /// Asks it to stop and waits until it has.
    ///
    /// # Panics
    /// It does not in time.
    pub async fn stop(&mut self) -> ExitStatus {
        self.signal("-TERM");
        let deadline = tokio::time::Instant::now() + fanfare_tests::patience();
        loop {
            if let Some(ended) = self.ended() {
                return ended;
            }
            assert!(tokio::time::Instant::now() < deadline, "the worker does not end");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }

    /// Returns its exit status, if it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().expect("its state")
    }
}

impl Drop for Worker {
    /// SIGKILL: the worker has no say.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
