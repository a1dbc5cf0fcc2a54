//! The simulated networks: HTTP servers that speak each platform's real API.
//!
//! Written from the platforms' own documentation, never from the connectors, and linked by neither `domain`,
//! `platforms` nor `workers`: a connector and its sandbox can be wrong only separately. Adding a network is one
//! folder that implements [`network::Network`] and one line in [`networks`].

mod ask;
mod bluesky;
mod call;
mod consent;
mod control;
mod cut;
mod devto;
mod discord;
mod facebook;
mod faults;
mod fetch;
mod gate;
mod google;
mod google_business;
mod graph;
mod hashnode;
mod instagram;
mod journal;
mod lemmy;
mod linkedin;
mod mastodon;
mod multipart;
mod network;
mod pace;
mod page;
mod params;
mod picture;
mod pinterest;
mod random;
mod reply;
mod serving;
mod sim;
mod simulated;
mod slack;
mod specimen;
mod style;
mod telegram;
mod threads;
mod tiktok;
mod wordpress;
mod words;
mod world;
mod x;
mod youtube;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use salvo::Router;
use url::Url;

use journal::Journal;
pub use serving::Serving;
use sim::Sim;
use simulated::Simulated;
use world::World;

/// What can go wrong while a sandbox is opened or served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory could not be read or written.
    #[error("cannot use {path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Another process has this journal open.
    #[error("{0} is in use by another sandbox")]
    InUse(PathBuf),
    /// A line of the journal does not say what it should.
    #[error("{path} line {line}: {reason}")]
    Journal {
        /// The journal.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {reason}")]
    Listen {
        /// The address that was asked for.
        address: std::net::SocketAddr,
        /// The system's answer.
        reason: String,
    },
}

/// All simulated networks and the journal that keeps their state. Cheap to clone.
#[derive(Clone)]
pub struct Sandbox {
    world: Arc<World>,
    networks: Arc<Vec<Box<dyn Simulated>>>,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.networks.iter().map(|n| n.name()).collect();
        f.debug_struct("Sandbox").field("networks", &names).finish_non_exhaustive()
    }
}

/// Every network there is, one a line.
fn networks(world: &Arc<World>) -> Vec<Box<dyn Simulated>> {
    vec![
        Box::new(Sim::<bluesky::Bluesky>::start(world)),
        Box::new(Sim::<devto::Devto>::start(world)),
        Box::new(Sim::<discord::Discord>::start(world)),
        Box::new(Sim::<google_business::GoogleBusiness>::start(world)),
        Box::new(Sim::<hashnode::Hashnode>::start(world)),
        Box::new(Sim::<lemmy::Lemmy>::start(world)),
        Box::new(Sim::<mastodon::Mastodon>::start(world)),
        Box::new(Sim::<slack::Slack>::start(world)),
        Box::new(Sim::<facebook::Facebook>::start(world)),
        Box::new(Sim::<instagram::Instagram>::start(world)),
        Box::new(Sim::<linkedin::Linkedin>::start(world)),
        Box::new(Sim::<pinterest::Pinterest>::start(world)),
        Box::new(Sim::<telegram::Telegram>::start(world)),
        Box::new(Sim::<threads::Threads>::start(world)),
        Box::new(Sim::<tiktok::Tiktok>::start(world)),
        Box::new(Sim::<wordpress::WordPress>::start(world)),
        Box::new(Sim::<x::X>::start(world)),
        Box::new(Sim::<youtube::Youtube>::start(world)),
    ]
}

impl Sandbox {
    /// Opens the journal in `dir` (made if absent; `None`: memory only) and replays it.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::InUse`] when another process holds the directory, [`Error::Journal`] when a line
    /// other than a torn last one cannot be read.
    pub async fn open(dir: Option<PathBuf>) -> Result<Self, Error> {
        let work = move || Self::open_blocking(dir.as_deref());
        match tokio::task::spawn_blocking(work).await {
            Ok(opened) => opened,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }

    fn open_blocking(dir: Option<&Path>) -> Result<Self, Error> {
        let Some(dir) = dir else {
            let world = Arc::new(World::new(Journal::memory()));
            return Ok(Self { networks: Arc::new(networks(&world)), world });
        };
        let (journal, past) = Journal::open(dir)?;
        let world = Arc::new(World::new(journal));
        let networks = networks(&world);
        past.replay(|line| {
            let network = networks.iter().find(|n| n.name() == line.network);
            let network =
                network.ok_or_else(|| format!("there is no network {:?}", line.network))?;
            network.replay(&line.account, line.entry).map_err(|e| e.to_string())
        })?;
        Ok(Self { world, networks: Arc::new(networks) })
    }

    /// The router with every network under `/{platform}/…` and the control API under `/_control/…`. It may be
    /// mounted below any prefix; [`Self::set_base_url`] says which.
    #[must_use]
    pub fn router(&self) -> Router {
        let mut router = Router::new()
            .push(Router::with_path("_control/{**path}").goal(control::Control(self.clone())));
        for network in self.networks.iter() {
            router = router.push(network.router());
        }
        router.push(Router::with_path("{**path}").goal(page::Index(self.clone())))
    }

    /// Says by which address clients reach the router, such as `http://127.0.0.1:8080/sandbox`. Links that the
    /// networks return begin with it.
    pub fn set_base_url(&self, url: &Url) {
        self.world.set_base(url.as_str().trim_end_matches('/'));
    }

    /// Sets how long a network takes to process an uploaded or fetched medium (default 300 ms).
    pub fn set_processing(&self, time: Duration) {
        self.world.set_processing(time);
    }

    /// Sets whether the networks' limits on posting (messages a second, posts a day) are enforced (default no).
    pub fn set_rate_limits(&self, on: bool) {
        self.world
            .change_settings(&world::Settings { rate_limits: Some(on), ..Default::default() });
    }

    /// Writes what the journal still holds in memory. Dropping the last clone does so too.
    pub fn flush(&self) {
        self.world.journal.flush();
    }

    /// The networks' names in their order.
    #[must_use]
    pub fn platforms(&self) -> Vec<&'static str> {
        self.networks.iter().map(|n| n.name()).collect()
    }

    pub(crate) fn network(&self, name: &str) -> Option<&dyn Simulated> {
        self.networks.iter().find(|n| n.name() == name).map(AsRef::as_ref)
    }
}
