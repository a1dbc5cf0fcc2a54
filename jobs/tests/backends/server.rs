use std::{
    net::{Ipv4Addr, TcpListener},
    process::{Child, Command, Stdio},
    time::Duration,
};

use redis::{InfoDict, aio::MultiplexedConnection, cmd};
use tokio::time::{sleep, timeout};

/// A Redis server of one test, on a port of its own, that keeps nothing on disk.
pub struct Server {
    port: u16,
    options: Vec<String>,
    child: Option<Child>,
}

impl Server {
    pub async fn start() -> Self {
        let mut server = Self::not_started();
        server.up().await;
        server
    }

    pub async fn start_with(options: &[&str]) -> Self {
        let mut server = Self::not_started();
        server.options = options.iter().map(|&option| option.to_owned()).collect();
        server.up().await;
        server
    }

    /// The address of a server that is still to come.
    pub fn not_started() -> Self {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        Self { port: free.local_addr().unwrap().port(), options: Vec::new(), child: None }
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Starts it, empty, and waits until it answers.
    pub async fn up(&mut self) {
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port"])
            .arg(self.port.to_string())
            .args(&self.options)
            .current_dir(std::env::temp_dir())
            .stdout(Stdio::null())
            .spawn()
            .expect("these tests need Redis 7: install the package redis-server (Debian) or redis (Homebrew)");
        self.child = Some(child);
        let answers = async {
            while self.ask::<()>(&["PING"]).await.is_err() {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(Duration::from_secs(20), answers)
            .await
            .expect("redis-server answers after its start");
    }

    /// Kills it; all it had is gone.
    pub fn down(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Makes it hang with all connections open, until [`thaw`](Self::thaw).
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    /// Asks the server itself, past the code under test.
    pub async fn ask<T: redis::FromRedisValue>(&self, words: &[&str]) -> redis::RedisResult<T> {
        let mut connection = self.connect().await?;
        let mut command = cmd(words[0]);
        command.arg(&words[1..]);
        command.query_async(&mut connection).await
    }

    /// How many pops it has answered.
    pub async fn pops(&self) -> u64 {
        let info: InfoDict = self.ask(&["INFO", "commandstats"]).await.unwrap();
        let stats: String = info.get("cmdstat_bzmpop").unwrap_or_default();
        let calls = stats.split(',').find_map(|pair| pair.strip_prefix("calls="));
        calls.map_or(0, |calls| calls.parse().unwrap())
    }

    /// How many clients wait in a blocking command.
    pub async fn blocked(&self) -> u64 {
        let info: InfoDict = self.ask(&["INFO", "clients"]).await.unwrap();
        info.get("blocked_clients").unwrap()
    }

    async fn connect(&self) -> redis::RedisResult<MultiplexedConnection> {
        redis::Client::open(self.url())?.get_multiplexed_async_connection().await
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            _ = child.kill();
            _ = child.wait();
        }
    }
}
