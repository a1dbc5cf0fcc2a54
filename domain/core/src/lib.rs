//! What every feature stands on: the [`Domain`] and its transactions, callers and their permissions, errors, durable work,
//! events, limits, secrets at rest.
//!
//! No feature is known here. A feature keeps its settings and its hooks in [`Features`].

pub mod access;
pub mod act;
pub mod activity;
pub mod after_commit;
pub mod audit_trail;
pub mod batcher;
pub mod batches;
pub mod clock;
pub mod db;
pub mod db_retry;
pub mod durable;
pub mod error;
pub mod events;
pub mod failpoint;
mod features;
pub mod files;
pub mod idempotency;
pub mod input;
pub mod json_size;
pub mod limits;
pub mod logins;
pub mod mutation;
pub mod notices;
mod offload;
pub mod page;
pub mod passwords;
pub mod processes;
pub mod remedies;
pub mod reply;
pub mod rows;
pub mod simulator;
pub mod stopping;
pub mod token;
pub mod troubles;
pub mod tx;
pub mod unreadable;
pub mod user_lock;
pub mod vault;
pub mod waits;
pub mod webhooks;
pub mod zone;

use std::{ops::Deref, sync::Arc};

use fanfare_jobs::Queue;
use fanfare_limits::Limits;
use fanfare_media::Store;
use fanfare_outbound::Client;
use ipnet::IpNet;
use url::{Host, Url};
use uuid::Uuid;

pub use act::Act;
pub use error::refusal::{Refusal, RefusalDetails, RefusalReason, TransitionState};
pub use error::{Code, Error, Result, Retry};
pub use fanfare_entities::{
    AccountId, BrandId, CommentId, ConnectSessionId, ConversationId, GrantId, KeyId, PostId,
    PostSetId, SuggestionId, UserId, WebhookId, WorkspaceId,
};
pub use fanfare_platforms::PlatformId;
pub use features::Features;
pub use offload::offload;
pub use page::Listed;
pub use reply::{Deleted, Reply};
pub use tx::Tx;
pub use unreadable::UnreadableColumn;

/// Everything that the rules need, shared by all tasks of a process. Cheap to clone.
#[derive(Clone)]
pub struct Domain(Arc<Inner>);

/// The parts of a [`Domain`].
pub struct Inner {
    /// The database.
    pub db: db::Db,
    /// The time.
    pub clock: clock::Clock,
    /// The queue.
    pub queue: Queue,
    /// The counters of limits.
    pub limits: Limits,
    /// Enqueues jobs after commits.
    pub after_commit: after_commit::AfterCommit,
    /// Notifies waiting requests that a row has changed.
    pub notices: notices::Notices,
    /// The waiting requests of callers without a key.
    pub waits: waits::Waits,
    /// Secrets at rest.
    pub vault: vault::Vault,
    /// The guarded client.
    pub http: Client,
    /// Media files.
    pub store: Store,
    /// The operator's settings.
    pub settings: Settings,
    /// The values that features keep here.
    pub features: Features,
    /// The failpoint at which a test stops this process.
    pub failpoint: failpoint::Failpoint,
    /// The id of this process among those that answer requests.
    pub process: Uuid,
    /// Whether this process is being stopped.
    pub stopping: stopping::Stopping,
}

/// The operator's settings on which more than one feature depends.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Origin of the service, without a slash at its end.
    pub base_url: String,
    /// Origin and path under which media files are served, without a slash at its end.
    pub media_base_url: String,
    /// True if addresses that users give may be private, and use http and any port.
    pub allow_private: bool,
    /// The simulated networks, if there are any.
    pub simulator: Option<simulator::Simulator>,
    /// The name of a second header that carries the signature of webhooks.
    pub signature_header: Option<String>,
    /// The factor by which every limit of callers is multiplied.
    pub limits_factor: f64,
    /// The networks whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
}

impl Settings {
    /// Returns true if the service's own address is reached only from this machine.
    #[must_use]
    pub fn is_on_loopback(&self) -> bool {
        let url = Url::parse(&self.base_url).ok();
        match url.as_ref().and_then(Url::host) {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }
}

/// The parts of a [`Domain`].
pub struct Parts {
    /// The database, its schema up to date.
    pub db: db::Db,
    /// The time.
    pub clock: clock::Clock,
    /// The queue.
    pub queue: Queue,
    /// The counters of limits.
    pub limits: Limits,
    /// Secrets at rest.
    pub vault: vault::Vault,
    /// The guarded client.
    pub http: Client,
    /// Media files.
    pub store: Store,
    /// The operator's settings.
    pub settings: Settings,
    /// The values that features keep here.
    pub features: Features,
    /// The failpoint at which a test stops this process.
    pub failpoint: failpoint::Failpoint,
}

impl Domain {
    /// Assembles the parts and starts the task that enqueues after commits; it ends with the last clone.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let (after_commit, pending) = after_commit::AfterCommit::new(parts.clock.clone());
        let queue = parts.queue.clone();
        let inner = Arc::new(Inner {
            db: parts.db,
            clock: parts.clock,
            queue: parts.queue,
            limits: parts.limits,
            after_commit,
            notices: notices::Notices::default(),
            waits: waits::Waits::default(),
            vault: parts.vault,
            http: parts.http,
            store: parts.store,
            settings: parts.settings,
            features: parts.features,
            failpoint: parts.failpoint,
            process: Uuid::now_v7(),
            stopping: stopping::Stopping::default(),
        });
        tokio::spawn(after_commit::run(pending, queue));
        Self(inner)
    }

    /// Returns what a feature keeps here: its settings, its hooks.
    ///
    /// # Panics
    /// The domain was put together without it.
    #[must_use]
    pub fn feature<T: Send + Sync + 'static>(&self) -> &T {
        self.features.get()
    }
}

impl From<Arc<Inner>> for Domain {
    fn from(inner: Arc<Inner>) -> Self {
        Self(inner)
    }
}

impl Deref for Domain {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}
