//! Benchmarks of Fanfare beside BullMQ and stock apalis-redis, on the same Redis and PostgreSQL in one run.
//!
//! `make bench` runs all of it; `make bench ONLY="full lateness" POSTS=5000` a part. Every figure is shown beside a
//! peer's from the same minutes on the same machine, so that ratios are meaningful even where absolute times are not.

#![expect(clippy::print_stdout, reason = "its tables are what a benchmark is for")]
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a benchmark stops at what is wrong")]

mod analysis;
mod api;
mod backlog;
mod bare;
mod bullmq;
mod cpu;
mod full;
mod groups;
mod inbox;
mod lateness;
mod limits;
mod load;
mod media;
mod memory;
mod network;
mod pending;
mod process;
mod queue;
mod queue_child;
mod servers;
mod service;
mod soak;
mod start;
mod sync;
mod table;
mod tenants;
mod webhooks;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
struct Args {
    /// The benchmarks to run; all if none is named.
    #[arg(long, value_delimiter = ' ')]
    only: Vec<String>,
    /// Posts or jobs of each run.
    #[arg(long, default_value_t = 20_000)]
    posts: usize,
    /// Posts, or jobs, under way at a time in `full`, of every party.
    #[arg(long, default_value_t = 256)]
    slots: usize,
    /// The number of times every party of `full` runs, in turn; the run in the middle counts.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Most posts that wait for a far time in `pending`.
    #[arg(long, default_value_t = 1_000_000)]
    pending: usize,
    /// Days of `soak`.
    #[arg(long, default_value_t = 3)]
    days: u64,
    /// Size of the file of `media`, in MB.
    #[arg(long, default_value_t = 4_000)]
    megabytes: usize,
    /// Films, and pictures, that are looked at.
    #[arg(long, default_value_t = 200)]
    files: usize,
    /// Fanfare alone, without its peers: for profiling.
    #[arg(long)]
    own: bool,
    /// The flag that `cargo bench` adds.
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
    /// Handlers with nothing around them.
    Bare { database: String, redis: String },
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
            Some(Part::Bare { database, redis }) => bare::serve(&database, &redis).await,
            None => all(&args).await,
        }
    });
}

/// The list of benchmarks.
const ALL: [&str; 14] = [
    "queue", "full", "backlog", "lateness", "tenants", "webhooks", "sync", "inbox", "pending",
    "limits", "api", "start", "media", "analysis",
];

/// Not in [`ALL`]: it takes long, and shows what is left after days, not speed.
const SOAK: &str = "soak";

async fn all(args: &Args) {
    let unknown = args.only.iter().find(|name| !ALL.contains(&name.as_str()) && *name != SOAK);
    if let Some(name) = unknown {
        eprintln!("There is no benchmark called {name}; there are {} and {SOAK}.", ALL.join(", "));
        std::process::exit(2);
    }
    let wanted =
        if args.only.is_empty() { ALL.map(str::to_owned).to_vec() } else { args.only.clone() };
    for name in wanted {
        run(&name, args).await;
    }
}

async fn run(name: &str, args: &Args) {
    let (posts, peers) = (args.posts, !args.own);
    match name {
        "queue" => queue::run(posts).await,
        "full" => full::run(posts, args.slots, args.rounds, peers).await,
        "backlog" => backlog::run(posts, args.slots).await,
        "lateness" => lateness::run(posts / 2, peers).await,
        "tenants" => tenants::run(posts).await,
        "webhooks" => webhooks::run().await,
        "sync" => sync::run(args.rounds).await,
        "inbox" => inbox::run().await,
        "pending" => pending::run(args.pending).await,
        "limits" => limits::run().await,
        "api" => api::run(posts / 4).await,
        "start" => start::run().await,
        "media" => media::run(args.megabytes).await,
        "analysis" => analysis::run(args.files).await,
        _ => soak::run(args.days).await,
    }
}
