//! The parts of a simulation: a database, networks, callers, and workers with clocks of their own.

use std::sync::{Arc, LazyLock};

use fanfare_core::{
    Act, Domain, Features, Parts, Settings,
    access::{self, Caller, Scope},
    clock::Clock,
    db::Db,
    durable::Selection,
    failpoint::Failpoint,
    limits::Meter,
    vault::Vault,
};
use fanfare_entities::{
    AccountId, KeyId, Millis,
    account::{self, AccountStatus},
};
use fanfare_jobs::Queue;
use fanfare_limits::{Limits, TimeSource};
use fanfare_media::{S3, Store, Tools};
use fanfare_ops::assemble::FeatureSettings;
use fanfare_outbound::{Client, Policy};
use fanfare_people::users;
use fanfare_platforms::PlatformId;
use fanfare_workers::Context;
use sea_orm::{ActiveModelTrait, ActiveValue::NotSet, EntityTrait};
use serde_json::json;

use crate::{
    connectors::{self, NETWORKS},
    kind::Kind,
    lockstep::{Lockstep, WorkerFailpoints},
    network::Network,
    schema::database,
};

/// The time at which every simulation begins.
const BEGIN: Millis = 1_900_000_000_000;

/// The largest error of a worker's clock after synchronisation with the database, in ms.
pub const SKEW: Millis = 1_500;

static CLIENT: LazyLock<Client> =
    LazyLock::new(|| Client::new(Policy { allow_private: false }).expect("a client"));

/// A media store, which is never used.
static STORE: LazyLock<Store> = LazyLock::new(|| {
    let nowhere = format!("file://{}", std::env::temp_dir().display());
    let s3 = S3 { access_key: None, secret_key: None, region: None };
    Store::open(&nowhere, s3).expect("the store opens")
});

/// A worker process.
pub struct Worker {
    /// Its number, which is never reused.
    pub number: usize,
    pub cx: Context,
    pub clock: Clock,
    pub selection: Selection,
    /// If it is stopped, how much time it has missed.
    pub asleep: Option<Millis>,
}

/// A connected account.
pub struct Account {
    pub id: AccountId,
    pub platform: PlatformId,
    pub remote_id: String,
    /// The index of its workspace's caller.
    pub caller: usize,
}

/// The state of a simulation.
pub struct World {
    pub stage: Arc<Lockstep>,
    pub network: Arc<Network>,
    pub db: Db,
    pub queue: Queue,
    /// The true time.
    pub clock: Clock,
    /// One caller for each workspace.
    pub callers: Vec<Act>,
    pub accounts: Vec<Account>,
    pub workers: Vec<Worker>,
    limits: Limits,
    key: String,
    numbers: usize,
    outside: Outside,
}

/// What the world outside offers beside the networks.
pub struct Outside {
    pub http: Client,
    pub store: Store,
    /// Returns the settings of features.
    pub features: Box<dyn Fn() -> Features>,
}

impl Outside {
    /// Returns nothing but the networks.
    fn nothing() -> Self {
        let features = || settings().features();
        Self { http: CLIENT.clone(), store: STORE.clone(), features: Box::new(features) }
    }
}

impl World {
    /// Returns a world of two workspaces with an account on each network, without workers.
    pub async fn open(kind: Kind) -> Self {
        Self::open_beside(kind, Outside::nothing()).await
    }

    /// Returns such a world beside this one outside.
    pub async fn open_beside(kind: Kind, outside: Outside) -> Self {
        let stage = Arc::<Lockstep>::default();
        let clock = Clock::manual(BEGIN);
        let counted_by = clock.clone();
        let network = Network::open(Arc::clone(&stage), kind);
        network.lock().now = BEGIN;
        let mut world = Self {
            network,
            stage,
            db: database().await,
            queue: Queue::memory(),
            limits: Limits::memory(TimeSource::Given(Arc::new(move || counted_by.now()))),
            clock,
            callers: Vec::new(),
            accounts: Vec::new(),
            workers: Vec::new(),
            key: Vault::fresh_key(),
            numbers: 0,
            outside,
        };
        for name in ["first", "second"] {
            world.add_workspace(name).await;
        }
        world
    }

    pub fn now(&self) -> Millis {
        self.clock.now()
    }

