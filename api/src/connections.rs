//! Limits the number of open connections: when file descriptors become scarce, the longest idle connection is closed to
//! admit a new one.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::process::{Resource, getrlimit, setrlimit};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    conn::ConnCtrl,
    fuse::{ArcConnObserver, ConnObserver, FuseAction, FuseConfig, FuseInfo, FusePolicy},
};

/// The most connections of a process.
const MAX_CONNECTIONS: u64 = 16_384;
/// Descriptors reserved for the database, files and calls, besides a quarter of all.
const RESERVED_DESCRIPTORS: u64 = 64;
/// The number of connections that are always admitted.
const MIN_CONNECTIONS: u64 = 16;
/// A connection with an unanswered request may be closed after this time without traffic.
const STALLED: Duration = Duration::from_secs(15);
/// The time for which a new connection waits for one that is being closed, in milliseconds.
const STEPS: usize = 2_000;

/// Admits connections. As the first handler it also learns which of them have sent a whole request.
#[derive(Clone)]
pub(crate) struct Connections {
    config: FuseConfig,
    most: usize,
    open: Arc<OpenConnections>,
}

impl Connections {
    /// Admits as many connections as the descriptors of this process allow, each with these time-outs.
    pub fn new(config: FuseConfig) -> Self {
        Self { config, most: max_connections(descriptors()), open: Arc::default() }
    }

    fn is_full(&self) -> bool {
        self.open.lock().len() >= self.most
    }
}

/// Raises the descriptor limit to the maximum that the system allows, and returns it.
fn descriptors() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    let (now, most) = (limit.current, limit.maximum);
    limit.current =
        most.map_or(Some(MAX_CONNECTIONS * 2), |most| Some(most.min(MAX_CONNECTIONS * 2))).max(now);
    if now.is_some() && setrlimit(Resource::Nofile, limit).is_ok() {
        return limit.current.unwrap_or(u64::MAX);
    }
    now.unwrap_or(u64::MAX)
}

fn max_connections(descriptors: u64) -> usize {
    let room = (descriptors / 4 * 3)
        .saturating_sub(RESERVED_DESCRIPTORS)
        .clamp(MIN_CONNECTIONS, MAX_CONNECTIONS);
    usize::try_from(room).unwrap_or(usize::MAX)
}

#[async_trait]
impl FusePolicy for Connections {
    async fn decide(&self, _info: &FuseInfo) -> FuseAction {
        if self.is_full() && !self.open.end_quietest() {
            tracing::warn!(most = self.most, "a connection was refused: all others are at work");
            return FuseAction::Reject;
        }
        for _ in 0..STEPS {
            if !self.is_full() {
                return FuseAction::Accept(self.config);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        FuseAction::Reject
    }

    fn observe(&self, info: &FuseInfo, ctrl: &ConnCtrl) -> Option<ArcConnObserver> {
        let peer = info.remote_addr.clone().into_std()?;
        Some(Arc::new(Observer {
            open: Arc::clone(&self.open),
            seen: self.open.register(peer, ctrl),
        }))
    }
}

#[async_trait]
impl Handler for Connections {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        _res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        let peer = req.remote_addr().clone().into_std();
        let listed = self.open.lock();
        if let Some(connection) = peer.and_then(|peer| listed.connections.get(&peer)) {
            connection.is_owed.store(true, Ordering::Relaxed);
        }
    }
}

/// The open connections.
struct OpenConnections {
    since: Instant,
    all: Mutex<ConnectionTable>,
}

#[derive(Default)]
struct ConnectionTable {
    last: u64,
    connections: HashMap<SocketAddr, Arc<Connection>>,
}

/// The state of a connection.
struct Connection {
    /// Distinguishes it from a later one of the same address.
    number: u64,
    peer: SocketAddr,
    ctrl: ConnCtrl,
    /// The time of the last traffic, in ms since the start.
    last_ms: AtomicU64,
    /// True if it has sent a whole request and has got no bytes back since.
    is_owed: AtomicBool,
}

impl Default for OpenConnections {
    fn default() -> Self {
        Self { since: Instant::now(), all: Mutex::default() }
    }
}

impl OpenConnections {
    fn lock(&self) -> std::sync::MutexGuard<'_, ConnectionTable> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn register(&self, peer: SocketAddr, ctrl: &ConnCtrl) -> Arc<Connection> {
        let mut listed = self.lock();
        listed.last += 1;
        let connection = Arc::new(Connection {
            number: listed.last,
            peer,
            ctrl: ctrl.clone(),
            last_ms: AtomicU64::new(self.now_ms()),
            is_owed: AtomicBool::new(false),
        });
        listed.connections.insert(peer, Arc::clone(&connection));
        connection
    }

