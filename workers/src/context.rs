//! The context of every job.

use std::{collections::HashMap, sync::Arc, time::Duration};

use fanfare_core::{
    Domain, Result,
    batcher::{Batcher, MAX_DELAY},
    durable::{self, Lease},
    failpoint::Failpoint,
    webhooks::delivery as deliveries,
};
use fanfare_entities::{AccountId, Millis};
use fanfare_insight::analytics;
use fanfare_jobs::JobKind;
use fanfare_platforms::{self as platforms, Platform, PlatformId};
use fanfare_publishing::posts::publishing::{self, BeginStep, Claimant, ClaimedPost, CompleteStep};

use crate::{
    counters::Counters,
    dispatcher::Dispatcher,
    heartbeat::InFlight,
    publish_post::rate_limit::{Limiter, RateLimitDecision, RateLimitRequest},
    strangers::StrangerLooks,
};

/// Groups many small writes into a few large ones.
pub type Batched<I, O> = Batcher<(), I, O>;

/// The context of a worker process. Cheap to clone.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

/// The parts of a [`Context`].
pub struct Inner {
    /// The rules and the database.
    pub domain: Domain,
    /// The name of this worker, unique in the fleet; the ledger records it.
    pub name: String,
    /// Finds the connector of a network.
    pub connector: Connector,
    /// The failpoint at which a test stops this worker.
    pub failpoint: Failpoint,
    /// The running jobs, and whether the process is draining.
    pub in_flight: InFlight,
    /// The work done since the last heartbeat.
    pub counters: Counters,
    /// Claims of posts.
    pub claim: Batched<i64, Option<Box<ClaimedPost>>>,
    /// Rate limits of public calls.
    pub rate_limit: Batched<RateLimitRequest, RateLimitDecision>,
    /// Steps about to begin.
    pub begin_step: Batched<BeginStep, bool>,
    /// Results of steps.
    pub complete_step: Batched<CompleteStep, bool>,
    /// Renewals of posts' leases; returns whether the row is still held.
    pub renew: Batched<(Lease, Millis), bool>,
    /// Claims of webhook deliveries.
    pub claim_delivery: Batched<i64, Option<deliveries::ClaimedDelivery>>,
    /// Results of webhook deliveries.
    pub finish_delivery: Batched<deliveries::DeliveryOutcome, bool>,
    /// Accounts that have just published, so that their analytics are read in time.
    published: Batched<AccountId, ()>,
    /// When this process last looked at a post without a log-in.
    pub looks: StrangerLooks,
    /// The dispatcher of posts.
    pub post_dispatcher: Dispatcher,
    /// The dispatcher of webhook deliveries.
    pub delivery_dispatcher: Dispatcher,
}

/// Finds the connector of a network.
pub type Connector = fn(PlatformId) -> &'static dyn Platform;

impl Context {
    /// Creates the context of the worker called `name`.
    #[must_use]
    pub fn new(domain: Domain, name: String) -> Self {
        Self::with_connector(domain, name, platforms::find)
    }

    /// Creates a context with other connectors than the real ones.
    #[must_use]
    pub fn with_connector(domain: Domain, name: String, connector: Connector) -> Self {
        let cx = &domain;
        let calls = Dispatcher::new(UNBOUNDED);
        let claim = claim_batcher(cx, &name, &calls);
        let rate_limit = rate_limiter(cx);
        let begin_step = batched(cx, "begin_step", NO_DELAY, |cx, steps: Vec<_>| async move {
            publishing::begin_step(&cx, &steps).await
        });
        let complete_step =
            batched(cx, "complete_step", max_delay(cx), |cx, steps: Vec<_>| async move {
                publishing::complete_step(&cx, &steps).await
            });
        let renew = batched(
            cx,
            "renew",
            max_delay(cx),
            |cx, leases: Vec<Arc<(Lease, Millis)>>| async move {
                let until = leases.iter().map(|lease| lease.1).max().unwrap_or_default();
                let held: Vec<_> = leases.iter().map(|lease| lease.0).collect();
                let kept = durable::renew(&cx, JobKind::PublishPost, &held, until).await?;
                Ok(held.iter().map(|lease| kept.contains(lease)).collect())
            },
        );
        let holder: Arc<str> = name.as_str().into();
        let claim_delivery =
            batched(cx, "claim_delivery", max_delay(cx), move |cx, ids: Vec<Arc<i64>>| {
                let holder = Arc::clone(&holder);
                async move {
                    let taken = deliveries::claim(&cx, &holder, to_ids(&ids)).await?;
                    Ok(in_order(&ids, taken, |one| one.delivery.id.0))
                }
            });
        let finish_delivery =
            batched(cx, "finish_delivery", max_delay(cx), |cx, outcomes: Vec<_>| async move {
                deliveries::finish(&cx, &outcomes).await
            });
        let published =
            batched(cx, "published", MAX_DELAY, |cx, accounts: Vec<Arc<AccountId>>| async move {
                let mut distinct: Vec<AccountId> =
                    accounts.iter().map(|account| **account).collect();
                distinct.sort_unstable();
                distinct.dedup();
                analytics::on_posts_published(&cx, &distinct).await?;
                Ok(accounts.iter().map(|_| ()).collect())
            });
        Self(Arc::new(Inner {
            published,
            claim,
            rate_limit,
            begin_step,
            complete_step,
            renew,
            claim_delivery,
            finish_delivery,
            post_dispatcher: calls,
            delivery_dispatcher: Dispatcher::new(UNBOUNDED),
            connector,
            failpoint: domain.failpoint.clone(),
            domain,
            name,
            in_flight: InFlight::default(),
            counters: Counters::default(),
            looks: StrangerLooks::default(),
        }))
    }

