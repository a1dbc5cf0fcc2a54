//! An installation of Fanfare, set up through its commands and API and filled with posts.

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use fanfare_entities::{
    PostId, WebhookId, WorkspaceId, account, post, subscription, webhook, webhook_secret, workspace,
};
use futures_util::{StreamExt, stream};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, Database, DatabaseConnection, DbBackend,
    EntityTrait, IntoActiveModel, Iterable, QueryFilter, Statement, TransactionTrait,
    sea_query::Expr,
};
use serde_json::{Value, json};

use crate::{
    load::{NetworkProcess, http},
    process::{Dir, Process, free_address},
    servers::Servers,
};

/// The number of accounts over which posts are spread, on two networks in turn: the posts of one account are published
/// one after the other, and 100,000 posts must not reach a network's limit.
pub const ACCOUNTS: usize = 1_000;

/// The number of accounts that are connected concurrently during setup.
const CONNECTING: usize = 16;

/// The most accounts that a plan allows a workspace.
const PLAN: usize = 500;

/// An installation on one of the two stacks.
pub struct Service {
    variables: Vec<(String, String)>,
    /// Its database.
    pub db: DatabaseConnection,
    _dir: Dir,
    /// The address of its API, once a process of it is started.
    pub origin: String,
    /// The people who use it; each has a workspace.
    pub tenants: Vec<Tenant>,
}

/// A user with a workspace, and one post far ahead on each of its accounts, which serves as a template.
#[derive(Debug)]
pub struct Tenant {
    /// An API key.
    pub key: String,
    accounts: usize,
    /// The range of the ids of the first posts.
    pub first: (i64, i64),
}

/// The order in which the posts of a tenant are made.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// One post of each account in turn.
    Interleaved,
    /// All posts of an account, then those of the next one.
    ByAccount,
}

/// The time at which posts are due.
#[derive(Debug, Clone, Copy)]
pub enum Due {
    /// All at this time, in ms since 1970.
    At(i64),
    /// Evenly over a period: from, to.
    Over(i64, i64),
}

impl Service {
    /// Sets up an installation on PostgreSQL and Redis.
    pub async fn fleet(servers: &Servers, target: &NetworkProcess) -> Self {
        Self::shared(servers, target, &[ACCOUNTS]).await
    }

    /// Sets up a fleet with several tenants, with these numbers of accounts.
    pub async fn shared(servers: &Servers, target: &NetworkProcess, tenants: &[usize]) -> Self {
        let (database, redis) = (servers.database().await, servers.redis());
        Self::set_up(Dir::new(), &database, Some(redis), target, tenants).await
    }

    /// Sets up an installation on SQLite and a queue in memory.
    pub async fn embedded(target: &NetworkProcess) -> Self {
        Self::embedded_with(target, ACCOUNTS).await
    }

    /// Sets up an installation on SQLite and a queue in memory, whose tenant has this number of accounts.
    pub async fn embedded_with(target: &NetworkProcess, accounts: usize) -> Self {
        let dir = Dir::new();
        let database = format!("sqlite://{}/fanfare.db", dir.0.display());
        Self::set_up(dir, &database, None, target, &[accounts]).await
    }

