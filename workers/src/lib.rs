//! The workers: they take due rows, do what the rows say, and write down what came of it.
//!
//! Each kind of work has a file of its name here and a payload of the same name in `jobs`. [`run`] starts one apalis
//! worker for each kind; [`sweep`] rings for due rows that nobody rang for.

mod clean_up;
mod clock;
mod context;
mod copy_media;
mod deliver_webhook;
pub mod failpoint;
mod group;
mod publish_post;
mod shares;
mod sweeper;

use std::time::Duration;

use fanfare_jobs::{CleanUp, CopyMedia, DeliverWebhook, Job, Kind, PublishPost, Queue, Slots};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use context::Context;

/// How a worker process works.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which queues it serves.
    pub queues: Vec<Queue>,
    /// How many posts it publishes at once; other kinds get a share of it.
    pub slots: usize,
    /// How long running work may take to end after a stop.
    pub grace: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { queues: Queue::ALL.to_vec(), slots: 256, grace: Duration::from_secs(40) }
    }
}

/// Runs the workers, the sweeper and the clock until `stop`; returns when running work has ended.
///
/// # Errors
/// A worker could not be started.
pub async fn run(
    cx: Context,
    options: Options,
    stop: CancellationToken,
) -> Result<(), fanfare_jobs::Error> {
    clock::measure_first(&cx.domain, &stop).await;
    clean_up::ensure(&cx.domain).await;
    cx.post_shares.set_slots(options.slots);
    cx.delivery_shares.set_slots(delivery_slots(&options));
    let mut tasks = JoinSet::new();
    for kind in Kind::ALL.into_iter().filter(|kind| options.queues.contains(&kind.queue())) {
        let (cx, options, stop) = (cx.clone(), options.clone(), stop.clone());
        tasks.spawn(async move { work(kind, cx, &options, stop).await });
    }
    let (swept, swept_until) = (cx.clone(), stop.clone());
    tasks.spawn(async move {
        sweeper::run(&swept, swept_until).await;
        Ok(())
    });
    let (followed, followed_until) = (cx.clone(), stop.clone());
    tasks.spawn(async move {
        clock::follow(&followed.domain, followed_until).await;
        Ok(())
    });
    let mut outcome = Ok(());
    while let Some(ended) = tasks.join_next().await {
        if let Ok(Err(error)) = ended {
            stop.cancel();
            outcome = Err(error);
        }
    }
    outcome
}

/// The one list of what is done for which kind of work.
async fn work(
    kind: Kind,
    cx: Context,
    options: &Options,
    stop: CancellationToken,
) -> Result<(), fanfare_jobs::Error> {
    let slots = options.slots;
    match kind {
        Kind::PublishPost => {
            start::<PublishPost, _, _>(cx, slots, options, stop, publish_post::run).await
        }
        Kind::DeliverWebhook => {
            let slots = delivery_slots(options);
            start::<DeliverWebhook, _, _>(cx, slots, options, stop, deliver_webhook::run).await
        }
        Kind::CopyMedia => {
            start::<CopyMedia, _, _>(cx, slots.min(16), options, stop, copy_media::run).await
        }
        Kind::CleanUp => start::<CleanUp, _, _>(cx, 1, options, stop, clean_up::run).await,
    }
}

/// How many webhooks are delivered at once.
fn delivery_slots(options: &Options) -> usize {
    options.slots.min(64)
}

async fn start<J, F, Fut>(
    cx: Context,
    slots: usize,
    options: &Options,
    stop: CancellationToken,
    run: F,
) -> Result<(), fanfare_jobs::Error>
where
    J: Job,
    F: Fn(J, Context) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let name = format!("{}-{}", cx.name, J::KIND.as_str());
    let bell = cx.domain.bell.clone();
    let handler = move |job: J| run(job, cx.clone());
    fanfare_jobs::run_worker(name, &bell, Slots::new(slots), handler, stop, options.grace).await
}
