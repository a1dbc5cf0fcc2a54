//! The PostgreSQL and Redis that all parties share, started by `scripts/with-services.sh`.

use std::sync::atomic::{AtomicU32, Ordering};

use sea_orm::{ConnectionTrait, Database, Statement};

use crate::cpu;

/// The servers' addresses and processes.
pub struct Servers {
    postgres_url: String,
    redis_url: String,
    /// The first process of PostgreSQL.
    pub postgres: u32,
    /// The process of Redis.
    pub redis: u32,
}

impl Servers {
    /// Finds the servers.
    pub async fn find() -> Self {
        let (postgres_url, redis_url) = (variable("TEST_POSTGRES_URL"), variable("TEST_REDIS_URL"));
        let conn = Database::connect(&postgres_url).await.expect("PostgreSQL answers");
        let backend = conn.get_database_backend();
        let asked = Statement::from_string(backend, "SELECT pg_backend_pid() AS pid");
        let row = conn.query_one_raw(asked).await.expect("an answer").expect("a row");
        let backend: i32 = row.try_get("", "pid").expect("a process id");
        let postgres = cpu::parent(u32::try_from(backend).expect("a process id"));
        conn.close().await.expect("closed");
        let client = redis::Client::open(redis_url.as_str()).expect("an address");
        let mut redis = client.get_multiplexed_async_connection().await.expect("Redis answers");
        let info: String =
            redis::cmd("INFO").arg("server").query_async(&mut redis).await.expect("an answer");
        let pid = info.lines().find_map(|line| line.strip_prefix("process_id:"));
        let redis = pid.and_then(|pid| pid.trim().parse().ok()).expect("a process id");
        Self { postgres_url, redis_url, postgres, redis }
    }

    /// Creates a database; returns its address.
    pub async fn database(&self) -> String {
        let name = format!("bench_{}", uuid::Uuid::now_v7().simple());
        let conn = Database::connect(&self.postgres_url).await.expect("PostgreSQL answers");
        conn.execute_unprepared(&format!("CREATE DATABASE {name}")).await.expect("a database");
        conn.close().await.expect("closed");
        let (root, _) = self.postgres_url.rsplit_once('/').expect("an address");
        format!("{root}/{name}")
    }

    /// Returns the address of an empty Redis database.
    pub fn redis(&self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        format!("{}/{}", self.redis_url, NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Empties Redis.
    pub async fn flush_redis(&self) {
        let _: () = self.ask(redis::cmd("FLUSHALL")).await;
    }

    /// Returns Redis's own count of its memory, in MiB.
    pub async fn redis_memory(&self) -> f64 {
        let said: String = self.ask(redis::cmd("INFO").arg("memory").clone()).await;
        let bytes = said.lines().find_map(|line| line.strip_prefix("used_memory:"));
        let bytes: f64 = bytes.and_then(|bytes| bytes.trim().parse().ok()).expect("bytes");
        bytes / 1_048_576.0
    }

    async fn ask<T: redis::FromRedisValue>(&self, command: redis::Cmd) -> T {
        let client = redis::Client::open(self.redis_url.as_str()).expect("an address");
        let mut redis = client.get_multiplexed_async_connection().await.expect("Redis answers");
        command.query_async(&mut redis).await.expect("an answer")
    }

    /// Returns the CPU time of both servers so far, in ms.
    pub fn cpu(&self) -> f64 {
        cpu::with_children(self.postgres) + cpu::of(self.redis)
    }
}

#[expect(clippy::disallowed_methods, reason = "where `make bench` says its servers are")]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        eprintln!("{name} is not set: run `make bench`, which starts PostgreSQL and Redis.");
        std::process::exit(2)
    })
}
