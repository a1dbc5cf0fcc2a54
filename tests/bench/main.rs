//! What Fanfare costs, beside BullMQ and stock apalis-redis, on the same Redis and PostgreSQL in one run.
//!
//! `make bench` runs all of it; `make bench ONLY="full lateness" POSTS=5000` a part. Every figure stands beside a peer's
//! from the same minutes on the same machine, so that ratios mean something even where seconds do not.

#![expect(clippy::print_stdout, reason = "its tables are what a benchmark is for")]
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a benchmark stops at what is wrong")]

mod bullmq;
mod cpu;
mod full;
mod lateness;
mod load;
mod network;
mod queue;
mod queue_child;
mod servers;
mod service;
mod table;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
struct Args {
    /// Which benchmarks; all if none is named.
    #[arg(long, value_delimiter = ' ')]
    only: Vec<String>,
    /// Posts or jobs of each run.
    #[arg(long, default_value_t = 20_000)]
    posts: usize,
    /// Fanfare alone, without its peers: for profiling.
    #[arg(long)]
    own: bool,
    /// What `cargo bench` adds.
    #[arg(long, hide = true)]
    bench: bool,
    #[command(subcommand)]
    part: Option<Part>,
}

/// Parts of a benchmark that run in processes of their own, so that each one's time is counted by itself.
#[derive(Debug, Subcommand)]
enum Part {
    /// A network to publish to, which notes when each post arrives.
    Network { delay_ms: u64 },
    /// One backend filled and drained.
    Queue { backend: String, jobs: usize, redis_url: String },
}

fn main() {
    let args = Args::parse();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        match args.part {
            Some(Part::Network { delay_ms }) => network::serve(delay_ms).await,
            Some(Part::Queue { backend, jobs, redis_url }) => {
                queue_child::run(&backend, jobs, &redis_url).await;
            }
            None => all(&args.only, args.posts, !args.own).await,
        }
    });
}

async fn all(only: &[String], posts: usize, peers: bool) {
    let wanted = |name: &str| only.is_empty() || only.iter().any(|one| one == name);
    let unknown = only.iter().find(|name| !["queue", "full", "lateness"].contains(&name.as_str()));
    if let Some(name) = unknown {
        eprintln!("There is no benchmark called {name}; there are queue, full and lateness.");
        std::process::exit(2);
    }
    if wanted("queue") {
        queue::run(posts).await;
    }
    if wanted("full") {
        full::run(posts, peers).await;
    }
    if wanted("lateness") {
        lateness::run(posts / 2, peers).await;
    }
}
