use std::{
    collections::HashSet,
    pin::pin,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use apalis::layers::{
    WorkerBuilderExt,
    tracing::{DefaultOnRequest, DefaultOnResponse, TraceLayer},
};
use apalis_core::{
    error::BoxDynError,
    monitor::Monitor,
    task::Task,
    worker::{builder::WorkerBuilder, ext::parallelize::ParallelizeExt},
};
use tokio::{
    select,
    time::{sleep, timeout},
};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};
use tracing::{Span, error, error_span, warn};

use crate::{Concurrency, Error, FetchedJob, Job, JobKind, Queue};

/// Builds and runs one apalis worker for a kind of work until `stop`.
///
/// Every job runs in a tokio task of its own, as many at once as there are `slots`. A handler returns nothing, since
/// the row records what must be retried. A panic is logged and frees the slot.
///
/// After `stop` no job is started: fetched jobs that have not begun go back to the queue at once, running handlers have
/// `grace` to finish, and handlers that still run then are aborted.
///
/// # Errors
/// [`Error::NameTaken`] if a worker of this name already runs in this process; the other variants if it ends without
/// being stopped. An outage of Redis is not an error.
pub async fn run_worker<J, F, Fut>(
    name: String,
    queue: &Queue,
    slots: Concurrency,
    handler: F,
    stop: CancellationToken,
    grace: Duration,
) -> Result<(), Error>
where
    J: Job,
    F: Fn(J) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let name = Name::claim(name)?;
    let (feeding, feeders) = (stop.child_token(), TaskTracker::new());
    let monitor = Monitor::new().register({
        let (name, queue, slots, feeders) =
            (name.0.clone(), queue.clone(), slots.clone(), feeders.clone());
        move |_| {
            let handler = handler.clone();
            WorkerBuilder::new(name.as_str())
                .backend(queue.backend_with_stop(J::KIND, slots.clone(), feeding.clone(), &feeders))
                .parallelize(|job| AbortOnDropHandle::new(tokio::spawn(job)))
                .layer(log_layer::<J>())
                .catch_panic()
                .build(move |job: FetchedJob| {
                    let handler = handler.clone();
                    async move {
                        handler(J::from_id(job.id())).await;
                        drop(job);
                    }
                })
        }
    });
    let measured = AbortOnDropHandle::new(tokio::spawn(measure(J::KIND, slots.clone())));
    let ended = run_until(monitor, &stop, grace, || slots.total() - slots.free()).await;
    drop(measured);
    feeders.close();
    feeders.wait().await;
    ended
}

/// Records every second how many jobs are running.
async fn measure(kind: JobKind, slots: Concurrency) {
    loop {
        let running = slots.total() - slots.free();
        fanfare_metrics::record::running_jobs(kind.as_str(), running, slots.total());
        sleep(Duration::from_secs(1)).await;
    }
}

/// Runs the registered workers until `stop`, and then for at most `grace`. Jobs that still run then are aborted.
async fn run_until(
    monitor: Monitor,
    stop: &CancellationToken,
    grace: Duration,
    running: impl Fn() -> usize,
) -> Result<(), Error> {
    let workers = monitor.context();
    let mut run = pin!(monitor.run());
    select! {
        ended = &mut run => return Ok(ended?),
        () = stop.cancelled() => workers.shutdown()?,
    }
    match timeout(grace, run).await {
        Ok(ended) => Ok(ended?),
        Err(_) => {
            warn!(running = running(), "Jobs that would not finish in time are aborted");
            Ok(())
        }
    }
}

/// Puts a span around a job, and logs its panic: a handler cannot return an error, so there is no other failure.
fn log_layer<J: Job>() -> LogLayer {
    TraceLayer::new().make_span_with(span_of::<J> as _).on_failure(log_panic as _)
}

type LogLayer = TraceLayer<
    fn(&Task<FetchedJob>) -> Span,
    DefaultOnRequest,
    DefaultOnResponse,
    fn(&BoxDynError, Duration, &Span),
>;

fn span_of<J: Job>(task: &Task<FetchedJob>) -> Span {
    error_span!("job", job.kind = J::KIND.as_str(), job.id = task.args.id())
}

fn log_panic(panic: &BoxDynError, after: Duration, _: &Span) {
    error!(%panic, after_ms = after.as_millis() as u64, "A job panicked");
}

/// The names of the workers that run in this process.
static NAMES: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// A worker name that is reserved until this is dropped.
struct Name(String);

impl Name {
    fn claim(name: String) -> Result<Self, Error> {
        if names().insert(name.clone()) { Ok(Self(name)) } else { Err(Error::NameTaken(name)) }
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        names().remove(&self.0);
    }
}

fn names() -> MutexGuard<'static, HashSet<String>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}
