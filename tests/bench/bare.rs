//! The peer of `POST /posts` and `GET /posts/{id}`: plain salvo handlers.
//!
//! `/same/posts` writes the same rows as the service, in one statement; `/same/posts/{id}` looks up the key, counts the
//! request in Redis and reads the row; `/bare` returns a constant.

use fanfare_entities::post;
use salvo::{Depot, FlowCtrl, Handler, Listener, Request, Response, Router, conn::TcpListener};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend, EntityTrait,
    Iterable, Statement,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

struct Bare {
    db: DatabaseConnection,
    redis: redis::aio::MultiplexedConnection,
    insert: String,
}

/// Serves on a free port of loopback, prints the address, and ends with its standard input.
pub async fn serve(database: &str, redis: &str) {
    let mut options = ConnectOptions::new(database);
    options.max_connections(8).sqlx_logging(false);
    let db = Database::connect(options).await.expect("PostgreSQL answers");
    let client = redis::Client::open(redis).expect("an address");
    let redis = client.get_multiplexed_async_connection().await.expect("Redis answers");
    let acceptor = TcpListener::new("127.0.0.1:0").bind().await;
    let address = salvo::conn::Acceptor::holdings(&acceptor)[0].local_addr.clone();
    println!("http://{}", address.into_std().expect("an address"));
    let router = Router::with_path("{**rest}").goal(Bare { db, redis, insert: insert() });
    tokio::spawn(salvo::Server::new(acceptor).serve(router));
    let ended =
        tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    let _ = ended.await;
    std::process::exit(0);
}

/// Returns the statement that copies the first post of an account with another text, adds its event and updates the
/// workspace's counter of events.
fn insert() -> String {
    let columns: Vec<_> = post::Column::iter()
        .filter(|column| !matches!(column, post::Column::Id))
        .map(|column| sea_orm::IdenStatic::as_str(&column).to_owned())
        .collect();
    let values: Vec<_> =
        columns.iter().map(|name| if name == "caption" { "$1" } else { name }).collect();
    format!(
        "WITH made AS (INSERT INTO posts ({}) SELECT {} FROM posts WHERE id = $3 RETURNING *), \
         counted AS (UPDATE workspaces w SET event_sequence = event_sequence + 1 FROM made \
         WHERE w.id = made.workspace_id RETURNING event_sequence) \
         INSERT INTO events (id, workspace_id, sequence, event_type, data, post_id, account_id, platform, status, \
         message, request_id, created_at) \
         SELECT gen_random_uuid(), made.workspace_id, event_sequence, 'post.created', $2, made.id, made.account_id, \
         made.platform, made.status, 'The post was made.', made.request_id, made.created_at FROM made, counted \
         RETURNING post_id",
        columns.join(", "),
        values.join(", "),
    )
}

#[salvo::async_trait]
impl Handler for Bare {
    async fn handle(&self, req: &mut Request, _: &mut Depot, res: &mut Response, _: &mut FlowCtrl) {
        let answer = match req.uri().path() {
            "/same/posts" => {
                let body: Value = req.parse_json().await.expect("a body");
                let caption = body["caption"].as_str().expect("a caption").to_owned();
                // The first post of an account has the same number as the account.
                let like = body["account_id"].as_i64().expect("an account");
                json!({"post": {"id": self.make(like, caption, body).await}})
            }
            path if path.starts_with("/same/posts/") => self.read(req).await,
            _ => json!({"post": {"id": 1}}),
        };
        res.render(salvo::writing::Json(answer));
    }
}

impl Bare {
    async fn make(&self, like: i64, caption: String, body: Value) -> i64 {
        let values = [caption.into(), body.into(), like.into()];
        let sent = Statement::from_sql_and_values(DbBackend::Postgres, &self.insert, values);
        let row = self.db.query_one_raw(sent).await.expect("an answer").expect("a row");
        row.try_get("", "post_id").expect("an id")
    }

    async fn read(&self, req: &Request) -> Value {
        let key: &str = req.header("authorization").expect("a key");
        let key = key.trim_start_matches("Bearer ");
        let hash: String = Sha256::digest(key).iter().map(|byte| format!("{byte:02x}")).collect();
        let asked = "SELECT user_id FROM api_keys WHERE hash = $1";
        let asked =
            Statement::from_sql_and_values(DbBackend::Postgres, asked, [hash.clone().into()]);
        self.db.query_one_raw(asked).await.expect("an answer").expect("a key");
        let count = redis::cmd("INCR").arg(hash).query_async(&mut self.redis.clone()).await;
        let _: i64 = count.expect("Redis counts");
        let id = req.uri().path().rsplit('/').next().and_then(|id| id.parse().ok());
        let id = fanfare_entities::PostId(id.expect("a number"));
        let row =
            post::Entity::find_by_id(id).one(&self.db).await.expect("an answer").expect("a post");
        json!({"post": {
            "id": row.id.0, "caption": row.caption, "platform": row.platform, "settings": row.settings,
            "metadata": row.metadata, "created_at": row.created_at, "updated_at": row.updated_at,
        }})
    }
}
