//! The business rules of the service: which changes are valid, and the transactions that make them.
//!
//! Nothing here speaks HTTP to callers, and no post is published here: a change leaves a row that is due, and the workers
//! carry it out. Networks are asked here for what a caller waits for, such as whether credentials are good, and sent what
//! people answer (`outgoing`).

pub mod access;
pub mod accounts;
pub mod act;
pub mod activity;
mod after_commit;
pub mod ai;
pub mod analytics;
pub mod audit_trail;
pub mod background;
pub mod batcher;
pub mod batches;
pub mod billing;
pub mod brands;
pub mod business;
pub mod clock;
pub mod credits;
pub mod db;
pub mod db_retry;
pub mod durable;
pub mod error;
pub mod events;
pub mod failpoint;
pub mod feedback;
pub mod files;
pub mod health;
pub mod idempotency;
pub mod inbox;
pub mod input;
pub mod invitations;
mod json_size;
pub mod keys;
pub mod limits;
pub mod logins;
pub mod lost_calls;
pub mod mail;
pub mod media;
pub mod mutation;
pub mod network_limits;
pub mod notices;
pub mod oauth_provider;
mod offload;
pub mod ops;
pub mod outgoing;
pub mod page;
pub mod passwords;
pub mod platform_tools;
pub mod platforms;
pub mod posting_schedule;
pub mod posts;
pub mod preferences;
pub mod processes;
pub mod quota;
pub mod remedies;
mod reply;
pub mod retry_action;
pub mod room;
pub mod rows;
pub mod sign_in;
pub mod signup;
pub mod stopping;
pub mod support;
pub mod team;
mod token;
mod tx;
mod unreadable;
pub mod updates;
pub mod upkeep;
mod user_lock;
pub mod users;
pub mod vault;
pub mod waits;
pub mod webhooks;
pub mod workspace_deletion;
pub mod zone;

use std::{collections::BTreeMap, ops::Deref, sync::Arc};

use fanfare_entities::Millis;
use fanfare_jobs::Queue;
use fanfare_limits::Limits;
use fanfare_mail::Mailer;
use fanfare_media::{Scratch, Store, Tools};
use fanfare_outbound::Client;
use fanfare_platforms::oauth::App;
use ipnet::IpNet;
use url::Url;
use uuid::Uuid;

pub use act::Act;
pub use error::refusal::{Refusal, RefusalDetails, RefusalReason, TransitionState};
pub use error::{Code, Error, Result, Retry};
pub use fanfare_entities::{
    AccountId, BrandId, CommentId, ConnectSessionId, ConversationId, GrantId, KeyId, PostId,
    SuggestionId, UserId, WebhookId, WorkspaceId,
};
pub use fanfare_platforms::PlatformId;
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
    /// Writes new posts in batches.
    pub new_posts: posts::PostWriter,
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
    /// The failpoint at which a test stops this process.
    pub failpoint: failpoint::Failpoint,
    /// The id of this process among those that answer requests.
    pub process: Uuid,
    /// Whether this process is being stopped.
    pub stopping: stopping::Stopping,
}

/// The operator's settings on which the rules depend.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Origin of the service, without a slash at its end.
    pub base_url: String,
    /// Origin and path under which media files are served, without a slash at its end.
    pub media_base_url: String,
    /// A post that could not start this long after its time fails with `missed`, in ms.
    pub max_lateness: Millis,
    /// True if addresses that users give may be private, and use http and any port.
    pub allow_private: bool,
    /// The addresses that replace the platforms' own.
    pub platform_urls: BTreeMap<PlatformId, Url>,
    /// The apps registered with networks.
    pub apps: BTreeMap<PlatformId, App>,
    /// The simulated networks, if there are any.
    pub simulator: Option<accounts::Simulator>,
    /// Settings for Meta's networks.
    pub meta: inbox::MetaSettings,
    /// True if the rate limits of the real networks also hold for the simulated ones.
    pub sandbox_limits: bool,
    /// The factor by which ages and intervals of accounts on simulated networks are divided.
    pub sandbox_time_factor: f64,
    /// True if the numbers of posts on X are read, which X charges for.
    pub x_metrics: bool,
    /// The name of a second header that carries the signature of webhooks.
    pub signature_header: Option<String>,
    /// The factor by which every limit of callers is multiplied.
    pub limits_factor: f64,
    /// The networks whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// The payment provider, if there is one.
    pub billing: Option<billing::Billing>,
    /// The plans that are sold.
    pub plans: billing::Plans,
    /// The providers of models.
    pub ai: fanfare_ai::Ai,
    /// True if anybody may sign up.
    pub signup_open: bool,
    /// The grace time in which a used refresh token still returns a new pair, in ms, as long as the pair it returned
    /// before was not used.
    pub oauth_grace: Millis,
    /// The age of a log-in, in ms, after which the password is asked for again before a sensitive change.
    pub reauth: Millis,
    /// Sends e-mails. Without it they are shown at `/dev/mail`, if the service runs on loopback.
    pub mailer: Option<Mailer>,
    /// The programs that read and convert videos.
    pub tools: Tools,
    /// The directory for temporary copies of files.
    pub scratch: Scratch,
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
            new_posts: posts::PostWriter::default(),
            notices: notices::Notices::default(),
            waits: waits::Waits::default(),
            vault: parts.vault,
            http: parts.http,
            store: parts.store,
            settings: parts.settings,
            failpoint: parts.failpoint,
            process: Uuid::now_v7(),
            stopping: stopping::Stopping::default(),
        });
        tokio::spawn(after_commit::run(pending, queue));
        Self(inner)
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
