//! `fanfare worker`: workers alone.

use anyhow::Result;
use fanfare_jobs::QueueName;
use fanfare_workers::Options;

use super::{say, stop_on_signal, worker_name};
use crate::{
    config::Config,
    metrics,
    start::{self, StartOptions},
};

/// The options of a worker.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Queues to serve, separated by commas: publish, webhook, media, analyse, convert, upkeep, mail, billing, ai.
    #[arg(long, value_delimiter = ',', default_values_t = QueueName::ALL.map(|queue| queue.as_str().to_owned()).to_vec())]
    queues: Vec<String>,
    /// Posts that are with one network at once; each other network has up to a quarter of it besides.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=4096))]
    concurrency: u16,
}

/// Runs until it is stopped.
///
/// # Errors
/// The worker could not start.
pub async fn run(config: Config, args: Args) -> Result<()> {
    crate::init_log(&config)?;
    let queues =
        args.queues.iter().map(|name| name.parse()).collect::<Result<Vec<QueueName>, _>>()?;
    let stop = stop_on_signal();
    let way =
        StartOptions { listen: config.listen, migrate: config.is_embedded(), simulator: None };
    let cx = start::domain(&config, way).await?;
    metrics::start(&config, "worker", &cx, stop.clone()).await?;
    let name = worker_name();
    say(format_args!("Worker {name} serves {}", args.queues.join(", ")));
    let cx = fanfare_workers::Context::new(cx, name);
    let options = Options { queues, slots: usize::from(args.concurrency), ..Options::default() };
    fanfare_workers::run(cx, options, stop).await?;
    Ok(())
}