    /// Adds a user with a workspace and an account on each network.
    async fn add_workspace(&mut self, name: &str) {
        let domain = self.domain(0, self.clock.clone());
        let email = format!("{name}@example.com");
        let user_id = users::find_or_create(&domain, &email).await.expect("a person");
        let key_id = KeyId(uuid::Uuid::nil());
        let caller = Caller {
            user_id,
            key_id,
            scopes: Scope::ALL.to_vec(),
            key_workspace: None,
            key_brand: None,
            token: None,
            expires_at: None,
        };
        let membership = access::membership(&domain, &caller, None).await.expect("a membership");
        let act = Act {
            cx: domain,
            caller,
            membership,
            request_id: format!("request-{name}"),
            reservation: None,
            meter: Meter::default(),
            if_match: None,
        };
        self.callers.push(act);
        for platform in NETWORKS {
            self.connect(platform, name).await;
        }
    }

    async fn connect(&mut self, platform: PlatformId, name: &str) {
        let act = self.callers.last().expect("somebody");
        let now = self.clock.now();
        let remote_id = format!("{name}-{platform}");
        let secret = act.cx.vault.store(&self.db.write, "accounts", b"{}", now).await;
        let row = account::Model {
            id: AccountId(0),
            workspace_id: act.membership.workspace_id,
            brand_id: None,
            platform: platform.to_string(),
            remote_id: remote_id.clone(),
            username: name.to_owned(),
            display_name: None,
            status: AccountStatus::Connected,
            sandbox: false,
            meta: json!({}),
            secret_id: Some(secret.expect("a secret")),
            token_expires_at: None,
            refreshing_until: None,
            refresh_at: None,
            warned: 0,
            revoking_id: None,
            due_at: None,
            fencing_token: 0,
            attempts: 0,
            lease_expirations: 0,
            connected_by: act.caller.user_id,
            created_at: now,
            updated_at: now,
        };
        let row =
            account::ActiveModel { id: NotSet, ..account::ActiveModel::from(row).reset_all() };
        let made = account::Entity::insert(row).exec_with_returning(&self.db.write).await;
        let id = made.expect("an account").id;
        self.accounts.push(Account { id, platform, remote_id, caller: self.callers.len() - 1 });
    }

    /// Starts a worker whose clock is off by `skew`.
    pub fn start_worker(&mut self, skew: Millis) -> Worker {
        self.numbers += 1;
        let number = self.numbers;
        let clock = Clock::manual(self.now() + skew);
        let domain = self.domain(number, clock.clone());
        let cx = Context::with_connector(domain, format!("w{number}"), connectors::find);
        Worker { number, cx, clock, selection: Selection::default(), asleep: None }
    }

    /// Advances the clocks of everything that is not stopped.
    pub fn tick(&mut self, by: Millis) {
        self.clock.advance(by);
        self.network.lock().now = self.now();
        for worker in &mut self.workers {
            match &mut worker.asleep {
                Some(missed) => *missed += by,
                None => worker.clock.advance(by),
            }
        }
    }

    fn domain(&self, worker: usize, clock: Clock) -> Domain {
        let places = WorkerFailpoints { stage: Arc::clone(&self.stage), worker };
        Domain::new(Parts {
            db: self.db.clone(),
            clock,
            queue: self.queue.clone(),
            limits: self.limits.clone(),
            vault: Vault::new(&self.key, &[]).expect("a good key"),
            http: self.outside.http.clone(),
            store: self.outside.store.clone(),
            settings: Settings {
                base_url: "https://fanfare.example".into(),
                media_base_url: "https://fanfare.example/media".into(),
                allow_private: false,
                simulator: None,
                signature_header: None,
                limits_factor: 1_000.0,
                trusted_proxies: Vec::new(),
            },
            features: (self.outside.features)(),
            failpoint: Failpoint::with_hook(Arc::new(places)),
        })
    }
}

/// Returns the settings of features without anything outside.
pub fn settings() -> FeatureSettings {
    FeatureSettings {
        people: fanfare_people::Settings {
            billing: None,
            plans: fanfare_people::billing::Plans::built_in().expect("plans"),
            signup_open: false,
            oauth_grace: 0,
            reauth: 0,
            mailer: None,
        },
        publishing: fanfare_publishing::Settings {
            max_lateness: 24 * 3_600_000,
            bluesky_video: fanfare_platforms::VideoService::Usual,
            platform_urls: Default::default(),
            apps: Default::default(),
            sandbox_limits: false,
            sandbox_time_factor: 1.0,
            tools: Tools::find(None, None),
            scratch: fanfare_media::Scratch::new(std::env::temp_dir(), 1 << 30),
        },
        conversations: fanfare_conversations::Settings { meta: Default::default() },
        insight: fanfare_insight::Settings {
            ai: fanfare_ai::Ai::none(fanfare_ai::Catalogue::built_in().expect("models")),
            x_metrics: false,
        },
    }
}
