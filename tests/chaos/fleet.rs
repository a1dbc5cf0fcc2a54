//! A fleet of processes with private servers, for faults.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use fanfare_core::vault::Vault;
use fanfare_tests::{Postgres, Redis, Simulator, User};
use sea_orm::{ConnectOptions, DatabaseConnection};

use crate::process::Process;

/// Posts that a worker publishes at once.
const SLOTS: &str = "16";

/// API, workers, simulated networks, PostgreSQL and Redis; all end on drop, the servers last.
pub struct Fleet {
    /// Its workers.
    pub workers: Vec<Process>,
    /// Its API processes.
    pub apis: Vec<Process>,
    /// The simulated networks.
    _networks: Process,
    /// One caller for each API process.
    pub users: Vec<User>,
    /// Its database, for checks.
    pub db: DatabaseConnection,
    /// Its Redis.
    pub redis: Redis,
    /// Its PostgreSQL.
    pub postgres: Postgres,
    variables: Vec<(String, String)>,
    /// Its files.
    pub dir: Dir,
}

impl Fleet {
    /// Starts a fleet with this number of API processes and no workers.
    ///
    /// # Panics
    /// Something it needs is missing.
    pub async fn start(apis: usize) -> Self {
        let (postgres, redis, dir) = (Postgres::start(), Redis::start(), Dir::new());
        let networks = networks(&dir);
        let variables = owned(&[
            ("FANFARE_DATABASE_URL", postgres.url().to_owned()),
            ("FANFARE_REDIS_URL", redis.url()),
            ("FANFARE_DATA_DIR", dir.path("data")),
            ("FANFARE_MEDIA_URL", format!("file://{}", dir.path("media"))),
            ("FANFARE_MASTER_KEY", Vault::fresh_key()),
            ("FANFARE_SANDBOX_URL", networks.address()),
            ("FANFARE_SANDBOX_SECRET", secret_of_networks(&dir)),
            ("FANFARE_ALLOW_PRIVATE_TARGETS", "true".to_owned()),
            ("FANFARE_LIMITS_FACTOR", "100000".to_owned()),
            ("FANFARE_LISTEN", "127.0.0.1:0".to_owned()),
            ("FANFARE_LOG", "warn".to_owned()),
        ]);
        let made = command(&["migrate"], &variables).output().expect("migrate runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let key = command(&["key", "create", "--email", "chaos@example.com"], &variables).output();
        let key = String::from_utf8(key.expect("a key").stdout).expect("a key").trim().to_owned();
        let mut options = ConnectOptions::new(postgres.url());
        options.max_connections(4).sqlx_logging(false);
        let db = sea_orm::Database::connect(options).await.expect("PostgreSQL answers");
        let mut fleet = Self {
            workers: Vec::new(),
            apis: Vec::new(),
            _networks: networks,
            users: Vec::new(),
            db,
            redis,
            postgres,
            variables,
            dir,
        };
        for _ in 0..apis {
            fleet.start_api(&key, &[]);
        }
        fleet
    }

    /// Kills an API process with SIGKILL, and starts another one at its address.
    pub fn restart_api(&mut self, place: usize) {
        let address = self.apis[place].address();
        let listen = address.trim_start_matches("http://").to_owned();
        self.apis[place].signal("-KILL");
        while self.apis[place].ended().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        self.apis[place] = Process::start(self.command(&["api"], &[("FANFARE_LISTEN", listen)]));
    }

    /// Starts another API process.
    pub fn start_api(&mut self, key: &str, more: &[(&str, String)]) {
        let api = Process::start(self.command(&["api"], more));
        self.users.push(User::new(&api.address(), key.to_owned()));
        self.apis.push(api);
    }

    /// Returns the first caller.
    pub fn user(&self) -> &User {
        &self.users[0]
    }

    /// Starts a worker with additional variables.
    pub fn worker(&self, more: &[(&str, String)]) -> Process {
        self.worker_of(SLOTS, more)
    }

    /// Starts a worker with this concurrency and additional variables.
    pub fn worker_of(&self, slots: &str, more: &[(&str, String)]) -> Process {
        Process::start(self.command(&["worker", "--concurrency", slots], more))
    }

    /// Starts this number of workers.
    pub fn work(&mut self, workers: usize) {
        for _ in 0..workers {
            let worker = self.worker(&[]);
            self.workers.push(worker);
        }
    }

    /// Returns a command of the binary with the fleet's variables and these.
    fn command(&self, args: &[&str], more: &[(&str, String)]) -> Command {
        let mut command = command(args, &self.variables);
        command.envs(more.iter().map(|(name, value)| (*name, value)));
        command
    }

    /// Returns the processes that have ended, with their last output.
    pub fn ended(&mut self) -> Vec<String> {
        let all = self.apis.iter_mut().chain(&mut self.workers);
        all.filter_map(|process| {
            let ended = process.ended()?;
            Some(format!("a process ended by itself ({ended}): {:?}", process.logged().last()))
        })
        .collect()
    }
}

/// Returns a command of the binary with these variables only.
pub fn command(args: &[&str], variables: &[(String, String)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
    command.args(args).envs(variables.iter().map(|(name, value)| (name, value)));
    command
}

/// Starts the simulated networks in a process of their own.
pub fn networks(dir: &Dir) -> Process {
    let variables = owned(&[
        ("FANFARE_DATA_DIR", dir.path("networks")),
        ("FANFARE_LISTEN", "127.0.0.1:0".to_owned()),
        ("FANFARE_LOG", "error".to_owned()),
    ]);
    Process::start(command(&["sandbox"], &variables))
}

/// Returns the secret of the simulated networks' control.
pub fn secret_of_networks(dir: &Dir) -> String {
    Simulator::of(Path::new(&dir.path("networks"))).secret
}

/// Returns variables with owned names.
pub fn owned(variables: &[(&str, String)]) -> Vec<(String, String)> {
    variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// A directory that is removed on drop.
pub struct Dir(PathBuf);

impl Dir {
    /// Creates one.
    pub fn new() -> Self {
        let name = format!("fanfare-chaos-{}", uuid::Uuid::now_v7().simple());
        let dir = std::env::temp_dir().join(name);
        for inner in ["data", "media", "networks"] {
            std::fs::create_dir_all(dir.join(inner)).expect("a temporary directory");
        }
        Self(dir)
    }

    /// Returns the path of this name.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