    /// Schedules the first reading of a new post's analytics. Runs in the background; if it fails, the daily reading
    /// finds the post.
    pub fn note_published(&self, account: AccountId) {
        let noted = self.published.clone();
        tokio::spawn(async move {
            if let Err(error) = noted.call((), account).await {
                tracing::debug!(%error, "a published post was not noted for its numbers");
            }
        });
    }

    /// Returns the time.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.domain.clock.now()
    }
}

impl std::ops::Deref for Context {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

/// The slots of a context that runs no worker.
const UNBOUNDED: usize = usize::MAX / 8;

/// Statements of posts that hold a slot do not wait for a batch, because the slot would stand idle meanwhile.
const NO_DELAY: Duration = Duration::ZERO;

/// Returns the batched claims of posts for this worker.
fn claim_batcher(
    cx: &Domain,
    name: &str,
    calls: &Dispatcher,
) -> Batched<i64, Option<Box<ClaimedPost>>> {
    let (name, calls): (Arc<str>, _) = (name.into(), calls.clone());
    batched(cx, "claim", max_delay(cx), move |cx, ids: Vec<Arc<i64>>| {
        let (name, calls) = (Arc::clone(&name), calls.clone());
        async move {
            let holds = |post| calls.is_in_line(post);
            let who = Claimant { name: &name, holds: &holds };
            let taken = publishing::claim(&cx, who, &to_ids(&ids)).await?;
            Ok(in_order(&ids, taken.into_iter().map(Box::new), |one| one.post.id.0))
        }
    })
}

/// Returns the batched rate limiter of public calls.
fn rate_limiter(cx: &Domain) -> Batched<RateLimitRequest, RateLimitDecision> {
    let limiter = Arc::<Limiter>::default();
    batched(cx, "rate_limit", NO_DELAY, move |cx, wanted: Vec<Arc<RateLimitRequest>>| {
        let limiter = Arc::clone(&limiter);
        async move { limiter.decide(&cx, &wanted).await }
    })
}

/// Returns how long a batch may wait. SQLite has no round trip to save, and its one writer would stand idle.
fn max_delay(cx: &Domain) -> Duration {
    if cx.db.is_postgres() { MAX_DELAY } else { Duration::ZERO }
}

fn batched<I, O, F, Fut>(
    cx: &Domain,
    name: &'static str,
    max_delay: Duration,
    flush: F,
) -> Batched<I, O>
where
    I: Send + Sync + 'static,
    O: Send + 'static,
    F: Fn(Domain, Vec<Arc<I>>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Vec<O>>> + Send + 'static,
{
    let cx = cx.clone();
    Batcher::new(name, max_delay, move |items| flush(cx.clone(), items))
}

fn to_ids(ids: &[Arc<i64>]) -> Vec<i64> {
    ids.iter().map(|id| **id).collect()
}

/// Returns the claimed rows in the order of `ids`; a repeated id gets its row only once.
fn in_order<T>(
    ids: &[Arc<i64>],
    taken: impl IntoIterator<Item = T>,
    id_of: impl Fn(&T) -> i64,
) -> Vec<Option<T>> {
    let mut taken: HashMap<i64, T> = taken.into_iter().map(|one| (id_of(&one), one)).collect();
    ids.iter().map(|id| taken.remove(id)).collect()
}
