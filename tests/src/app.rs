//! A complete service in the test's process.

mod options;
mod parts;
mod waiting;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use fanfare_ai::Ai;
use fanfare_core::{
    Code, Domain, Parts, Settings,
    access::{Role, Scope},
    clock::{Clock, machine_now},
    db::Db,
    durable::LEASE,
    failpoint::Failpoint,
    vault::Vault,
};
use fanfare_entities::{BrandId, UserId, WorkspaceId, worker};
use fanfare_ops::assemble::FeatureSettings;
use fanfare_outbound::{Client, Policy};
use fanfare_people::{billing::Plans, keys, users};
use fanfare_workers::Context;
use sea_orm::{ColumnTrait, EntityTrait, ExprTrait, PaginatorTrait, QueryFilter, sea_query::Expr};
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

use crate::{Cutter, Recorder, Simulator, Stack, client::User};
pub use options::{Options, Watch};
use parts::{Networks, ai, apps, billing, limits, networks, queue, stand_ins, store};

/// A service with its own database, queue, simulated networks and clock, which stands still until the test moves it.
pub struct TestApp {
    /// The domain.
    pub domain: Domain,
    /// The clock.
    pub clock: Clock,
    /// Origin of the API.
    pub origin: String,
    /// The simulated networks.
    pub simulator: Simulator,
    /// Address of the database.
    pub database_url: String,
    /// Address of the queue, if it is Redis.
    pub redis_url: Option<String>,
    /// The master key.
    pub master_key: String,
    /// The proxy in front of the simulated networks, if there is one.
    pub cutter: Option<Cutter>,
    /// The proxy that keeps what is said to the simulated networks, if there is one.
    pub recorder: Option<Recorder>,
    features: FeatureSettings,
    dir: PathBuf,
    stop: CancellationToken,
    workers: Mutex<Vec<Context>>,
    /// How far the networks' clock is ahead of the machine's, in ms.
    network_offset: AtomicI64,
}

impl TestApp {
    /// Starts a service with workers.
    pub async fn start() -> Self {
        Self::with(Options::default()).await
    }

