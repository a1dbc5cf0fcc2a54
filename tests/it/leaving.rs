//! A customer can leave: a workspace is deleted with all that is in it, and nothing of another one.

mod late;

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use fanfare_core::{
    UserId, WorkspaceId,
    access::{Role, Scope},
    failpoint::{self, Failpoint, Hook},
};
use fanfare_entities::{
    AccountId, SuggestionId, post_suggestion, post_suggestion::SuggestionStatus,
};
use fanfare_ops::workspace_deletion::fates::{FATES, Fate};
use fanfare_people::users;
use fanfare_tests::{Options, Receiver, TestApp, User, Visitor, files, networks};
use futures_util::TryStreamExt;
use sea_orm::{ActiveModelTrait, ConnectionTrait, EntityTrait, Statement};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::worker::command;

const DAY: Duration = Duration::from_secs(86_400);

/// The word that stands in everything of the workspace that goes, and the one of its neighbour.
const CANARY: &str = "zqcanary";
const BYSTANDER: &str = "zqbystander";

/// Tables that keep rows of a workspace, without its words.
const KEPT: [&str; 3] = ["credit_entries", "credit_reservations", "audit_entries"];

async fn query(app: &TestApp, sql: &str) -> Vec<sea_orm::QueryResult> {
    let db = &app.domain.db.write;
    let asked = Statement::from_string(db.get_database_backend(), sql);
    db.query_all_raw(asked).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

async fn texts(app: &TestApp, sql: &str) -> Vec<String> {
    query(app, sql).await.iter().map(|row| row.try_get("", "name").unwrap()).collect()
}

async fn number(app: &TestApp, sql: &str) -> i64 {
    query(app, sql).await[0].try_get("", "n").unwrap()
}

/// The tables of the schema, but those of the database and of migrations.
async fn tables(app: &TestApp) -> BTreeSet<String> {
    let sql = if app.domain.db.is_postgres() {
        "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema()"
    } else {
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    };
    let all = texts(app, sql).await.into_iter();
    all.filter(|name| name != "seaql_migrations").collect()
}

async fn columns(app: &TestApp, table: &str) -> Vec<String> {
    let sql = if app.domain.db.is_postgres() {
        format!(
            "SELECT column_name::text AS name FROM information_schema.columns \
             WHERE table_schema = current_schema() AND table_name = '{table}'"
        )
    } else {
        format!("SELECT name FROM pragma_table_info('{table}')")
    };
    texts(app, &sql).await
}

/// The number of rows of each table in any column of which the word stands.
async fn rows_with(app: &TestApp, word: &str) -> BTreeMap<String, i64> {
    let mut found = BTreeMap::new();
    for table in tables(app).await {
        let columns = columns(app, &table).await;
        let any: Vec<_> = columns
            .iter()
            .map(|column| format!("CAST(\"{column}\" AS TEXT) LIKE '%{word}%'"))
            .collect();
        let sql = format!("SELECT count(*) AS n FROM {table} WHERE {}", any.join(" OR "));
        let n = number(app, &sql).await;
        if n > 0 {
            found.insert(table, n);
        }
    }
    found
}

/// The number of rows of each table that name the workspace.
async fn rows_of(app: &TestApp, workspace: WorkspaceId) -> BTreeMap<String, i64> {
    let mut found = BTreeMap::new();
    let id = match app.domain.db.is_postgres() {
        true => format!("'{workspace}'"),
        false => format!("X'{}'", workspace.0.simple()),
    };
    for table in tables(app).await {
        if columns(app, &table).await.iter().any(|column| column == "workspace_id") {
            let sql = format!("SELECT count(*) AS n FROM {table} WHERE workspace_id = {id}");
            let n = number(app, &sql).await;
            if n > 0 {
                found.insert(table, n);
            }
        }
    }
    found
}

/// The files of the store whose path or bytes have one of the words.
async fn files_with(app: &TestApp, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for root in ["assets", "made", "inbox", "profiles"] {
        let all: Vec<_> =
            app.domain.store.walk(root).unwrap().try_collect::<Vec<_>>().await.unwrap();
        for file in all {
            let bytes = app.domain.store.read(&file.path, 1 << 30).await.unwrap();
            let text = format!("{} {}", file.path, String::from_utf8_lossy(&bytes));
            if words.iter().any(|word| text.contains(word)) {
                found.push(file.path);
            }
        }
    }
    found
}

/// Whether a value in Redis has the word.
fn redis_has(app: &TestApp, word: &str) -> bool {
    const LOOK: &str = "local found = 0 \
        for _, key in ipairs(redis.call('KEYS', '*')) do \
          local kind = redis.call('TYPE', key).ok local all = {} \
          if kind == 'string' then all = {redis.call('GET', key)} \
          elseif kind == 'hash' then all = redis.call('HGETALL', key) \
          elseif kind == 'list' then all = redis.call('LRANGE', key, 0, -1) \
          elseif kind == 'set' then all = redis.call('SMEMBERS', key) \
          elseif kind == 'zset' then all = redis.call('ZRANGE', key, 0, -1) end \
          if string.find(key, ARGV[1], 1, true) then found = found + 1 end \
          for _, value in ipairs(all) do \
            if string.find(tostring(value), ARGV[1], 1, true) then found = found + 1 end end end \
        return found";
    let Some(url) = &app.redis_url else { return false };
    let asked = Command::new("redis-cli").args(["-u", url, "EVAL", LOOK, "0", word]).output();
    let said = String::from_utf8(asked.expect("redis-cli runs").stdout).unwrap();
    said.trim().parse::<u32>().unwrap_or_else(|_| panic!("{said}")) > 0
}

/// A workspace of a person, full of a word.
struct Place {
    id: WorkspaceId,
    account: i64,
    /// The post that waits for its time.
    waiting: i64,
    bound: User,
    receiver: Receiver,
}

async fn suggestion(app: &TestApp, id: WorkspaceId, account: i64, word: &str) {
    let now = app.clock.now();
    let row = post_suggestion::Model {
        id: SuggestionId::fresh(),
        workspace_id: id,
        account_id: AccountId(account),
        platform: "facebook".to_owned(),
        period_key: "2026-W01".to_owned(),
        ordinal: 1,
        subject_id: 0,
        caption: word.to_owned(),
        rationale: word.to_owned(),
        status: SuggestionStatus::Pending,
        post_id: None,
        created_at: now,
        updated_at: now,
    };
    let row = post_suggestion::ActiveModel::from(row).reset_all();
    let insert = post_suggestion::Entity::insert(row);
    insert.exec_without_returning(&app.domain.db.write).await.unwrap();
}

/// Makes a workspace with all that one can hold, each with the word in its texts.
async fn fill(app: &TestApp, owner: UserId, user: &User, word: &str) -> Place {
    let id = users::create_workspace(&app.domain, word, owner).await.unwrap();
    let made = async |path: &str, mut body: Value, status: u16| {
        body["workspace_id"] = json!(id);
        user.post(path, body).await.expect(status).body
    };
    let receiver = Receiver::start().await;
    let hook =
        json!({"url": format!("{}/{word}", receiver.url), "description": word, "events": ["*"]});
    let _ = made("/api/v1/webhooks", hook, 201).await;
    let account = json!({"platform": "facebook"});
    let account = made("/api/v1/sandbox/accounts", account, 201).await["account"]["id"].clone();
    let threads = json!({"platform": "threads"});
    let threads = made("/api/v1/sandbox/accounts", threads, 201).await["account"]["id"].clone();
    let post = |more: Value| {
        let mut body =
            json!({"account_id": account, "caption": format!("{word} post"), "group": word});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let _ = user.publish(post(json!({"status": "draft"}))).await;
    let live = networks::publish(app, user, post(json!({"scheduled_at": app.at(60)}))).await;
    let waiting = user.publish(post(json!({"scheduled_at": app.at(40 * 86_400)}))).await;
    let _ = user.publish(post(json!({"scheduled_at": app.at(5 * 86_400)}))).await;
    let paused = user.publish(post(json!({"scheduled_at": app.at(41 * 86_400)}))).await;
    let path = format!("/api/v1/posts/{}/status", paused["id"]);
    let _ = user.put(&path, json!({"status": "paused"})).await.expect(200);
    let refused = json!([{"on": "commit", "kind": "status", "status": 400}]);
    user.faults("threads", threads.as_i64().unwrap(), refused).await;
    let failing = json!({"account_id": threads, "caption": format!("{word} fails")});
    let failing = user.publish(failing).await;
    let _ = networks::ended(app, user, &failing["id"]).await;
    let mut pdf = files::pdf();
    pdf.extend(word.as_bytes());
    let data = base64(&pdf);
    let file =
        json!({"filename": format!("{word}.pdf"), "content_type": "application/pdf", "data": data});
    let _ = made("/api/v1/media/upload", file, 201).await;
    let picture = json!({"filename": format!("{word}.gif"), "content_type": "image/gif", "data": base64(&files::gif())});
    let _ = made("/api/v1/media/upload", picture, 201).await;
    let upload =
        json!({"filename": format!("{word}.mp4"), "content_type": "video/mp4", "size": 900});
    let _ = made("/api/v1/media/signed-upload", upload, 201).await;
    let _ = made("/api/v1/media/drop-sessions", json!({"filename": word}), 201).await;
    let session = json!({"sandbox": true, "reference": word});
    let _ = made("/api/v1/connect/bluesky/sessions", session, 201).await;
    let settings = json!({"workspace_id": id, "app_name": word, "guest_links": true});
    let _ = user.patch("/api/v1/connect/settings", settings).await.expect(200);
    let comment = json!({"account_id": account, "kind": "comment", "text": word, "post_id": live["platform_post_id"]});
    let _ = user.post("/api/v1/sandbox/facebook/inbound", comment).await.expect(201);
    let message = json!({"account_id": account, "kind": "message", "text": word});
    let _ = user.post("/api/v1/sandbox/facebook/inbound", message).await.expect(201);
    for list in ["conversations", "comments"] {
        let path = format!("/api/v1/inbox/{list}?workspace_id={id}");
        app.eventually(list, || async {
            let found = user.get(&path).await.expect(200).body;
            found[list].get(0).is_some().then_some(())
        })
        .await;
    }
    let brief = json!({"brief": word, "platforms": ["facebook"], "reference": word});
    let _ = made("/api/v1/ai/generate-captions", brief, 200).await;
    let film =
        json!({"prompt": word, "provider": "xai", "aspect_ratio": "9:16", "duration_seconds": 6});
    let _ = made("/api/v1/ai/generate-video", film, 202).await;
    let board = json!({"category": "feature", "title": word, "description": format!("{word} again and again"), "confirm": true});
    let bound = app.key(owner, Some(id), &Scope::ALL).await;
    let _ = bound.post("/api/v1/feedback", board).await.expect(201);
    let brand = users::create_brand(&app.domain, id, word).await.unwrap();
    users::lock_to_brand(&app.domain, id, app.member(id, Role::Editor).await.0, brand)
        .await
        .unwrap();
    suggestion(app, id, account.as_i64().unwrap(), word).await;
    let key = json!({"name": word});
    let _ = made("/api/v1/keys", key, 201).await;
    let keyed = post(json!({"status": "draft"}));
    let _ = user.post_keyed("/api/v1/posts", word, &keyed).await.expect(201);
    Place {
        id,
        account: account.as_i64().unwrap(),
        waiting: waiting["id"].as_i64().unwrap(),
        bound,
        receiver,
    }
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

async fn quiet() -> TestApp {
    TestApp::with(Options::default()).await
}

async fn owner(app: &TestApp) -> (UserId, User) {
    let id = app.person("owner@example.com").await;
    (id, app.key(id, None, &Scope::ALL).await)
}

fn deletion(id: WorkspaceId) -> String {
    format!("/api/v1/workspaces/{id}/deletion")
}

fn leave(id: WorkspaceId, name: &str) -> String {
    format!("/api/v1/workspaces/{id}?name={name}")
}

async fn until_done(app: &TestApp, user: &User, id: WorkspaceId) -> Value {
    app.eventually_in_time("it is done", Duration::from_secs(60), || async {
        let shown = user.get(&deletion(id)).await.expect(200).body["deletion"].clone();
        (shown["state"] == "done").then_some(shown)
    })
    .await
}

#[tokio::test]
async fn each_table_has_a_fate() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let listed: BTreeSet<String> = FATES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(listed, tables(&app).await, "a table has no fate, or a fate has no table");
    for (table, fate) in FATES {
        let columns = columns(&app, table).await;
        let has = |name: &str| columns.iter().any(|column| column == name);
        match fate {
            Fate::OfWorkspace => assert!(has("workspace_id"), "{table} has no workspace"),
            Fate::Under { column, .. } => assert!(has(column), "{table} has no {column}"),
            Fate::OfNone(why) => {
                let is_receipt = *table == "workspace_deletions";
                assert!(is_receipt || !has("workspace_id"), "{table} has a workspace: {why}");
                assert!(!has("account_id") && !has("post_id"), "{table}: {why}");
            }
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_a_workspace_and_its_neighbour_stays() {
    let app = quiet().await;
    let (person, user) = owner(&app).await;
    let place = fill(&app, person, &user, CANARY).await;
    let other = fill(&app, person, &user, BYSTANDER).await;
    // The numbers of what was published are read after an hour.
    app.pass_time(Duration::from_secs(2 * 3_600)).await;
    app.wait_until_idle().await;
    let before = rows_with(&app, CANARY).await;
    for table in [
        "workspaces",
        "posts",
        "events",
        "webhooks",
        "media_assets",
        "inbox_messages",
        "inbox_comments",
        "inbox_conversations",
        "ai_jobs",
        "feedback",
        "brands",
        "api_keys",
        "connect_sessions",
        "connect_settings",
        "post_suggestions",
        "post_numbers",
        "uploads",
        "drop_sessions",
        "credit_entries",
        "idempotency_keys",
    ] {
        assert!(before.contains_key(table), "no canary in {table}: {before:#?}");
    }
    let id = place.id.to_string();
    assert!(files_with(&app, &[CANARY, &id]).await.len() > 1);
    let neighbour = (rows_with(&app, BYSTANDER).await, rows_of(&app, other.id).await);
    let neighbours_files = files_with(&app, &[BYSTANDER, &other.id.to_string()]).await;
    let credits = number(&app, "SELECT CAST(sum(amount) AS BIGINT) AS n FROM credit_entries").await;

    let started = user.delete(&leave(place.id, CANARY)).await.expect(202).body["deletion"].clone();
    assert_eq!(started["state"], "waiting");
    assert_eq!(started["due_at"], json!(app.at(30 * 86_400)));
    app.wait_until_idle().await;
    app.pass_time(30 * DAY).await;
    let done = until_done(&app, &user, place.id).await;
    assert_eq!(done["id"], started["id"]);

    assert_eq!(rows_with(&app, CANARY).await, BTreeMap::new());
    let kept = rows_of(&app, place.id).await;
    let kept: BTreeSet<&str> = kept.keys().map(String::as_str).collect();
    let allowed: BTreeSet<&str> = KEPT.into_iter().chain(["workspace_deletions"]).collect();
    assert!(kept.is_subset(&allowed), "{kept:?}");
    assert_eq!(files_with(&app, &[CANARY, &id]).await, Vec::<String>::new());
    assert!(!redis_has(&app, CANARY) && !redis_has(&app, BYSTANDER));
    // What was removed where.
    let receipt = &done["receipt"];
    // Events are as old as the grace is long by then: the clean-up may have been quicker.
    for table in ["posts", "accounts", "media_assets", "webhooks", "memberships"] {
        assert!(receipt["removed"][table].as_u64() > Some(0), "{table}: {receipt:#}");
    }
    assert_eq!(receipt["removed"]["workspaces"], 1);
    assert!(receipt["files"].as_u64() > Some(1), "{receipt:#}");
    assert!(receipt["kept"]["credit_entries"].as_u64() > Some(0), "{receipt:#}");
    let tokens = &receipt["tokens"];
    let answered = tokens["revoked"].as_u64().unwrap()
        + tokens["without_a_call"].as_u64().unwrap()
        + tokens["not_revoked"].as_array().unwrap().len() as u64;
    assert_eq!(answered, 2, "one for each account: {receipt:#}");
    assert!(!done.to_string().contains(CANARY));
    // The wallet is as before, and so is the neighbour, but for what happened there meanwhile.
    assert_eq!(
        number(&app, "SELECT CAST(sum(amount) AS BIGINT) AS n FROM credit_entries").await,
        credits
    );
    for table in ["posts", "media_assets", "webhooks", "brands", "inbox_messages", "accounts"] {
        assert_eq!(
            rows_of(&app, other.id).await.get(table),
            neighbour.1.get(table),
            "{table} of the neighbour"
        );
    }
    assert_eq!(rows_with(&app, BYSTANDER).await.get("posts"), neighbour.0.get("posts"));
    assert_eq!(
        files_with(&app, &[BYSTANDER, &other.id.to_string()]).await.len(),
        neighbours_files.len()
    );
    // The last look finds nothing more.
    app.pass_time(Duration::from_secs(601)).await;
    app.wait_until_idle().await;
    assert_eq!(user.get(&deletion(place.id)).await.expect(200).body["deletion"], done);
    user.delete(&leave(place.id, CANARY)).await.refused(404, "workspace_not_found");
    let stranger = app.user().await;
    stranger.get(&deletion(place.id)).await.refused(404, "workspace_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stopped_in_time_comes_back() {
    let app = quiet().await;
    let (person, user) = owner(&app).await;
    let place = fill(&app, person, &user, CANARY).await;
    let late =
        json!({"account_id": place.account, "caption": "late", "scheduled_at": app.at(3 * 86_400)});
    let late = user.publish(late).await["id"].clone();
    let paused = json!({"account_id": place.account, "caption": "by hand", "scheduled_at": app.at(50 * 86_400)});
    let paused = user.publish(paused).await["id"].clone();
    let by_hand = json!({"status": "paused"});
    let _ = user.put(&format!("/api/v1/posts/{paused}/status"), by_hand).await.expect(200);

    // It is asked for by the name, by an admin, with a key that reaches all of the person's workspaces.
    let path = format!("/api/v1/workspaces/{}", place.id);
    user.delete(&path).await.refused(400, "field_required");
    user.delete(&leave(place.id, "another")).await.refused(400, "invalid_field");
    place.bound.delete(&leave(place.id, CANARY)).await.refused(403, "insufficient_scope");
    let (editor, _) = app.member(place.id, Role::Editor).await;
    let editor = app.key(editor, None, &Scope::ALL).await;
    let low = editor.delete(&leave(place.id, CANARY)).await;
    low.refused(403, "insufficient_workspace_permissions");
    let stranger = app.user().await;
    stranger.delete(&leave(place.id, CANARY)).await.refused(404, "workspace_not_found");
    user.get(&deletion(place.id)).await.refused(404, "deletion_not_found");
    user.delete(&deletion(place.id)).await.refused(404, "deletion_not_found");
    let home = user.get("/api/v1/whoami").await.expect(200).body["default_workspace"].clone();
    let own = WorkspaceId(home["id"].as_str().unwrap().parse().unwrap());
    let name: String =
        url::form_urlencoded::byte_serialize(home["name"].as_str().unwrap().as_bytes()).collect();
    let kept = user.delete(&leave(own, &name)).await.refused(409, "workspace_deletion_blocked");
    assert_eq!(kept.body["blockers"][0]["code"], "personal_workspace");
    assert!(kept.body["blockers"][0]["remedy"].is_string());

    let post = async |id: &Value| {
        user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone()
    };
    let waiting = json!(place.waiting);
    assert_eq!(post(&waiting).await["status"], "scheduled");
    let first = user.delete(&leave(place.id, CANARY)).await.expect(202).body["deletion"].clone();
    // Asked again, it is the same.
    let again = user.delete(&leave(place.id, CANARY)).await.expect(202).body["deletion"].clone();
    assert_eq!(again, first);
    let _ = place.bound.get("/api/v1/whoami").await.expect(401);
    assert_eq!(post(&waiting).await["status"], "paused");
    assert_eq!(post(&waiting).await["waiting"]["reason"], "workspace_deletion");
    assert_eq!(post(&paused).await["waiting"]["reason"], "paused");
    let me = user.get("/api/v1/whoami").await.expect(200).body;
    let shown = me["workspaces"].as_array().unwrap();
    let shown = shown.iter().find(|one| one["id"] == json!(place.id)).unwrap();
    assert_eq!(shown["deletion_at"], first["due_at"]);
    let new = json!({"account_id": place.account, "caption": "new"});
    user.post("/api/v1/posts", new.clone()).await.refused(409, "workspace_leaving");

    app.wait_until_idle().await;
    app.pass_time(29 * DAY).await;
    app.wait_until_idle().await;
    let stopped = user.delete(&deletion(place.id)).await.expect(200).body["deletion"].clone();
    assert_eq!(stopped["state"], "stopped");
    assert_eq!(user.delete(&deletion(place.id)).await.expect(200).body["deletion"], stopped);
    app.wait_until_idle().await;
    assert_eq!(post(&waiting).await["status"], "scheduled");
    assert_eq!(post(&paused).await["status"], "paused");
    assert_eq!(post(&late).await["status"], "paused", "its time has passed");
    let path = format!("/api/v1/activity?post_id={late}&workspace_id={}", place.id);
    let told = user.get(&path).await.expect(200).body;
    assert!(told.to_string().contains("its time passed"), "{told:#}");
    let _ = place.bound.get("/api/v1/whoami").await.expect(401);
    let _ = user.publish(new).await;
    app.pass_time(3 * DAY).await;
    app.wait_until_idle().await;
    assert!(rows_with(&app, CANARY).await.contains_key("posts"), "nothing was deleted");
    // It can be asked for anew, and once it has begun nothing stops it.
    let second = user.delete(&leave(place.id, CANARY)).await.expect(202).body["deletion"].clone();
    assert_ne!(second["id"], first["id"]);
    let log = fanfare_ops::ops::audit::list(&app.domain, None).await.unwrap().entries;
    for action in ["workspace_deletion_started", "workspace_deletion_stopped"] {
        let entry = log.iter().find(|entry| entry.action == action).unwrap();
        assert_eq!(entry.target, format!("workspace:{}", place.id));
    }
    drop(place.receiver);
}

/// Holds the n-th work that comes by for ever.
#[derive(Debug)]
struct Hold {
    place: &'static str,
    left: AtomicUsize,
    reached: CancellationToken,
}

#[async_trait]
impl Hook for Hold {
    async fn reach(&self, name: &str) {
        if name == self.place && self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.reached.cancel();
            std::future::pending::<()>().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_whose_workers_die_goes_on() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let stop = CancellationToken::new();
    app.start_workers_of(app.other_process().await, stop.clone());
    let (person, user) = owner(&app).await;
    let place = fill(&app, person, &user, CANARY).await;
    app.wait_until_idle().await;
    stop.cancel();
    let _ = user.delete(&leave(place.id, CANARY)).await.expect(202);
    app.pass_time(30 * DAY).await;
    let each = failpoint::LEAVING.iter().map(|at| (*at, 1));
    for (at, nth) in each.chain([("deletion_piece", 7), ("deletion_piece", 30)]) {
        let reached = CancellationToken::new();
        let hook = Hold { place: at, left: AtomicUsize::new(nth), reached: reached.clone() };
        let stop = CancellationToken::new();
        app.start_workers_of(
            app.other_process_at(Failpoint::with_hook(Arc::new(hook))).await,
            stop.clone(),
        );
        tokio::time::timeout(fanfare_tests::patience(), reached.cancelled()).await.expect(at);
        stop.cancel();
        app.expire_leases().await;
    }
    app.start_workers();
    let done = until_done(&app, &user, place.id).await;
    assert_eq!(rows_with(&app, CANARY).await, BTreeMap::new());
    let text = place.id.to_string();
    assert_eq!(files_with(&app, &[CANARY, &text]).await, Vec::<String>::new());
    assert_eq!(done["receipt"]["removed"]["accounts"], 2, "each row is counted once: {done:#}");
    assert_eq!(done["receipt"]["removed"]["workspaces"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_sees_what_would_go_and_needs_no_grace() {
    let app = quiet().await;
    let (person, user) = owner(&app).await;
    let place = fill(&app, person, &user, CANARY).await;
    app.wait_until_idle().await;
    let run = |more: &[&str]| {
        let mut line = vec!["admin", "workspace", "delete", CANARY];
        line.extend(more);
        command(&app).args(line).env("USER", "root").output().expect("the command runs")
    };
    assert!(!run(&["--now"]).status.success(), "it needs a reason");
    let dry = run(&["--dry-run"]);
    assert!(dry.status.success(), "{}", String::from_utf8_lossy(&dry.stderr));
    let dry: Value = serde_json::from_slice(&dry.stdout).unwrap();
    assert_eq!(dry["workspace_id"], json!(place.id));
    assert!(dry["rows"]["posts"].as_u64() > Some(4), "{dry:#}");
    assert!(rows_with(&app, CANARY).await.contains_key("posts"), "a dry run removes nothing");
    let ran = run(&["--now", "--reason", "they asked"]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let started: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let done = until_done(&app, &user, place.id).await;
    assert_eq!(done["id"], started["deletion"]["id"]);
    assert_eq!(done["receipt"]["removed"]["posts"], dry["rows"]["posts"]);
    assert_eq!(rows_with(&app, CANARY).await, BTreeMap::new());
    let entries = fanfare_ops::ops::audit::list(&app.domain, None).await.unwrap().entries;
    let entry = entries.iter().find(|entry| entry.action == "workspace_deleted").unwrap();
    assert_eq!(entry.target, format!("workspace:{}", place.id));
    assert_eq!(entry.details, json!({"now": true, "reason": "they asked"}));
    assert!(entries.iter().any(|entry| entry.action == "look_up"));
}

/// The e-mails that the service has written.
async fn letters(app: &TestApp) -> Vec<Value> {
    let asked = fanfare_tests::local_client().get(format!("{}/dev/mail", app.origin));
    let said = asked.header("Accept", "application/json").send().await.unwrap();
    said.json::<Value>().await.unwrap()["letters"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_leaves_and_stays_by_the_settings_page() {
    let app = TestApp::start().await;
    let (person, mut browser) = Visitor::person(&app, "ada@example.com").await;
    let page = "/dashboard/settings";
    let own = browser.get(page).await.expect(200);
    assert!(!own.html.contains("Delete the workspace"), "a personal workspace stays");
    let team = users::create_workspace(&app.domain, "Bakery & Sons", person).await.unwrap();
    let chosen = [("csrf", own.hidden("csrf")), ("workspace_id", team.to_string())];
    let _ = browser.send("/dashboard/workspace", &chosen).await.expect(303);
    let shown = browser.get(page).await.expect(200);
    let form = |name: &str| {
        [
            ("csrf", shown.hidden("csrf")),
            ("workspace_id", team.to_string()),
            ("workspace", name.to_owned()),
        ]
    };
    let start = "/dashboard/settings/delete-workspace";
    let wrong = browser.send(start, &form("Bakery")).await.expect(400);
    assert!(wrong.html.contains("not the name"), "{}", wrong.html);
    let _ = browser.send(start, &form("Bakery & Sons")).await.expect(303);
    let leaving = browser.get(page).await.expect(200);
    assert!(leaving.html.contains("This workspace will be deleted on"), "{}", leaving.html);
    assert!(browser.get("/dashboard").await.expect(200).html.contains("will be deleted on"));
    let sent = app
        .eventually("the e-mail is there", || async {
            let sent = letters(&app).await;
            (!sent.is_empty()).then_some(sent)
        })
        .await;
    assert_eq!(sent.len(), 1, "{sent:?}");
    let text = sent[0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("ada@example.com asked to delete the workspace \"Bakery & Sons\""),
        "{text}"
    );
    assert_eq!(sent[0]["links"], json!([format!("{}/dashboard/settings", app.origin)]));
    let stop = [("csrf", leaving.hidden("csrf")), ("workspace_id", team.to_string())];
    let _ = browser.send("/dashboard/settings/keep-workspace", &stop).await.expect(303);
    let stays = browser.get(page).await.expect(200);
    assert!(
        !stays.html.contains("will be deleted on") && stays.html.contains("Delete the workspace")
    );
}