    async fn set_up(
        dir: Dir,
        database: &str,
        redis: Option<String>,
        target: &NetworkProcess,
        tenants: &[usize],
    ) -> Self {
        let mut variables = vec![
            ("FANFARE_DATABASE_URL".to_owned(), database.to_owned()),
            ("FANFARE_DATA_DIR".to_owned(), dir.0.display().to_string()),
            ("FANFARE_MASTER_KEY".to_owned(), fanfare_core::vault::Vault::fresh_key()),
            ("FANFARE_BLUESKY_URL".to_owned(), target.url.clone()),
            ("FANFARE_WORDPRESS_URL".to_owned(), target.url.clone()),
            ("FANFARE_LIMITS_FACTOR".to_owned(), "1000".to_owned()),
            ("FANFARE_LOG".to_owned(), "warn".to_owned()),
            // Receivers of webhooks are on this machine.
            ("FANFARE_ALLOW_PRIVATE_TARGETS".to_owned(), "true".to_owned()),
        ];
        variables.extend(redis.map(|url| ("FANFARE_REDIS_URL".to_owned(), url)));
        let listen = free_address();
        variables.push(("FANFARE_LISTEN".to_owned(), listen.clone()));
        let (db, origin) = (DatabaseConnection::default(), format!("http://{listen}"));
        let mut service = Self { variables, db, _dir: dir, origin, tenants: Vec::new() };
        service.command(&["migrate"]).status().expect("the schema is made");
        let up = service.start(&["up"]);
        service.ready().await;
        for (place, accounts) in tenants.iter().enumerate() {
            let tenant = service.tenant(place, *accounts).await;
            service.tenants.push(tenant);
        }
        up.stop();
        service.db = Database::connect(database).await.expect("the database opens");
        service.move_lots().await;
        service
    }

    /// Connects a tenant's accounts, in lots that fit a plan, each in its own workspace.
    async fn tenant(&self, place: usize, accounts: usize) -> Tenant {
        let mut tenant = Tenant { key: String::new(), accounts, first: (i64::MAX, 0) };
        for from in (0..accounts).step_by(PLAN) {
            let email = format!("bench{place}x{from}@example.com");
            let key = self.command(&["key", "create", "--email", &email]);
            let key = { key }.stdout(Stdio::piped()).output().expect("a key").stdout;
            let key = String::from_utf8(key).expect("a key").trim().to_owned();
            let lot = from..accounts.min(from + PLAN);
            let (first, last) = connect_accounts(&self.origin, &key, place, lot).await;
            tenant.first = (tenant.first.0.min(first), tenant.first.1.max(last));
            if from == 0 {
                tenant.key = key;
            }
        }
        tenant
    }

    /// Moves the later lots of each tenant's accounts, with their first posts, into the workspace of the first lot.
    async fn move_lots(&self) {
        for Tenant { first: (from, to), .. } in &self.tenants {
            let workspace = format!("(SELECT p.workspace_id FROM posts p WHERE p.id = {from})");
            let accounts = format!(
                "UPDATE accounts SET workspace_id = {workspace} \
                 WHERE id IN (SELECT p.account_id FROM posts p WHERE p.id BETWEEN {from} AND {to})"
            );
            let posts = format!(
                "UPDATE posts SET workspace_id = {workspace} WHERE id BETWEEN {from} AND {to}"
            );
            self.db.execute_unprepared(&accounts).await.expect("accounts");
            self.db.execute_unprepared(&posts).await.expect("posts");
        }
    }

