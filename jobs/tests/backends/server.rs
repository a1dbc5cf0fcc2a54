use std::{
    net::{Ipv4Addr, TcpListener},
    process::{Child, Command, Stdio},
    time::Duration,
};

use redis::{Client, FromRedisValue, InfoDict, RedisResult, cmd};
use tokio::time::{sleep, timeout};

const INSTALL: &str = "install the package redis-server (Debian) or redis (Homebrew)";

/// A Redis server of one test, on a port of its own, that keeps nothing on disk.
pub struct Server {
    port: u16,
    options: Vec<String>,
    child: Option<Child>,
}

impl Server {
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    pub async fn start_with(options: &[&str]) -> Self {
        for _ in 0..5 {
            let mut server = Self::not_started();
            server.options = options.iter().map(|&option| option.to_owned()).collect();
            if server.comes_up().await {
                return server;
            }
        }
        panic!("redis-server ends at its start; run it by hand to see why");
    }

    /// The address of a server that is still to come.
    pub fn not_started() -> Self {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        Self { port: free.local_addr().unwrap().port(), options: Vec::new(), child: None }
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Starts it, empty, on the port it has.
    pub async fn up(&mut self) {
        assert!(self.comes_up().await, "somebody else has taken the port of the test");
    }

    /// Starts it and waits until it answers; false if it cannot have its port.
    async fn comes_up(&mut self) -> bool {
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port"])
            .arg(self.port.to_string())
            .args(&self.options)
            .current_dir(std::env::temp_dir())
            .stdout(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("these tests need Redis 7 ({error}): {INSTALL}"));
        let id = child.id();
        let child = self.child.insert(child);
        let mut ended = || child.try_wait().unwrap().is_some();
        let answers = async {
            while !ended() {
                let info = ask::<InfoDict>(self.port, &["INFO", "server"]).await;
                if info.is_ok_and(|info| info.get::<u32>("process_id") == Some(id)) {
                    return true;
                }
                sleep(Duration::from_millis(10)).await;
            }
            false
        };
        timeout(Duration::from_secs(30), answers).await.unwrap()
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
    pub async fn ask<T: FromRedisValue>(&self, words: &[&str]) -> RedisResult<T> {
        ask(self.port, words).await
    }

    /// Returns how many pops it has answered.
    pub async fn pops(&self) -> u64 {
        let info: InfoDict = self.ask(&["INFO", "commandstats"]).await.unwrap();
        let stats: String = info.get("cmdstat_bzmpop").unwrap_or_default();
        let calls = stats.split(',').find_map(|pair| pair.strip_prefix("calls="));
        calls.map_or(0, |calls| calls.parse().unwrap())
    }

    /// Returns how many clients wait in a blocking command.
    pub async fn blocked(&self) -> u64 {
        let info: InfoDict = self.ask(&["INFO", "clients"]).await.unwrap();
        info.get("blocked_clients").unwrap()
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

async fn ask<T: FromRedisValue>(port: u16, words: &[&str]) -> RedisResult<T> {
    let client = Client::open(format!("redis://127.0.0.1:{port}/"))?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    let mut command = cmd(words[0]);
    command.arg(&words[1..]);
    command.query_async(&mut connection).await
}
