//! The client: two connection pools behind one guard.

use std::{fmt, sync::Arc, time::Duration};

use http::Method;
use url::{Host, Origin, Url};

use crate::{
    Error, ErrorKind, Policy, Request, opened,
    policy::{self, Rules},
    resolver::{self, Lookup, Resolver},
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time a name look-up may take when an address is only checked.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);
/// Shorter than the 5 s after which many servers close an idle connection: a request that meets such a close on its
/// way is ambiguous, and a fresh handshake is cheaper than that.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// The number of slots a worker has by default: with fewer, a burst to one network opens and closes a connection a call.
const IDLE_PER_HOST: usize = 256;

/// Sends requests through the guard. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    pools: Arc<Pools>,
    trusted: Arc<[Origin]>,
    peer: &'static str,
}

/// A pool is keyed by origin alone. So trusted requests have one of their own: a connection that was opened under
/// trust is never found by a request that has to pass the guard.
struct Pools {
    guarded: Pair,
    open: Pair,
    rules: Rules,
    lookup: Lookup,
}

/// A client that keeps connections, and one that opens a connection for each request.
struct Pair {
    kept: reqwest::Client,
    fresh: reqwest::Client,
}

impl Client {
    /// A client that trusts no origin yet.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] when TLS cannot be set up, for instance because the machine has no CA certificates.
    pub fn new(policy: Policy) -> Result<Self, Error> {
        Self::assemble(policy.into(), resolver::system(), |builder| builder)
    }

    pub(crate) fn assemble(
        rules: Rules,
        lookup: Lookup,
        tune: fn(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
    ) -> Result<Self, Error> {
        let build = |filter| {
            let client = |kept| {
                let resolver = Resolver { lookup: lookup.clone(), filter };
                let made = tune(builder(resolver).pool_max_idle_per_host(kept)).build();
                made.map_err(|cause| Error::from_setup(&cause))
            };
            Ok::<_, Error>(Pair { kept: client(IDLE_PER_HOST)?, fresh: client(0)? })
        };
        let pools = Pools {
            guarded: build(!rules.any_address)?,
            open: build(false)?,
            rules,
            lookup: lookup.clone(),
        };
        Ok(Self { pools: Arc::new(pools), trusted: Arc::new([]), peer: "other" })
    }

    /// The same client that also trusts these exact origins (scheme, host, port): private addresses, http and any port
    /// are open for them, and only for them.
    #[must_use]
    pub fn trusting(&self, origins: &[Url]) -> Self {
        let more = origins.iter().map(Url::origin).filter(Origin::is_tuple);
        let trusted = self.trusted.iter().cloned().chain(more).collect();
        Self { trusted, ..self.clone() }
    }

    /// The same client whose requests are counted as ones to this peer: a platform's name, or what they are for.
    #[must_use]
    pub fn counted_as(&self, peer: &'static str) -> Self {
        Self { peer, ..self.clone() }
    }

    pub(crate) const fn peer(&self) -> &'static str {
        self.peer
    }

    /// Checks an address a user gave without connecting: scheme, port, host literal, and DNS answers.
    ///
    /// # Errors
    /// [`ErrorKind::Blocked`] says why it is refused; [`ErrorKind::NotSent`] when its name cannot be resolved.
    pub async fn check(&self, url: &Url) -> Result<(), Error> {
        let trusted = self.trusts(url);
        self.judge(url, trusted)?;
        let Some(Host::Domain(name)) = url.host() else { return Ok(()) };
        if trusted || self.pools.rules.any_address {
            return Ok(());
        }
        let unresolved = |cause: String| Error::new(ErrorKind::NotSent, url, cause);
        let found = tokio::time::timeout(CHECK_TIMEOUT, (self.pools.lookup)(name.to_owned()))
            .await
            .map_err(|_| unresolved("its name was not resolved in time".to_owned()))?
            .map_err(|cause| unresolved(cause.to_string()))?;
        match resolver::only_public(found) {
            Ok(_) => Ok(()),
            Err(refused) => Err(Error::blocked(url, refused.to_string())),
        }
    }

    /// Starts a request.
    pub fn request(&self, method: Method, url: Url) -> Request {
        Request::new(self.clone(), method, url)
    }

    /// Starts a GET request.
    pub fn get(&self, url: Url) -> Request {
        self.request(Method::GET, url)
    }

    /// Starts a POST request.
    pub fn post(&self, url: Url) -> Request {
        self.request(Method::POST, url)
    }

    /// Starts a PUT request.
    pub fn put(&self, url: Url) -> Request {
        self.request(Method::PUT, url)
    }

    pub(crate) fn trusts(&self, url: &Url) -> bool {
        self.trusted.contains(&url.origin())
    }

    /// Judges an address as it is written; names are judged when they are resolved.
    pub(crate) fn judge(&self, url: &Url, trusted: bool) -> Result<(), Error> {
        let verdict = if trusted { policy::no_userinfo(url) } else { self.pools.rules.judge(url) };
        verdict.map_err(|why| Error::blocked(url, why))
    }

    pub(crate) fn pool(&self, trusted: bool) -> &reqwest::Client {
        &self.pair(trusted).kept
    }

    /// Sends over a connection that nobody has used before.
    pub(crate) fn fresh(&self, trusted: bool) -> &reqwest::Client {
        &self.pair(trusted).fresh
    }

    fn pair(&self, trusted: bool) -> &Pair {
        if trusted { &self.pools.open } else { &self.pools.guarded }
    }
}

fn builder(resolver: Resolver) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .user_agent(concat!("Fanfare/", env!("CARGO_PKG_VERSION")))
        .dns_resolver(resolver)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        // The default sends a request again after some HTTP/2 refusals.
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .tcp_nodelay(true)
        .connector_layer(opened::layer())
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trusted = self.trusted.iter().map(Origin::ascii_serialization).collect::<Vec<_>>();
        f.debug_struct("Client")
            .field("rules", &self.pools.rules)
            .field("trusted", &trusted)
            .finish_non_exhaustive()
    }
}
