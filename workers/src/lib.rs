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
mod sync_analytics;
mod sync_business;
mod sync_inbox;

use std::time::Duration;

use fanfare_domain::{clock, durable};
use fanfare_jobs::{
    AnalyseMedia, ApplyInbound, ApplyStripeEvent, CleanUp, Concurrency, ConvertMedia,
    CopyAttachment, CopyMedia, DeleteWorkspace, DeliverWebhook, DeriveSuggestions, Job, JobKind, KeepAccount,
    MakeVideo, PublishPost, QueueName, SendMail, SendOutgoing, SyncAnalytics, SyncBusiness,
    SyncInbox,
};
use tokio::task::JoinSet;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

pub use context::{Connector, Context};
pub use heartbeat::hostname;
pub use publish_post::run as publish_post;

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

/// The rows that a worker holds for each of its slots: while one is being sent, others are being claimed or have their
/// results written.
const ROWS_PER_SLOT: usize = 4;

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
        match durable::end_leases(&cx.domain, "coalesce(held_by, '') <> $2", &cx.name).await {
            Ok(ended) => {
                tracing::debug!(rows = ended, "the work of an earlier process is due again")
            }
            Err(error) => tracing::warn!(%error, "the leases of an earlier process have to expire"),
        }
    }
    cx.domain.limits.register();
    cx.post_dispatcher.set_slots(options.slots);
    cx.delivery_dispatcher.set_slots(delivery_slots(&options));
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

/// Starts the worker for one kind of work. This is the list of all handlers.
async fn work(
    kind: JobKind,
    cx: Context,
    options: &Options,
    stop: CancellationToken,
) -> Result<(), fanfare_jobs::Error> {
    let slots = options.slots;
    match kind {
        JobKind::PublishPost => {
            let rows = slots * ROWS_PER_SLOT;
            start::<PublishPost, _, _>(cx, rows, options, stop, publish_post::run).await
        }
        JobKind::DeliverWebhook => {
            let rows = delivery_slots(options) * ROWS_PER_SLOT;
            start::<DeliverWebhook, _, _>(cx, rows, options, stop, deliver_webhook::run).await
        }
        JobKind::CopyMedia => {
            start::<CopyMedia, _, _>(cx, slots.min(16), options, stop, copy_media::run).await
        }
        JobKind::AnalyseMedia => {
            let slots = slots.min(2 * processors());
            start::<AnalyseMedia, _, _>(cx, slots, options, stop, analyse_media::run).await
        }
        JobKind::ConvertMedia => {
            let slots = slots.min(processors().div_ceil(2));
            start::<ConvertMedia, _, _>(cx, slots, options, stop, convert_media::run).await
        }
        JobKind::CleanUp => start::<CleanUp, _, _>(cx, 1, options, stop, clean_up::run).await,
        JobKind::KeepAccount => {
            start::<KeepAccount, _, _>(cx, slots.min(16), options, stop, keep_account::run).await
        }
        JobKind::ApplyStripeEvent => {
            let run = apply_stripe_event::run;
            start::<ApplyStripeEvent, _, _>(cx, slots.min(8), options, stop, run).await
        }
        JobKind::SyncBusiness => {
            start::<SyncBusiness, _, _>(cx, slots.min(8), options, stop, sync_business::run).await
        }
        JobKind::SyncInbox => {
            start::<SyncInbox, _, _>(cx, slots.min(16), options, stop, sync_inbox::run).await
        }
        JobKind::ApplyInbound => {
            start::<ApplyInbound, _, _>(cx, slots.min(16), options, stop, apply_inbound::run).await
        }
        JobKind::SendOutgoing => {
            start::<SendOutgoing, _, _>(cx, slots.min(32), options, stop, send_outgoing::run).await
        }
        JobKind::SyncAnalytics => {
            let slots = slots.min(16);
            start::<SyncAnalytics, _, _>(cx, slots, options, stop, sync_analytics::run).await
        }
        JobKind::DeriveSuggestions => {
            let run = derive_suggestions::run;
            start::<DeriveSuggestions, _, _>(cx, slots.min(4), options, stop, run).await
        }
        JobKind::MakeVideo => {
            start::<MakeVideo, _, _>(cx, slots.min(16), options, stop, make_video::run).await
        }
        JobKind::CopyAttachment => {
            let run = copy_attachment::run;
            start::<CopyAttachment, _, _>(cx, slots.min(8), options, stop, run).await
        }
        JobKind::DeleteWorkspace => {
            let run = delete_workspace::run;
            start::<DeleteWorkspace, _, _>(cx, slots.min(2), options, stop, run).await
        }
        JobKind::SendMail => {
            start::<SendMail, _, _>(cx, slots.min(8), options, stop, send_mail::run).await
        }
    }
}

/// Returns the number of processors: analyses and conversions are bounded by the machine, not by the option.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns how many webhooks are delivered at once.
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