    /// Starts a service with these options.
    ///
    /// # Panics
    /// Something it needs is missing.
    pub async fn with(options: Options) -> Self {
        write_log();
        let stack = Stack::of_this_run();
        let dir =
            std::env::temp_dir().join(format!("fanfare-test-{}", uuid::Uuid::now_v7().simple()));
        std::fs::create_dir_all(dir.join("media")).expect("a temporary directory");
        let stop = CancellationToken::new();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let base_url = options.base_url.clone().unwrap_or_else(|| origin.clone());
        let media_base_url =
            options.media_base_url.clone().unwrap_or_else(|| format!("{base_url}/media"));
        let Networks { simulator, reached, cutter, recorder } =
            networks(&options, (&origin, &base_url, &media_base_url), &stop).await;
        let (mut db, database_url) = match &options.postgres_url {
            Some(url) => (crate::stack::migrated(url).await, url.clone()),
            None => stack.database(&dir).await,
        };
        if let Some(watch) = options.watch {
            let other = Arc::clone(&watch);
            db.write.set_metric_callback(move |info| watch(info.statement));
            db.read.set_metric_callback(move |info| other(info.statement));
        }
        let redis_url = options.redis_url.or_else(|| stack.redis_url());
        let clock = Clock::stopped(machine_now());
        let master_key = Vault::fresh_key();
        let store = store(stack, &dir, &stop).await;
        let features = FeatureSettings {
            people: fanfare_people::Settings {
                billing: (options.billing)
                    .unwrap_or_else(|| billing(&simulator, options.stripe_at.as_ref())),
                plans: Plans::built_in().expect("plans"),
                signup_open: options.signup_open,
                oauth_grace: options.oauth_grace,
                reauth: 3_600_000,
                mailer: options.mailer,
            },
            publishing: fanfare_publishing::Settings {
                max_lateness: options.max_lateness,
                platform_urls: if options.stand_ins {
                    stand_ins(&reached)
                } else {
                    let bluesky =
                        options.bluesky_at.map(|url| (fanfare_platforms::PlatformId::Bluesky, url));
                    bluesky.into_iter().collect()
                },
                bluesky_video: options.bluesky_video,
                apps: if options.stand_ins { apps() } else { Default::default() },
                sandbox_limits: options.sandbox_limits,
                sandbox_time_factor: options.sandbox_time_factor,
                tools: options.tools,
                scratch: fanfare_media::Scratch::new(dir.join("scratch"), 1 << 30),
            },
            conversations: fanfare_conversations::Settings { meta: options.meta },
            insight: fanfare_insight::Settings {
                ai: Ai {
                    is_sandbox: options.ai && !options.real_models,
                    ..ai(&simulator, options.ai, options.vertex).await
                },
                x_metrics: true,
            },
        };
        let domain = Domain::new(Parts {
            db,
            clock: clock.clone(),
            queue: queue(redis_url.as_deref()).await,
            limits: limits(redis_url.as_deref(), &clock),
            vault: Vault::new(&master_key, &[]).expect("a good key"),
            http: Client::new(Policy { allow_private: options.allow_private }).expect("a client"),
            store,
            settings: Settings {
                base_url,
                media_base_url,
                allow_private: options.allow_private,
                simulator: Some(reached),
                signature_header: options.signature_header,
                limits_factor: options.limits_factor,
                trusted_proxies: options.trusted_proxies,
            },
            features: features.clone().features(),
            failpoint: Failpoint::at(options.failpoint),
        });
        let service = fanfare_web::service(domain.clone());
        tokio::spawn(fanfare_api::serve(service, listener, stop.clone()));
        let app = Self {
            domain,
            features,
            clock,
            origin,
            simulator,
            database_url,
            redis_url,
            master_key,
            cutter,
            recorder,
            dir,
            stop,
            workers: Mutex::default(),
            network_offset: AtomicI64::new(0),
        };
        if options.workers {
            app.start_workers();
        }
        app
    }

    /// Starts a second API on the same database, queue and counters; returns its origin.
    ///
    /// # Panics
    /// Something it needs is missing.
    pub async fn second_instance(&self) -> String {
        self.instance_of(self.twin_domain().await).await
    }

