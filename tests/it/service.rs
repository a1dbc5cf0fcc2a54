//! `fanfare up` in a process of its own.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
};

use fanfare_core::vault::Vault;
use fanfare_tests::{Stack, User};

/// `fanfare up` in a process of its own, killed at the latest with the test.
pub struct Service {
    child: Child,
    /// Origin of its API.
    pub origin: String,
    /// The key that its first start printed.
    pub key: Option<String>,
    logged: Arc<Mutex<Vec<String>>>,
}

impl Service {
    /// Starts one with these variables on what is embedded in `dir`. `is_first`: its key is waited for.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(dir: &Path, is_first: bool, variables: &[(&str, &str)]) -> Self {
        Self::spawn(Command::new(env!("CARGO_BIN_EXE_fanfare")), dir, is_first, variables)
    }

    /// Starts one for the first time that can write no file larger than `bytes`: a write beyond that fails, as on a full
    /// disk.
    ///
    /// # Panics
    /// It does not start.
    pub fn start_limited(dir: &Path, bytes: u64, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new("bash");
        // Without the signal that comes with it, which would end the process.
        let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", bytes / 1_024);
        command.args(["-c", &limit, env!("CARGO_BIN_EXE_fanfare")]);
        Self::spawn(command, dir, true, variables)
    }

    /// Starts one for the first time that may have so many descriptors.
    ///
    /// # Panics
    /// It does not start.
    pub fn start_with_descriptors(dir: &Path, most: u64, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new("bash");
        let limit = format!("ulimit -n {most}; exec \"$0\" \"$@\"");
        command.args(["-c", &limit, env!("CARGO_BIN_EXE_fanfare")]);
        Self::spawn(command, dir, true, variables)
    }

    fn spawn(mut command: Command, dir: &Path, is_first: bool, variables: &[(&str, &str)]) -> Self {
        let mut child = command
            .arg("up")
            .env("FANFARE_LISTEN", "127.0.0.1:0")
            .env("FANFARE_DATA_DIR", dir)
            .env("FANFARE_LOG", "error")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let logged = Arc::<Mutex<Vec<String>>>::default();
        let (lines, kept) = (child.stderr.take().expect("its log"), Arc::clone(&logged));
        std::thread::spawn(move || {
            for line in BufReader::new(lines).lines().map_while(Result::ok) {
                kept.lock().expect("the lock").push(line);
            }
        });
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let first = lines.next().expect("a line").expect("a line");
        let origin = first.split_whitespace().nth(3).expect("an address").to_owned();
        let rest = is_first.then_some(lines).into_iter().flatten();
        let key = rest.map_while(Result::ok).find(|line| line.starts_with("fan_"));
        Self { child, origin, key, logged }
    }

    /// Starts one with these variables on an empty database and queue of the stack that this run tests.
    pub async fn on_stack(dir: &Path, variables: &[(&str, &str)]) -> Self {
        std::fs::create_dir_all(dir).expect("a directory");
        let stack = Stack::of_this_run();
        let ((_, database), redis) = (stack.database(dir).await, stack.redis_url());
        let master_key = Vault::fresh_key();
        let mut all = vec![
            ("FANFARE_DATABASE_URL", database.as_str()),
            ("FANFARE_MASTER_KEY", master_key.as_str()),
            ("FANFARE_ALLOW_PRIVATE_TARGETS", "true"),
        ];
        all.extend(redis.as_deref().map(|url| ("FANFARE_REDIS_URL", url)));
        all.extend(variables);
        Self::start(dir, true, &all)
    }

    /// The owner.
    ///
    /// # Panics
    /// It was not the first start.
    pub fn user(&self) -> User {
        User::new(&self.origin, self.key.clone().expect("the first start prints a key"))
    }

    /// Kills it and waits for its end.
    ///
    /// # Panics
    /// It cannot be killed.
    pub fn kill(&mut self) {
        self.child.kill().expect("it is killed");
        self.child.wait().expect("it ends");
    }

    /// Id of its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns its log so far, line by line.
    pub fn logged(&self) -> Vec<String> {
        self.logged.lock().expect("the lock").clone()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A directory of a test's own, removed with it.
pub struct Dir(std::path::PathBuf);

impl Dir {
    /// A name nobody else has; the directory is made by who uses it.
    pub fn new() -> Self {
        let name = format!("fanfare-test-{}", uuid::Uuid::now_v7().simple());
        Self(std::env::temp_dir().join(name))
    }
}

impl std::ops::Deref for Dir {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Waits until something holds.
///
/// # Panics
/// It does not in time.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, look: impl Fn() -> F) -> T {
    let deadline = tokio::time::Instant::now() + fanfare_tests::patience();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(tokio::time::Instant::now() < deadline, "never happened: {what}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}