    /// Closes the longest idle connection, one that awaits its reply last; returns false if none may be closed.
    fn end_quietest(&self) -> bool {
        let stalled = self.now_ms().checked_sub(STALLED.as_millis() as u64);
        let listed = self.lock();
        let quietest = listed
            .connections
            .values()
            .filter(|one| !one.ctrl.is_aborted())
            .min_by_key(|one| (one.is_owed(), one.last_ms()))
            .filter(|one| {
                !one.is_owed() || stalled.is_some_and(|stalled| one.last_ms() <= stalled)
            });
        if let Some(one) = quietest {
            tracing::debug!("an idle connection was ended, for there is no room for a new one");
            one.ctrl.abort();
        }
        quietest.is_some()
    }
}

impl ConnectionTable {
    fn len(&self) -> usize {
        self.connections.len()
    }
}

impl Connection {
    fn is_owed(&self) -> bool {
        self.is_owed.load(Ordering::Relaxed)
    }

    fn last_ms(&self) -> u64 {
        self.last_ms.load(Ordering::Relaxed)
    }
}

/// Observes a connection while it is open.
struct Observer {
    open: Arc<OpenConnections>,
    seen: Arc<Connection>,
}

impl Observer {
    fn touch(&self) {
        self.seen.last_ms.store(self.open.now_ms(), Ordering::Relaxed);
    }
}

impl ConnObserver for Observer {
    fn on_read(&self, _bytes: usize) {
        self.touch();
    }

    fn on_write(&self, _bytes: usize) {
        self.touch();
        self.seen.is_owed.store(false, Ordering::Relaxed);
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        let mut listed = self.open.lock();
        let is_it = |one: &Arc<Connection>| one.number == self.seen.number;
        if listed.connections.get(&self.seen.peer).is_some_and(is_it) {
            listed.connections.remove(&self.seen.peer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use salvo::conn::ConnCtrl;

    use super::{
        MAX_CONNECTIONS, MIN_CONNECTIONS, OpenConnections, RESERVED_DESCRIPTORS, max_connections,
    };

    #[test]
    fn some_descriptors_stay_for_other_things() {
        assert_eq!(
            max_connections(1_024),
            usize::try_from(1_024 / 4 * 3 - RESERVED_DESCRIPTORS).unwrap()
        );
        assert_eq!(max_connections(32), usize::try_from(MIN_CONNECTIONS).unwrap());
        assert_eq!(max_connections(u64::MAX), usize::try_from(MAX_CONNECTIONS).unwrap());
    }

    #[test]
    fn the_quietest_goes_first_and_one_that_waits_for_its_answer_last() {
        let open = OpenConnections::default();
        let all: Vec<_> = (0..4_u64)
            .map(|n| {
                let peer = ([127, 0, 0, 1], u16::try_from(n).unwrap()).into();
                let connection = open.register(peer, &ConnCtrl::new());
                connection.last_ms.store(n, Ordering::Relaxed);
                connection
            })
            .collect();
        all[0].is_owed.store(true, Ordering::Relaxed);
        let ended = || all.iter().map(|one| one.ctrl.is_aborted()).collect::<Vec<_>>();
        for wanted in
            [[false, true, false, false], [false, true, true, false], [false, true, true, true]]
        {
            assert!(open.end_quietest());
            assert_eq!(ended(), wanted);
        }
        // The last one is busy: a new connection is refused.
        assert!(!open.end_quietest());
        assert_eq!(ended(), [false, true, true, true]);
    }
}