    /// Returns a command of the binary with the installation's variables.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
        command
            .args(args)
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    }

    /// Returns one of the variables of its processes.
    pub fn variable(&self, name: &str) -> String {
        let found = self.variables.iter().find(|(one, _)| one == name);
        found.map(|(_, value)| value.clone()).expect("the variable")
    }

    /// Sets a variable of further processes.
    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Makes further processes serve metrics; returns the address.
    pub fn with_metrics(&mut self) -> String {
        let listen = free_address();
        self.variables.retain(|(name, _)| name != "FANFARE_METRICS_LISTEN");
        self.variables.push(("FANFARE_METRICS_LISTEN".to_owned(), listen.clone()));
        format!("http://{listen}/metrics")
    }

    /// Waits until its API answers.
    pub async fn ready(&self) {
        let (http, url) = (http(), format!("{}/readyz", self.origin));
        while http.get(&url).send().await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Starts one of its processes.
    pub fn start(&self, args: &[&str]) -> Process {
        Process(self.command(args).spawn().expect("it starts"))
    }

    /// Copies the first posts of the only tenant until there are `posts` more.
    pub async fn fill(&self, posts: usize, due: Due) {
        self.fill_for(0, posts, due).await;
    }

    /// Copies the first posts of a tenant, one of each account in turn, until there are `posts` more.
    pub async fn fill_for(&self, place: usize, posts: usize, due: Due) {
        self.fill_shaped(place, posts, due, Shape::Interleaved).await;
    }

    /// Copies the first posts of a tenant until there are `posts` more.
    pub async fn fill_shaped(&self, place: usize, posts: usize, due: Due, shape: Shape) {
        let backend = self.db.get_database_backend();
        let tenant = &self.tenants[place];
        let (accounts, (from, to)) = (tenant.accounts, tenant.first);
        let each = posts.div_ceil(accounts);
        let n = format!("(s.n * {accounts} + t.place)");
        let at = match due {
            Due::At(at) => at.to_string(),
            Due::Over(from, to) => format!("({from} + {n} * {} / {posts})", to - from),
        };
        let columns: Vec<_> =
            post::Column::iter().filter(|column| !matches!(column, post::Column::Id)).collect();
        let name = |column: &post::Column| sea_orm::IdenStatic::as_str(column).to_owned();
        let value = |column: &post::Column| match column {
            post::Column::ScheduledAt | post::Column::DueAt => at.clone(),
            post::Column::Caption => {
                format!("'Post of={place} number ' || {n} || ' due=' || {at}")
            }
            post::Column::ContentKey if backend == DbBackend::Postgres => {
                "gen_random_uuid()".into()
            }
            post::Column::ContentKey => "randomblob(16)".into(),
            other => format!("t.{}", name(other)),
        };
        let series = if backend == DbBackend::Postgres {
            format!("generate_series(0, {}) AS s(n)", each - 1)
        } else {
            format!(
                "(WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < {}) SELECT n FROM c) AS s",
                each - 1
            )
        };
        let order = match shape {
            Shape::Interleaved => n.as_str(),
            Shape::ByAccount => "t.place, s.n",
        };
        let sql = format!(
            "INSERT INTO posts ({}) SELECT {} FROM (SELECT *, row_number() OVER (ORDER BY id) - 1 AS place \
             FROM posts WHERE id BETWEEN {from} AND {to}) AS t CROSS JOIN {series} WHERE {n} < {posts} ORDER BY {order}",
            columns.iter().map(name).collect::<Vec<_>>().join(", "),
            columns.iter().map(value).collect::<Vec<_>>().join(", "),
        );
        self.db.execute_unprepared(&sql).await.expect("posts");
        self.db.execute_unprepared("ANALYZE posts").await.expect("statistics");
    }

    /// Splits the only tenant's accounts, with their first posts, among this number of workspaces of the same user.
    pub async fn split(&self, workspaces: usize) {
        let post = post::Entity::find_by_id(PostId(self.tenants[0].first.0));
        let post = post.one(&self.db).await.expect("rows").expect("the tenant's first post");
        let first = workspace::Entity::find_by_id(post.workspace_id);
        let first = first.one(&self.db).await.expect("rows").expect("the tenant's workspace");
        let plan = subscription::Entity::find_by_id(first.id).one(&self.db).await.expect("rows");
        let tx = self.db.begin().await.expect("a transaction");
        for place in 1..workspaces {
            let id = WorkspaceId::fresh();
            let copy = workspace::Model { id, personal: false, ..first.clone() };
            copy.into_active_model().insert(&tx).await.expect("a workspace");
            if let Some(plan) = plan.clone() {
                let plan = subscription::Model { workspace_id: id, ..plan };
                plan.into_active_model().insert(&tx).await.expect("a plan");
            }
            account::Entity::update_many()
                .col_expr(account::Column::WorkspaceId, Expr::value(id))
                .filter(Expr::cust(format!("id % {workspaces} = {place}")))
                .exec(&tx)
                .await
                .expect("accounts");
        }
        let follow = "UPDATE posts SET workspace_id = (SELECT a.workspace_id FROM accounts a WHERE a.id = posts.account_id)";
        tx.execute_unprepared(follow).await.expect("posts");
        tx.commit().await.expect("a commit");
    }

    /// Copies the webhook at `{url}/0` until there are `count`, each with its own address below `url`.
    pub async fn copy_webhook(&self, count: usize, url: &str) {
        let at = webhook::Column::Url.eq(format!("{url}/0"));
        let webhook = webhook::Entity::find().filter(at).one(&self.db).await.expect("rows");
        let webhook = webhook.expect("the webhook");
        let of = webhook_secret::Column::WebhookId.eq(webhook.id);
        let secret = webhook_secret::Entity::find().filter(of).one(&self.db).await.expect("rows");
        let secret = secret.expect("its secret");
        for place in 1..count {
            let id = WebhookId::fresh();
            let copy = webhook::Model { id, url: format!("{url}/{place}"), ..webhook.clone() };
            copy.into_active_model().insert(&self.db).await.expect("a webhook");
            let copy = webhook_secret::Model { webhook_id: id, ..secret.clone() };
            copy.into_active_model().insert(&self.db).await.expect("its secret");
        }
    }

    /// Waits until `posts` are recorded as published.
    pub async fn recorded(&self, posts: usize) {
        self.counted("SELECT count(*) AS n FROM posts WHERE status = 'published'", posts).await;
    }

    /// Waits until a statement that counts rows as `n` returns this number.
    pub async fn counted(&self, sql: &str, rows: usize) {
        let wanted = i64::try_from(rows).expect("a small number");
        loop {
            let asked = Statement::from_string(self.db.get_database_backend(), sql);
            let row = self.db.query_one_raw(asked).await.expect("a count").expect("a row");
            if row.try_get::<i64>("", "n").expect("a count") >= wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Connects the accounts of a tenant, and schedules one post far ahead on each; returns the first and the last post's
/// id.
async fn connect_accounts(
    origin: &str,
    key: &str,
    place: usize,
    numbers: std::ops::Range<usize>,
) -> (i64, i64) {
    let caller = Caller { http: http(), origin, key };
    let made = stream::iter(numbers).map(|number| caller.connect(place, number));
    let ids: Vec<i64> = made.buffer_unordered(CONNECTING).collect().await;
    let (first, last) = (ids.iter().min(), ids.iter().max());
    (*first.expect("an account"), *last.expect("an account"))
}

/// An API client of a tenant.
struct Caller<'a> {
    http: reqwest::Client,
    origin: &'a str,
    key: &'a str,
}

impl Caller<'_> {
    /// Connects an account and schedules a post on it; returns the post's id.
    async fn connect(&self, place: usize, number: usize) -> i64 {
        let (platform, credentials) = credentials(place, number);
        let path = format!("connect/{platform}/credentials");
        let connected = self.post(&path, json!({ "credentials": credentials })).await;
        let account = &connected["account"]["id"];
        let at = "2099-01-01T00:00:00Z";
        let body = json!({"account_id": account, "caption": "Post", "scheduled_at": at});
        self.post("posts", body).await["post"]["id"].as_i64().expect("an id")
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let request = self.http.post(format!("{}/api/v1/{path}", self.origin));
        let answer = request.bearer_auth(self.key).json(&body).send().await.expect("an answer");
        let ok = answer.status().is_success();
        let said = answer.text().await.unwrap_or_default();
        assert!(ok, "{path}: {said}");
        serde_json::from_str(&said).expect("JSON")
    }
}

/// Returns the credentials of the `number`-th account of a tenant, and its network.
fn credentials(place: usize, number: usize) -> (&'static str, Value) {
    if number.is_multiple_of(2) {
        let name = format!("bench{place}x{number}");
        return ("bluesky", json!({"identifier": name, "app_password": "secret"}));
    }
    let user = (place * 100_000 + number).to_string();
    let (site, password) = ("https://blog.example", "abcd efgh ijkl mnop qrst uvwx");
    let given = json!({"site_url": site, "username": user, "application_password": password});
    ("wordpress", given)
}
