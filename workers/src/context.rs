//! What every piece of work can use.

use std::{collections::HashMap, sync::Arc, time::Duration};

use fanfare_domain::{
    Domain, Result,
    failpoint::Failpoint,
    group::{Group, LINGER},
    posts::work::{self as publishing, Armed, Claimant, Claimed, Record},
    webhooks::work as deliveries,
    work::{self, Hold},
};
use fanfare_entities::Millis;
use fanfare_jobs::JobKind;
use fanfare_platforms::{self as platforms, Platform, PlatformId};

use crate::{
    dispatcher::Dispatcher,
    heartbeat::Busy,
    publish_post::permit::{Desk, Turn, Wanted},
    tally::Tally,
};

/// Many small writes as few large ones.
pub type Grouped<I, O> = Group<(), I, O>;

/// The context of a worker process. Cheap to clone.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

/// The parts of a [`Context`].
pub struct Inner {
    /// The rules and the database.
    pub domain: Domain,
    /// Name of this worker, unique in the fleet; stands in the ledger.
    pub name: String,
    /// How networks are reached.
    pub connector: Connector,
    /// Where a test stops this worker.
    pub failpoint: Failpoint,
    /// What is running, and whether no more is to be taken.
    pub busy: Busy,
    /// What was done, to be told with the next heartbeat.
    pub tally: Tally,
    /// Claims of posts.
    pub claim: Grouped<i64, Option<Box<Claimed>>>,
    /// When public calls may be made.
    pub permit: Grouped<Wanted, Turn>,
    /// Steps about to be taken.
    pub arm: Grouped<Armed, bool>,
    /// Results of posts.
    pub record: Grouped<Record, bool>,
    /// Leases of posts to move on: whether the row is still held.
    pub renew: Grouped<(Hold, Millis), bool>,
    /// Claims of webhook deliveries.
    pub claim_delivery: Grouped<i64, Option<deliveries::Claimed>>,
    /// Results of webhook deliveries.
    pub finish_delivery: Grouped<deliveries::Outcome, bool>,
    /// Which posts make their calls.
    pub calls: Dispatcher,
    /// Which webhook deliveries are made.
    pub deliveries: Dispatcher,
}

/// Finds the connector of a network.
pub type Connector = fn(PlatformId) -> &'static dyn Platform;

impl Context {
    /// A context for the worker called `name`.
    #[must_use]
    pub fn new(domain: Domain, name: String) -> Self {
        Self::with_connector(domain, name, platforms::find)
    }

    /// The same with other connectors than the real ones.
    #[must_use]
    pub fn with_connector(domain: Domain, name: String, connector: Connector) -> Self {
        let cx = &domain;
        let calls = Dispatcher::new(UNBOUNDED);
        let claim = claims(cx, &name, &calls);
        let permit = permits(cx);
        let arm = grouped(cx, "arm", AT_ONCE, |cx, armed: Vec<_>| async move {
            publishing::arm(&cx, &armed).await
        });
        let record = grouped(cx, "record", linger(cx), |cx, records: Vec<_>| async move {
            publishing::record(&cx, &records).await
        });
        let renew =
            grouped(cx, "renew", linger(cx), |cx, leases: Vec<Arc<(Hold, Millis)>>| async move {
                let until = leases.iter().map(|lease| lease.1).max().unwrap_or_default();
                let holds: Vec<_> = leases.iter().map(|lease| lease.0).collect();
                let kept = work::renew(&cx, JobKind::PublishPost, &holds, until).await?;
                Ok(holds.iter().map(|hold| kept.contains(hold)).collect())
            });
        let holder: Arc<str> = name.as_str().into();
        let claim_delivery =
            grouped(cx, "claim_delivery", linger(cx), move |cx, ids: Vec<Arc<i64>>| {
                let holder = Arc::clone(&holder);
                async move {
                    let taken = deliveries::claim(&cx, &holder, plain(&ids)).await?;
                    Ok(in_order(&ids, taken, |one| one.delivery.id.0))
                }
            });
        let finish_delivery =
            grouped(cx, "finish_delivery", linger(cx), |cx, outcomes: Vec<_>| async move {
                deliveries::finish(&cx, &outcomes).await
            });
        Self(Arc::new(Inner {
            claim,
            permit,
            arm,
            record,
            renew,
            claim_delivery,
            finish_delivery,
            calls,
            deliveries: Dispatcher::new(UNBOUNDED),
            connector,
            failpoint: domain.failpoint.clone(),
            domain,
            name,
            busy: Busy::default(),
            tally: Tally::default(),
        }))
    }

    /// The time.
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

/// What a context has that runs no worker: as many slots as anybody asks for.
const UNBOUNDED: usize = usize::MAX / 8;

/// What a post has a slot for does not linger: meanwhile the slot would stand idle.
const AT_ONCE: Duration = Duration::ZERO;

/// Claims posts for this worker.
fn claims(cx: &Domain, name: &str, calls: &Dispatcher) -> Grouped<i64, Option<Box<Claimed>>> {
    let (name, calls): (Arc<str>, _) = (name.into(), calls.clone());
    grouped(cx, "claim", linger(cx), move |cx, ids: Vec<Arc<i64>>| {
        let (name, calls) = (Arc::clone(&name), calls.clone());
        async move {
            let holds = |post| calls.holds(post);
            let who = Claimant { name: &name, holds: &holds };
            let taken = publishing::claim(&cx, who, &plain(&ids)).await?;
            Ok(in_order(&ids, taken.into_iter().map(Box::new), |one| one.post.id.0))
        }
    })
}

/// Decides when public calls may be made.
fn permits(cx: &Domain) -> Grouped<Wanted, Turn> {
    let desk = Arc::<Desk>::default();
    grouped(cx, "permit", AT_ONCE, move |cx, wanted: Vec<Arc<Wanted>>| {
        let desk = Arc::clone(&desk);
        async move { desk.decide(&cx, &wanted).await }
    })
}

/// SQLite is no journey away, and has one writer, who would stand idle.
fn linger(cx: &Domain) -> Duration {
    if cx.db.is_postgres() { LINGER } else { Duration::ZERO }
}

fn grouped<I, O, F, Fut>(
    cx: &Domain,
    name: &'static str,
    linger: Duration,
    flush: F,
) -> Grouped<I, O>
where
    I: Send + Sync + 'static,
    O: Send + 'static,
    F: Fn(Domain, Vec<Arc<I>>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Vec<O>>> + Send + 'static,
{
    let cx = cx.clone();
    Group::new(name, linger, move |items| flush(cx.clone(), items))
}

fn plain(ids: &[Arc<i64>]) -> Vec<i64> {
    ids.iter().map(|id| **id).collect()
}

/// What was taken, in the order it was asked for; an id asked for twice has it once.
fn in_order<T>(
    ids: &[Arc<i64>],
    taken: impl IntoIterator<Item = T>,
    id_of: impl Fn(&T) -> i64,
) -> Vec<Option<T>> {
    let mut taken: HashMap<i64, T> = taken.into_iter().map(|one| (id_of(&one), one)).collect();
    ids.iter().map(|id| taken.remove(id)).collect()
}
