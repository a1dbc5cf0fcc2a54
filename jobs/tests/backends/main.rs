//! Tests that both backends must pass (`both.rs`), and tests of what only one of them can get wrong.
#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

/// Runs cases over memory and over Redis.
macro_rules! on_both_backends {
    ($($case:ident)*) => {
        mod memory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() { super::$case(super::Place::memory()).await })*
        }
        mod redis {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() { super::$case(super::Place::redis().await).await })*
        }
    };
}

mod both;
mod fair_queue;
mod memory;
mod outages;
mod redis_only;
mod server;

use std::{
    future::{Ready, ready},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fanfare_jobs::{Concurrency, Error, Job, PublishPost, Queue, run_worker};
use server::Server;
use tokio::{
    sync::Semaphore,
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// The place of a test case: one queue, to which any number of instances can connect.
enum Place {
    Memory(Queue),
    Redis(Server),
}

impl Place {
    fn memory() -> Self {
        Self::Memory(Queue::memory())
    }

    async fn redis() -> Self {
        Self::Redis(Server::start().await)
    }

    /// One more instance, as another process would have it.
    async fn queue(&self) -> Queue {
        match self {
            Self::Memory(queue) => queue.clone(),
            Self::Redis(server) => Queue::redis(&server.url()).await.unwrap(),
        }
    }
}

/// A worker in the background.
struct Worker {
    stop: CancellationToken,
    task: JoinHandle<Result<(), Error>>,
}

impl Worker {
    fn start<Fut>(
        queue: &Queue,
        slots: &Concurrency,
        handler: impl Fn(i64) -> Fut + Clone + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = ()> + Send + 'static,
    {
        Self::start_with_grace(queue, slots, Duration::from_secs(60), handler)
    }

    fn start_with_grace<Fut>(
        queue: &Queue,
        slots: &Concurrency,
        grace: Duration,
        handler: impl Fn(i64) -> Fut + Clone + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = ()> + Send + 'static,
    {
        Self::start_jobs(queue, slots, grace, move |job: PublishPost| handler(job.id()))
    }

    fn start_jobs<Fut>(
        queue: &Queue,
        slots: &Concurrency,
        grace: Duration,
        handler: impl Fn(PublishPost) -> Fut + Clone + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = ()> + Send + 'static,
    {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let name = format!("worker-{}", STARTED.fetch_add(1, Ordering::Relaxed));
        let (stop, queue, slots) = (CancellationToken::new(), queue.clone(), slots.clone());
        let task = tokio::spawn({
            let stop = stop.clone();
            async move { run_worker(name, &queue, slots, handler, stop, grace).await }
        });
        Self { stop, task }
    }

    async fn stop(self) {
        self.stop.cancel();
        within("the worker stops", self.task).await.unwrap().unwrap();
    }
}

/// The ids handlers have seen, in that order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<i64>>>);

impl Seen {
    fn add(&self, id: i64) {
        self.0.lock().unwrap().push(id);
    }

    /// A handler that does nothing else.
    fn handler(&self) -> impl Fn(i64) -> Ready<()> + Clone + Send + Sync + 'static {
        let seen = self.clone();
        move |id| {
            seen.add(id);
            ready(())
        }
    }

    fn ids(&self) -> Vec<i64> {
        self.0.lock().unwrap().clone()
    }

    fn sorted(&self) -> Vec<i64> {
        let mut ids = self.ids();
        ids.sort_unstable();
        ids
    }

    async fn reach(&self, count: usize) {
        until(&format!("{count} jobs are seen"), || self.0.lock().unwrap().len() >= count).await;
    }
}

/// Keeps handlers from ending until it is opened.
#[derive(Clone)]
struct Gate(Arc<Semaphore>);

impl Gate {
    fn shut() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    fn let_pass(&self, count: usize) {
        self.0.add_permits(count);
    }

    fn open(&self) {
        self.0.close();
    }

    async fn pass(&self) {
        if let Ok(permit) = self.0.acquire().await {
            permit.forget();
        }
    }
}

/// A wait that must end; the limit only keeps a broken test from hanging.
async fn within<T>(what: &str, wait: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(300), wait)
        .await
        .unwrap_or_else(|_| panic!("waited in vain: {what}"))
}

async fn until(what: &str, mut is: impl FnMut() -> bool) {
    let wait = async {
        while !is() {
            sleep(Duration::from_millis(2)).await;
        }
    };
    within(what, wait).await;
}

/// A handler that notes each id and then waits at the gate.
pub(crate) fn handler(
    seen: &Seen,
    gate: &Gate,
) -> impl Fn(i64) -> BoxFuture + Clone + Send + Sync + 'static {
    let (seen, gate) = (seen.clone(), gate.clone());
    move |id| {
        seen.add(id);
        let gate = gate.clone();
        Box::pin(async move { gate.pass().await })
    }
}

type BoxFuture = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