    /// Starts an API on a domain; returns its origin.
    ///
    /// # Panics
    /// There is no free port.
    pub async fn instance_of(&self, domain: Domain) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let service = fanfare_web::service(domain);
        tokio::spawn(fanfare_api::serve(service, listener, self.stop.clone()));
        origin
    }

    /// Returns a domain with connections of its own, as another process has.
    async fn twin_domain(&self) -> Domain {
        self.other_process_at(Failpoint::default()).await
    }

    /// Returns a domain like that of another process, with a failpoint at which the test acts.
    ///
    /// # Panics
    /// Something it needs is missing.
    pub async fn other_process_at(&self, failpoint: Failpoint) -> Domain {
        let redis_url = self.redis_url.as_deref();
        let mut own = (self.domain.queue.clone(), self.domain.limits.clone());
        if redis_url.is_some() {
            own = (queue(redis_url).await, limits(redis_url, &self.clock));
        }
        Domain::new(Parts {
            db: Db::open(&self.database_url, 8).await.expect("the database opens"),
            clock: self.clock.clone(),
            queue: own.0,
            limits: own.1,
            vault: Vault::new(&self.master_key, &[]).expect("a good key"),
            http: self.domain.http.clone(),
            store: self.domain.store.clone(),
            settings: self.domain.settings.clone(),
            features: self.features.clone().features(),
            failpoint,
        })
    }

    /// Starts workers in this process.
    pub fn start_workers(&self) -> Context {
        self.work_on(self.domain.clone())
    }

    /// Returns a domain with connections of its own, as another process has.
    pub async fn other_process(&self) -> Domain {
        self.twin_domain().await
    }

    /// Starts more workers, with connections of their own.
    pub async fn start_other_workers(&self) -> Context {
        self.work_on(self.twin_domain().await)
    }

    /// Starts workers on a domain, until they are stopped.
    pub fn start_workers_of(&self, domain: Domain, stop: CancellationToken) -> Context {
        self.work_until(domain, stop)
    }

    /// Starts workers of a domain, as another process has.
    pub fn work_on(&self, domain: Domain) -> Context {
        self.work_until(domain, self.stop.clone())
    }

    fn work_until(&self, domain: Domain, stop: CancellationToken) -> Context {
        let name = format!("test-{}", uuid::Uuid::now_v7().simple());
        let cx = Context::new(domain, name);
        let options = fanfare_workers::Options {
            slots: 16,
            grace: Duration::from_secs(1),
            ..fanfare_workers::Options::default()
        };
        tokio::spawn(fanfare_workers::run(cx.clone(), options, stop));
        self.workers.lock().expect("the lock").push(cx.clone());
        cx
    }

    /// Creates a user with a personal workspace and a key with every scope.
    pub async fn user(&self) -> User {
        let email = format!("{}@example.com", uuid::Uuid::now_v7().simple());
        let id = self.person(&email).await;
        self.key(id, None, &Scope::ALL).await
    }

    /// Creates a user.
    ///
    /// # Panics
    /// The database does not answer.
    pub async fn person(&self, email: &str) -> UserId {
        // On an overloaded machine the database may seem unreachable for a moment.
        self.eventually("a person", || async {
            match users::find_or_create(&self.domain, email).await {
                Ok(id) => Some(id),
                Err(error) if error.code() == Code::Unavailable => None,
                Err(error) => panic!("a person: {error:?}"),
            }
        })
        .await
    }

    /// Creates a key for a user.
    ///
    /// # Panics
    /// The user is not a member of the workspace.
    pub async fn key(
        &self,
        user_id: UserId,
        workspace_id: Option<WorkspaceId>,
        scopes: &[Scope],
    ) -> User {
        let new =
            keys::NewKey { user_id, workspace_id, name: "test".into(), scopes: scopes.to_vec() };
        let key = keys::create(&self.domain, new).await.expect("a key");
        User::new(&self.origin, key.expose_secret().to_owned())
    }

    /// Creates a team workspace.
    ///
    /// # Panics
    /// The database does not answer.
    pub async fn workspace(&self, owner: UserId) -> WorkspaceId {
        users::create_workspace(&self.domain, "Team", owner).await.expect("a workspace")
    }

    /// Creates a user with this role in a workspace, and a key for it.
    ///
    /// # Panics
    /// The database does not answer.
    pub async fn member(&self, workspace: WorkspaceId, role: Role) -> (UserId, User) {
        let email = format!("{}@example.com", uuid::Uuid::now_v7().simple());
        let id = self.person(&email).await;
        users::set_member(&self.domain, workspace, id, role).await.expect("a membership");
        (id, self.key(id, Some(workspace), &Scope::ALL).await)
    }

    /// Creates a brand, and locks the memberships of these users to it.
    ///
    /// # Panics
    /// The database does not answer.
    pub async fn brand(&self, workspace: WorkspaceId, locked: &[UserId]) -> BrandId {
        let id = users::create_brand(&self.domain, workspace, "Brand").await.expect("a brand");
        for person in locked {
            users::lock_to_brand(&self.domain, workspace, *person, id).await.expect("a lock");
        }
        id
    }

    /// Returns the number of stored secrets of accounts and connect sessions.
    ///
    /// # Panics
    /// The database does not answer.
    pub async fn secrets(&self) -> u64 {
        use fanfare_entities::secret::{Column, Entity};
        let tables = ["accounts", "connect_sessions"];
        let kept = Entity::find().filter(Column::OwnerTable.is_in(tables));
        kept.count(&self.domain.db.write).await.expect("the database answers")
    }

    /// Returns a caller without a key.
    #[must_use]
    pub fn without_key(&self) -> User {
        User::new(&self.origin, String::new())
    }

    /// Returns the directory of the service's files.
    #[must_use]
    pub fn dir(&self) -> &std::path::Path {
        &self.dir
    }

    /// Advances the clock of the service.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(i64::try_from(by.as_millis()).expect("a short time"));
    }

    /// Advances the clocks of the service and the simulated networks. Waits for running work before a step that would
    /// end its lease.
    ///
    /// # Panics
    /// The sandbox does not answer.
    pub async fn pass_time(&self, by: Duration) {
        self.finish_work_before(by).await;
        self.keep_workers_alive(by).await;
        self.leap(by).await;
    }

    /// Reports the living workers of this process as they will be after a step of time: they report in real time, and
    /// would be taken for dead until they do.
    async fn keep_workers_alive(&self, by: Duration) {
        use worker::{Column, Entity};
        const ALIVE_FOR: i64 = 15_000;
        let names: Vec<_> =
            self.workers.lock().expect("the lock").iter().map(|cx| cx.name.to_string()).collect();
        let by = i64::try_from(by.as_millis()).expect("a short time");
        let living = Column::SeenAt.gte(self.clock.now() - ALIVE_FOR);
        let later = Entity::update_many()
            .col_expr(Column::SeenAt, Expr::col(Column::SeenAt).add(by))
            .filter(Column::Name.is_in(names).and(living));
        // A story may have stopped its database.
        let _ = later.exec(&self.domain.db.write).await;
    }

    /// Advances both clocks past every lease, without waiting for running work: its workers are dead.
    pub async fn expire_leases(&self) {
        self.leap(Duration::from_millis(LEASE.unsigned_abs() + 1_000)).await;
    }

    /// The networks' clock goes first: for a moment they are ahead, as real ones may be. Were they behind, a call would
    /// be answered with something that was made before it began. It goes by the machine's meanwhile, so on a busy machine
    /// it may be ahead already, and stays there: no network's clock goes back.
    async fn leap(&self, by: Duration) {
        let by_ms = i64::try_from(by.as_millis()).expect("a short time");
        let offset = self.clock.now() + by_ms - machine_now();
        let before = self.network_offset.fetch_max(offset, Ordering::Relaxed);
        let offset = std::cmp::max(before, offset);
        let settings = serde_json::json!({ "clock_offset_ms": offset });
        self.simulator.ask(reqwest::Method::PUT, "settings", &settings).await;
        self.advance(by);
    }

    /// Returns the time `seconds` from now, in the format of the API.
    #[must_use]
    pub fn at(&self, seconds: i64) -> String {
        fanfare_core::clock::to_rfc3339(self.clock.now() + seconds * 1_000)
    }
}

/// Writes the service's log to standard error if `RUST_LOG` names something.
fn write_log() {
    static BEGUN: std::sync::Once = std::sync::Once::new();
    BEGUN.call_once(|| {
        if let Ok(filter) = tracing_subscriber::EnvFilter::try_from_default_env() {
            let lines = tracing_subscriber::fmt().with_env_filter(filter);
            lines.with_writer(std::io::stderr).init();
        }
    });
}

impl Drop for TestApp {
    fn drop(&mut self) {
        self.stop.cancel();
        let _ = std::fs::remove_dir_all(&self.dir);
        if std::thread::panicking() {
            return;
        }
        let workers = self.workers.get_mut().expect("the lock");
        let panics: u64 = workers.iter().map(|cx| cx.in_flight.panics()).sum();
        assert_eq!(
            panics, 0,
            "jobs panicked during the story; run it with RUST_LOG=error to see where"
        );
    }
}
