//! The workers: they claim due rows, do the work, and write the results.
//!
//! Each kind of work has a file of its name here and a payload of the same name in `jobs`. [`run`] starts one apalis
//! worker for each kind, and the scheduler, which enqueues due rows.

mod analyse_media;
mod apply_inbound;
mod apply_stripe_event;
mod clean_up;
mod context;
mod convert_media;
mod copy_attachment;
mod copy_media;
mod counters;
mod delete_workspace;
mod deliver_webhook;
mod derive_suggestions;
mod dispatcher;
mod engine;
mod heartbeat;
mod keep_account;
mod lease;
mod make_video;
mod paused_posts;
mod prefetch;
mod publish_post;
mod queue_sampler;
mod scheduler;
mod send_mail;
mod send_outgoing;
mod strangers;
mod sync_analytics;
mod sync_business;
mod sync_inbox;

use std::time::Duration;

use fanfare_core::clock;
use fanfare_jobs::{Concurrency, Job, JobKind, QueueName};
use fanfare_publishing::posts::dead_workers;
use tokio::task::JoinSet;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

pub use apply_stripe_event::run as apply_stripe_event;
pub use context::{Connector, Context};
pub use heartbeat::hostname;
pub use make_video::run as make_video;
pub use publish_post::run as publish_post;
pub use send_mail::run as send_mail;
pub use send_outgoing::run as send_outgoing;

/// The options of a worker process.
#[derive(Debug, Clone)]
pub struct Options {
    /// The queues it serves.
    pub queues: Vec<QueueName>,
    /// The number of posts published at once. A network always finds a quarter of that, even while others use all
    /// slots. Other kinds of work use a share of it.
    pub slots: usize,
    /// The longest time that running work may still take after a stop.
    pub grace: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { queues: QueueName::ALL.to_vec(), slots: 256, grace: Duration::from_secs(40) }
    }
}

/// Runs the workers, the scheduler and the clock until `stop`; returns when running work has ended.
///
/// # Errors
/// A worker could not be started.
pub async fn run(
    cx: Context,
    options: Options,
    stop: CancellationToken,
) -> Result<(), fanfare_jobs::Error> {
    clock::follow_first(&cx.domain, &stop).await;
    clean_up::ensure(&cx.domain).await;
    if !cx.domain.db.is_postgres() {
        // Only one process uses this database, so leases in it belong to a process that has ended.
        match dead_workers::end_leases(&cx.domain, "coalesce(held_by, '') <> $2", &cx.name).await {
            Ok(ended) => {
                tracing::debug!(rows = ended, "the work of an earlier process is due again")
            }
            Err(error) => tracing::warn!(%error, "the leases of an earlier process have to expire"),
        }
    }
    cx.domain.limits.register();
    cx.post_dispatcher.set_slots(options.slots);
    let deliveries = JobKind::DeliverWebhook.slots();
    cx.delivery_dispatcher.set_slots(deliveries.under_way(options.slots, processors()));
    let all_ended = CancellationToken::new();
    let beating = tokio::spawn(heartbeat::run(cx.clone(), options.clone(), all_ended.clone()));
    let mut tasks = JoinSet::new();
    for kind in JobKind::ALL.into_iter().filter(|kind| options.queues.contains(&kind.queue())) {
        let (cx, options, stop) = (cx.clone(), options.clone(), stop.clone());
        tasks.spawn(async move { work_unless_drained(kind, cx, &options, stop).await });
    }
    let (scheduling, until) = (cx.clone(), stop.clone());
    tasks.spawn(async move {
        scheduler::run(&scheduling, until).await;
        Ok(())
    });
    let following = clock::follow(cx.domain.clone(), stop.clone());
    tasks.spawn(async move {
        following.await;
        Ok(())
    });
    let mut outcome = Ok(());
    while let Some(ended) = tasks.join_next().await {
        if let Ok(Err(error)) = ended {
            stop.cancel();
            outcome = Err(error);
        }
    }
    all_ended.cancel();
    let _ = beating.await;
    outcome
}

/// Works until `stop`, except while an operator drains this process.
async fn work_unless_drained(
    kind: JobKind,
    cx: Context,
    options: &Options,
    stop: CancellationToken,
) -> Result<(), fanfare_jobs::Error> {
    while !stop.is_cancelled() {
        tokio::select! {
            () = cx.in_flight.wait_for_drained(false) => {}
            () = stop.cancelled() => return Ok(()),
        }
        let until = stop.child_token();
        let (drained, drain) = (cx.clone(), until.clone());
        let listening = AbortOnDropHandle::new(tokio::spawn(async move {
            drained.in_flight.wait_for_drained(true).await;
            drain.cancel();
        }));
        work(kind, cx.clone(), options, until).await?;
        drop(listening);
    }
    Ok(())
}

macro_rules! handlers {
    ($($(#[$about:meta])+ $kind:ident $module:ident $queue:ident $table:literal $shared:literal $slots:ident($most:expr);)+) => {
        /// Starts the worker for one kind of work: its handler is the function `run` in the file of its name.
        async fn work(
            kind: JobKind,
            cx: Context,
            options: &Options,
            stop: CancellationToken,
        ) -> Result<(), fanfare_jobs::Error> {
            let rows = kind.slots().rows(options.slots, processors());
            match kind {
                $(JobKind::$kind => {
                    start::<fanfare_jobs::$kind, _, _>(cx, rows, options, stop, $module::run).await
                })+
            }
        }
    };
}

fanfare_jobs::for_each_kind!(handlers);

/// Returns the number of processors: analyses and conversions are bounded by the machine, not by the option.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
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
    let slots = Concurrency::new(slots);
    let queue = cx.domain.queue.clone();
    let handler = move |job: J| {
        let (id, cx) = (job.id(), cx.clone());
        let working = run(job, cx.clone());
        async move {
            let _in_flight = cx.in_flight.begin(J::KIND, id, cx.now());
            working.await;
        }
    };
    fanfare_jobs::run_worker(name, &queue, slots, handler, stop, options.grace).await
}
