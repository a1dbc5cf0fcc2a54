//! The client: two connection pools with the same address check.

use std::{fmt, net::IpAddr, sync::Arc, time::Duration};

use http::Method;
use url::{Host, Origin, Url};

use crate::{
    Error, ErrorKind, Policy, Request, ServerClock, opened,
    policy::{self, Rules},
    resolver::{self, Lookup, Resolver},
    tls,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout of the name lookup when an address is only checked.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);
/// Shorter than the 5 s after which many servers close an idle connection. If a server closes a connection while a
/// request is sent on it, the outcome is ambiguous, which is worse than the cost of a new handshake.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// The default number of slots of a worker. With fewer idle connections, a burst of calls to one platform would open
/// and close a connection for each call.
const IDLE_PER_HOST: usize = 256;

/// Sends requests to checked addresses. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    pools: Arc<Pools>,
    trusted: Arc<[Origin]>,
    peer: &'static str,
    clock: ServerClock,
    question: Option<Question>,
}

/// A question whose reads no cache may answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    /// The name of a parameter that the server ignores, which makes each address a new one.
    pub parameter: Option<&'static str>,
}

/// A pool is keyed by origin only. Trusted requests have a pool of their own, so that a connection that was opened with
/// trust is never used for a request whose address must be checked.
struct Pools {
    guarded: ClientPair,
    open: ClientPair,
    rules: Rules,
    lookup: Lookup,
}

/// A client that keeps connections open, and one that opens a connection for each request.
struct ClientPair {
    kept: reqwest::Client,
    fresh: reqwest::Client,
}

impl Client {
    /// Creates a client that trusts no origin.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if TLS cannot be set up, for example because the machine has no CA certificates.
    pub fn new(policy: Policy) -> Result<Self, Error> {
        Self::assemble(policy.into(), resolver::system_lookup(), |builder| builder)
    }

    pub(crate) fn assemble(
        rules: Rules,
        lookup: Lookup,
        tune: fn(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
    ) -> Result<Self, Error> {
        let tls = tls::config().map_err(|cause| Error::from_setup(&cause))?;
        let build = |filter| {
            let client = |kept| {
                let resolver = Resolver { lookup: lookup.clone(), filter };
                let made = builder(resolver).tls_backend_preconfigured(tls.clone());
                let made = tune(made.pool_max_idle_per_host(kept)).build();
                made.map_err(|cause| Error::from_setup(&cause))
            };
            Ok::<_, Error>(ClientPair { kept: client(IDLE_PER_HOST)?, fresh: client(0)? })
        };
        let pools = Pools {
            guarded: build(!rules.any_address)?,
            open: build(false)?,
            rules,
            lookup: lookup.clone(),
        };
        Ok(Self {
            pools: Arc::new(pools),
            trusted: Arc::new([]),
            peer: "other",
            clock: ServerClock::default(),
            question: None,
        })
    }

    /// Returns a client that also trusts exactly these origins (scheme, host, port). For them, and only for them,
    /// private
    /// addresses, http and any port are allowed.
    #[must_use]
    pub fn trusting(&self, origins: &[Url]) -> Self {
        let more = origins.iter().map(Url::origin).filter(Origin::is_tuple);
        let trusted = self.trusted.iter().cloned().chain(more).collect();
        Self { trusted, ..self.clone() }
    }

    /// Returns a client whose requests have this peer label in the metrics: a platform's name or a purpose.
    #[must_use]
    pub fn counted_as(&self, peer: &'static str) -> Self {
        Self { peer, ..self.clone() }
    }

    /// Returns a client with a clock of its own: it shows the time of the server that last answered its requests.
    #[must_use]
    pub fn timed(&self) -> Self {
        Self { clock: ServerClock::default(), ..self.clone() }
    }

    /// Returns a client whose reads ask for what is there now: each is new to every cache. `parameter` is the name of one
    /// that the server ignores; each read gets a value of its own for it.
    #[must_use]
    pub fn asking_anew(&self, parameter: Option<&'static str>) -> Self {
        self.clock.begin_question();
        Self { question: Some(Question { parameter }), ..self.clone() }
    }

    /// Returns the clock of the server that last answered.
    #[must_use]
    pub const fn server_clock(&self) -> &ServerClock {
        &self.clock
    }

    pub(crate) const fn question(&self) -> Option<Question> {
        self.question
    }

    pub(crate) const fn peer(&self) -> &'static str {
        self.peer
    }

    /// Checks an address that a user gave, without connecting: scheme, port, host literal and DNS answers.
    ///
    /// # Errors
    /// [`ErrorKind::Blocked`] with all reasons if the address is not allowed; [`ErrorKind::NotSent`] if its name cannot
    /// be
    /// resolved.
    pub async fn check(&self, url: &Url) -> Result<(), Error> {
        let trusted = self.trusts(url);
        let mut reasons = self.reasons(url, trusted);
        let guarded = !trusted && !self.pools.rules.any_address;
        if let Some(Host::Domain(name)) = url.host().filter(|_| guarded) {
            match self.look_up(url, name).await {
                Ok(found) if resolver::only_public(found.clone()).is_err() => {
                    reasons.push("its name has only private or reserved addresses");
                }
                Err(error) if reasons.is_empty() => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        blocked(url, &reasons)
    }

    async fn look_up(&self, url: &Url, name: &str) -> Result<Vec<IpAddr>, Error> {
        let unresolved = |cause: String| Error::new(ErrorKind::NotSent, url, cause);
        tokio::time::timeout(CHECK_TIMEOUT, (self.pools.lookup)(name.to_owned()))
            .await
            .map_err(|_| unresolved("its name was not resolved in time".to_owned()))?
            .map_err(|cause| unresolved(format!("its name cannot be resolved ({cause})")))
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

    /// Checks an address as it is written. The addresses of a name are checked when it is resolved.
    pub(crate) fn check_address(&self, url: &Url, trusted: bool) -> Result<(), Error> {
        blocked(url, &self.reasons(url, trusted))
    }

    fn reasons(&self, url: &Url, trusted: bool) -> Vec<&'static str> {
        match trusted {
            true => policy::check_no_userinfo(url).err().into_iter().collect(),
            false => self.pools.rules.reasons(url),
        }
    }

    pub(crate) fn pooled_client(&self, trusted: bool) -> &reqwest::Client {
        &self.pair(trusted).kept
    }

    /// Returns the client that opens a new connection for each request.
    pub(crate) fn unpooled_client(&self, trusted: bool) -> &reqwest::Client {
        &self.pair(trusted).fresh
    }

    fn pair(&self, trusted: bool) -> &ClientPair {
        if trusted { &self.pools.open } else { &self.pools.guarded }
    }
}

/// Fails with all of these reasons, if there are any.
fn blocked(url: &Url, reasons: &[&str]) -> Result<(), Error> {
    if reasons.is_empty() { Ok(()) } else { Err(Error::blocked(url, reasons.join("; "))) }
}

fn builder(resolver: Resolver) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .user_agent(concat!("Fanfare/", env!("CARGO_PKG_VERSION")))
        .dns_resolver(resolver)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        // By default, a request is sent again after some HTTP/2 refusals.
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
