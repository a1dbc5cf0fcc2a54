//! The network that all parties publish to.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use crate::{cpu, network::Arrivals};

/// The network of `network.rs` in a process of its own, which ends on drop.
pub struct NetworkProcess {
    child: Child,
    /// Its origin.
    pub url: String,
}

impl NetworkProcess {
    /// Starts a network that answers after `delay_ms`.
    pub fn start(delay_ms: u64) -> Self {
        let me = std::env::current_exe().expect("our own path");
        let mut child = Command::new(me)
            .args(["network", &delay_ms.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the network starts");
        let mut url = String::new();
        let said = BufReader::new(child.stdout.take().expect("its output")).read_line(&mut url);
        said.expect("its address");
        Self { child, url: url.trim().to_owned() }
    }

    /// Returns the arrivals.
    pub async fn arrived(&self) -> Arrivals {
        self.ask("arrived").await
    }

    /// Returns the arrivals of a tenant, by its number, or of another kind of call, by its name.
    pub async fn arrived_of(&self, tenant: impl std::fmt::Display) -> Arrivals {
        self.ask(&format!("arrived/{tenant}")).await
    }

    async fn ask(&self, path: &str) -> Arrivals {
        let answer = http().get(format!("{}/{path}", self.url)).send().await.expect("an answer");
        answer.json().await.expect("what has arrived")
    }

    /// Returns its CPU time so far, in ms.
    pub fn cpu(&self) -> f64 {
        cpu::of(self.child.id())
    }

    /// Waits until `posts` have arrived, or none has arrived for a minute.
    pub async fn until(&self, posts: usize) -> Arrivals {
        let (mut before, mut idle) = (0, 0);
        loop {
            let arrived = self.ask("arrived/count").await.posts;
            if arrived >= posts {
                return self.arrived().await;
            }
            idle = if arrived == before { idle + 1 } else { 0 };
            before = arrived;
            assert!(idle < 1_200, "only {before} of {posts} posts have arrived, and no more come");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
}

impl Drop for NetworkProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns an HTTP client for this machine.
pub fn http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().expect("a client")
}
