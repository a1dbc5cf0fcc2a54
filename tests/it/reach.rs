//! A credential that is bound to one workspace reaches nothing outside it, and what a credential makes neither outlives
//! nor exceeds it. The table of routes is walked, so that a new route is covered.

use std::time::Duration;

use fanfare_api::{BelongsTo, Route, routes::ROUTES};
use fanfare_core::{
    WorkspaceId,
    access::{PlanTier, Scope},
};
use fanfare_entities::{
    AccountId, SuggestionId, post_suggestion, post_suggestion::SuggestionStatus,
};
use fanfare_people::{
    credits::{self, SHORT_EXPIRY, Spend},
    users,
};
use fanfare_tests::{Options, RawAnswer, RawConnection, TestApp, User, Visitor, networks};
use reqwest::Method;
use sea_orm::{ActiveModelTrait, EntityTrait};
use serde_json::{Value, json};

use crate::oauth::{bearer, let_in, register};

/// What one person has outside the workspace of a bound key: a row of each kind.
struct Elsewhere {
    /// The workspace of the key.
    own: WorkspaceId,
    workspace: WorkspaceId,
    account: i64,
    /// The beginning of a route's path, and the id that stands in it.
    ids: Vec<(&'static str, String)>,
}

const DOT: &str = "R0lGODlhAQABAIAAAP9mAAAAACwAAAAAAQABAAACAkQBADs=";

const OPERATION: &str = "captions:outlandish";

async fn spend(app: &TestApp, workspace: WorkspaceId, operation: &str) {
    let tx = app.domain.db.begin().await.unwrap();
    let spend = Spend { workspace, operation, credits: 1, expires_after: SHORT_EXPIRY };
    credits::reserve(&app.domain, &tx, spend).await.unwrap();
    tx.commit().await.unwrap();
}

/// Writes a suggestion, which follows from weeks of numbers otherwise.
async fn suggestion(app: &TestApp, workspace: WorkspaceId, account: i64) -> SuggestionId {
    let (id, now) = (SuggestionId::fresh(), app.clock.now());
    let row = post_suggestion::Model {
        id,
        workspace_id: workspace,
        account_id: AccountId(account),
        platform: "facebook".to_owned(),
        period_key: "2026-W01".to_owned(),
        ordinal: 1,
        subject_id: 0,
        caption: "outlandish".to_owned(),
        rationale: "outlandish".to_owned(),
        status: SuggestionStatus::Pending,
        post_id: None,
        created_at: now,
        updated_at: now,
    };
    let row = post_suggestion::ActiveModel::from(row).reset_all();
    let insert = post_suggestion::Entity::insert(row);
    insert.exec_without_returning(&app.domain.db.write).await.unwrap();
    id
}

fn id(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Elsewhere {
    async fn of(
        app: &TestApp,
        free: &User,
        [own, workspace]: [WorkspaceId; 2],
        visitor: &mut Visitor,
    ) -> Self {
        let here = json!(workspace);
        let made = async |path: &str, mut body: Value, status: u16| {
            body["workspace_id"] = here.clone();
            free.post(path, body).await.expect(status).body
        };
        let account = json!({"platform": "facebook"});
        let account = made("/api/v1/sandbox/accounts", account, 201).await["account"]["id"].clone();
        let draft = json!({"account_id": account, "caption": "outlandish", "status": "draft"});
        let post = free.publish(draft).await["id"].clone();
        let set = json!({"targets": [{"account_id": account}], "caption": "outlandish", "status": "draft"});
        let set = made("/api/v1/post-sets", set, 201).await["post_set"]["id"].clone();
        let later =
            json!({"account_id": account, "caption": "outlandish", "scheduled_at": app.at(60)});
        let live = networks::publish(app, free, later).await;
        let hook = json!({"url": "https://example.com/outlandish", "events": ["*"]});
        let hook = made("/api/v1/webhooks", hook, 201).await["webhook"]["id"].clone();
        let file = json!({"filename": "outlandish.gif", "content_type": "image/gif", "data": DOT});
        let file = made("/api/v1/media/upload", file, 201).await["id"].clone();
        let film = json!({"prompt": "outlandish", "provider": "xai", "aspect_ratio": "9:16", "duration_seconds": 6});
        let film = made("/api/v1/ai/generate-video", film, 202).await["job_id"].clone();
        let session = json!({"sandbox": true});
        let session = made("/api/v1/connect/bluesky/sessions", session, 201).await;
        let comment = json!({"account_id": account, "kind": "comment", "text": "outlandish",
            "post_id": live["platform_post_id"]});
        let _ = free.post("/api/v1/sandbox/facebook/inbound", comment).await.expect(201);
        let message = json!({"account_id": account, "kind": "message", "text": "outlandish"});
        let _ = free.post("/api/v1/sandbox/facebook/inbound", message).await.expect(201);
        let one = async |list: &str| {
            let path = format!("/api/v1/inbox/{list}?workspace_id={workspace}");
            app.eventually(list, || async {
                free.get(&path).await.expect(200).body[list].get(0).map(|row| row["id"].clone())
            })
            .await
        };
        let (talk, comment) = (one("conversations").await, one("comments").await);
        let advice = suggestion(app, workspace, account.as_i64().unwrap()).await;
        let brand = app.brand(workspace, &[]).await;
        let key = json!({"name": "outlandish"});
        let key = free.post("/api/v1/keys", key).await.expect(201).body["api_key"]["id"].clone();
        let client =
            json!({"client_name": "outlandish", "allowed_redirect_uris": ["https://a.example/cb"]});
        let client = free.post("/api/v1/oauth/clients", client).await.expect(201).body;
        let tool = register(&app.origin).await;
        let _ = let_in(app, visitor, &tool).await;
        let grants = free.get("/api/v1/oauth/grants").await.expect(200).body;
        spend(app, workspace, OPERATION).await;
        let ids = [
            ("/api/v1/posts/{id}", post),
            ("/api/v1/post-sets/{id}", set),
            ("/api/v1/posts/group/", json!("no-such-group")),
            ("/api/v1/accounts/{id}", account.clone()),
            ("/api/v1/webhooks/{id}", hook),
            ("/api/v1/media/{id}", file),
            ("/api/v1/ai/video-jobs/{id}", film),
            ("/api/v1/connect/sessions/{id}", session["connect_session"]["id"].clone()),
            ("/api/v1/inbox/conversations/{id}", talk),
            ("/api/v1/inbox/comments/{id}", comment),
            ("/api/v1/suggestions/{id}", json!(advice)),
            ("/api/v1/brands/{id}", json!(brand)),
            ("/api/v1/keys/{id}", key),
            ("/api/v1/oauth/grants/{id}", grants["grants"][0]["id"].clone()),
            ("/api/v1/oauth/clients/{client_id}", client["client"]["client_id"].clone()),
            ("/api/v1/workspaces/{id}", here.clone()),
            ("/api/v1/sandbox/{platform}/", live["platform_post_id"].clone()),
        ];
        let ids = ids.map(|(path, value)| {
            assert!(!value.is_null(), "{path} has no row");
            (path, id(&value))
        });
        Self { own, workspace, account: account.as_i64().unwrap(), ids: ids.into() }
    }

    fn path(&self, route: &Route) -> String {
        let known = self.ids.iter().find(|(path, _)| route.path.starts_with(path));
        let step = |step: &str| match step {
            "{platform}" => "facebook".to_owned(),
            "{delivery_id}" => uuid::Uuid::nil().to_string(),
            step if step.starts_with('{') => {
                known.unwrap_or_else(|| panic!("{}: no row for {step}", route.path)).1.clone()
            }
            step => step.to_owned(),
        };
        route.path.split('/').map(step).collect::<Vec<_>>().join("/")
    }
}

/// The names of a route's parameters and of its body's fields.
fn names(document: &Value, route: &Route) -> (Vec<String>, Vec<String>) {
    let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let parameters = parameters.filter(|one| one["in"] == "query");
    let parameters = parameters.filter_map(|one| one["name"].as_str()).map(str::to_owned);
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    let named = schema["$ref"].as_str().map(|named| named.trim_start_matches('#'));
    let schema = named.and_then(|named| document.pointer(named)).unwrap_or(schema);
    let fields = schema["properties"].as_object().into_iter().flat_map(|all| all.keys());
    (parameters.collect(), fields.cloned().collect())
}

/// The requests of a route that name something outside: path, body, and whether something outside is named.
fn requests(
    document: &Value,
    route: &Route,
    there: &Elsewhere,
) -> Vec<(String, Option<Value>, bool)> {
    let path = there.path(route);
    let names_row =
        route.path_parameters().any(|name| name.ends_with("id") && name != "delivery_id");
    let (query, fields) = names(document, route);
    let body = route.body.map(|body| serde_json::from_str::<Value>(body.example).unwrap());
    // Without its account such a request is refused as incomplete; with it, below, it names the row.
    let is_whole = !query.iter().any(|known| known == "account_id");
    let mut asked = vec![(path.clone(), body.clone(), names_row && is_whole)];
    for (name, value) in
        [("workspace_id", json!(there.workspace)), ("account_id", json!(there.account))]
    {
        if query.iter().any(|known| known == name) {
            asked.push((format!("{path}?{name}={}", id(&value)), body.clone(), true));
        }
        if let Some(mut body) = body.clone().filter(|_| fields.iter().any(|known| known == name)) {
            body[name] = value;
            asked.push((path.clone(), Some(body), true));
        }
    }
    asked
}

/// Everything that the person sees outside, in the replies to all reading routes without a row in their path.
async fn seen(document: &Value, free: &User, there: &Elsewhere) -> Vec<(String, Value)> {
    let mut seen = Vec::new();
    for route in ROUTES.iter().filter(|route| !route.method.writes() && route.public.is_none()) {
        if route.path.contains('{') {
            continue;
        }
        let (query, _) = names(document, route);
        let mut path = route.path.to_owned();
        if query.iter().any(|name| name == "workspace_id") {
            path = format!("{path}?workspace_id={}", there.workspace);
        }
        let mut body = free.get(&path).await.body;
        for list in body.as_object_mut().into_iter().flat_map(|body| body.values_mut()) {
            let Some(rows) = list.as_array_mut() else { continue };
            // The key works in its own workspace.
            rows.retain(|row| row["workspace_id"] != json!(there.own));
            for row in rows {
                // These change by being looked at.
                for moved in ["last_used_at", "last_synced_at"] {
                    row.as_object_mut().map(|row| row.remove(moved));
                }
            }
        }
        // One wallet pays for all workspaces of a person, so what the key spends in its own is seen in its sums.
        if !["/api/v1/whoami", "/api/v1/subscription", "/api/v1/credits"].contains(&route.path) {
            seen.push((route.path.to_owned(), body));
        }
    }
    seen
}

#[tokio::test]
async fn a_bound_key_reaches_no_row_of_any_route_outside_its_workspace() {
    let app = TestApp::start().await;
    let (person, mut visitor) = Visitor::person(&app, "agency@example.com").await;
    let (own, other) = (app.workspace(person).await, app.workspace(person).await);
    for workspace in [own, other] {
        users::set_plan(&app.domain, workspace, PlanTier::Agency, Some(true)).await.unwrap();
    }
    let free = app.key(person, None, &Scope::ALL).await;
    let bound = app.key(person, Some(own), &Scope::ALL).await;
    let there = Elsewhere::of(&app, &free, [own, other], &mut visitor).await;
    let document = free.get("/openapi.json").await.expect(200).body;
    let before = seen(&document, &free, &there).await;
    for route in ROUTES.iter().filter(|route| route.public.is_none()) {
        for (path, body, is_named) in requests(&document, route, &there) {
            let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
            let answer = bound.send(method, &path, &[], body.as_ref()).await;
            let told = format!("{} {path}: {} {}", route.name, answer.status, answer.text);
            if route.policy.belongs_to == BelongsTo::Person {
                let _ = answer.refused(403, "insufficient_scope");
                continue;
            }
            assert!(answer.status != 500, "{told}");
            if is_named && route.policy.belongs_to == BelongsTo::Workspace {
                // A list by a foreign account may select nothing, as one by an account that does not exist.
                let lists = answer.body.as_object().into_iter().flat_map(|body| body.values());
                let is_empty = lists.filter_map(Value::as_array).all(Vec::is_empty);
                let selects_nothing =
                    answer.status == 200 && is_empty && path.contains("?account_id=");
                assert!([403, 404].contains(&answer.status) || selects_nothing, "{told}");
            }
            let ids = there.ids.iter().map(|(_, id)| id.as_str()).filter(|id| id.len() > 8);
            for canary in ids.chain(["outlandish", &there.workspace.to_string()]) {
                let echoed = path.contains(canary);
                assert!(echoed || !answer.text.contains(canary), "{canary} in {told}");
            }
        }
    }
    let after = seen(&document, &free, &there).await;
    for ((path, mut before), (_, mut after)) in before.into_iter().zip(after) {
        // A key that was made inside takes one of the places of the person's plan, and what was spent inside is part of
        // what the payer's wallet has spent.
        let of_the_person = match path.as_str() {
            "/api/v1/keys" => "room",
            "/api/v1/credits/usage" => "total",
            _ => "",
        };
        for shown in [&mut before, &mut after].into_iter().filter_map(Value::as_object_mut) {
            shown.remove(of_the_person);
            // A clock goes on.
            shown.remove("now");
        }
        // The feedback board and its like belong to nobody.
        let route = ROUTES.iter().find(|route| route.path == path && !route.method.writes());
        // To look counts as a request itself.
        if path == "/api/v1/rate-limits" {
            continue;
        }
        if route.is_some_and(|route| route.policy.belongs_to != BelongsTo::Service) {
            assert_eq!(before, after, "{path}");
        }
    }
}

#[tokio::test]
async fn the_ledger_shows_each_workspace_to_its_own_and_everything_to_the_payer() {
    let app = TestApp::start().await;
    let (person, mut visitor) = Visitor::person(&app, "payer@example.com").await;
    let (own, other) = (app.workspace(person).await, app.workspace(person).await);
    spend(&app, own, "captions:own").await;
    spend(&app, other, OPERATION).await;
    let (_, member) = app.member(own, fanfare_core::access::Role::Admin).await;
    let free = app.key(person, None, &Scope::ALL).await;
    let bound = app.key(person, Some(own), &Scope::ALL).await;
    let operations = async |user: &User| {
        let path = format!("/api/v1/credits/ledger?workspace_id={own}");
        let ledger = user.get(&path).await.expect(200).body["ledger"].clone();
        let rows = ledger.as_array().unwrap().iter().filter(|row| !row["operation"].is_null());
        rows.map(|row| (id(&row["operation"]), id(&row["workspace_id"]))).collect::<Vec<_>>()
    };
    let mine = ("captions:own".to_owned(), own.to_string());
    let theirs = (OPERATION.to_owned(), other.to_string());
    assert_eq!(operations(&free).await, [theirs, mine.clone()]);
    assert_eq!(operations(&bound).await, std::slice::from_ref(&mine));
    assert_eq!(operations(&member).await, [mine]);
    // A tool that the person lets in is bound to the workspace of its grant.
    let tokens = let_in(&app, &mut visitor, &register(&app.origin).await).await;
    let tool = bearer(&app, &tokens);
    tool.get("/api/v1/oauth/clients").await.refused(403, "api_key_required");
}

#[tokio::test]
async fn a_bound_credential_counts_in_its_workspace_alone() {
    let app = TestApp::start().await;
    let person = app.person("counted@example.com").await;
    let own = app.workspace(person).await;
    let free = app.key(person, None, &Scope::ALL).await;
    let bound = app.key(person, Some(own), &Scope::ALL).await;
    let left = |answer: &fanfare_tests::ApiReply| -> u64 {
        answer.header("x-ratelimit-remaining").parse().unwrap()
    };
    let first = left(&bound.get("/api/v1/accounts").await);
    for _ in 0..5 {
        let _ = free.get("/api/v1/accounts").await.expect(200);
    }
    assert_eq!(left(&bound.get("/api/v1/accounts").await), first - 1);
}

/// What a credential makes, by what the maker has: end in days, bound or not.
#[tokio::test]
async fn what_a_credential_makes_neither_outlives_nor_exceeds_it() {
    let app = TestApp::start().await;
    let person = app.person("maker@example.com").await;
    let own = app.workspace(person).await;
    let root = app.key(person, None, &Scope::ALL).await;
    let scopes = ["accounts:read", "accounts:write", "media:write"];
    for bound in [false, true] {
        let mut new = json!({"name": "short", "scopes": scopes, "expires_in_days": 1});
        if bound {
            new["workspace_id"] = json!(own);
        }
        let maker = root.post("/api/v1/keys", new).await.expect(201).body;
        let end = maker["api_key"]["expires_at"].as_str().unwrap().to_owned();
        let maker = User::new(&app.origin, maker["key"].as_str().unwrap().to_owned());
        app.advance(Duration::from_secs(86_400 - 600));
        for days in [json!(null), json!(1), json!(365)] {
            let asked = json!({"name": "made", "expires_in_days": days});
            let made = maker.post("/api/v1/keys", asked).await.expect(201).body;
            let made = &made["api_key"];
            let path = format!("/api/v1/keys/{}", made["id"].as_str().unwrap());
            let _ = root.delete(&path).await.expect(200);
            assert!(made["expires_at"].as_str().is_some_and(|own| own <= end.as_str()), "{made}");
            assert_eq!(made["scopes"], json!(scopes));
            let place = if bound { json!(own) } else { json!(null) };
            assert_eq!(made["workspace_id"], place);
        }
        let more = json!({"name": "more", "scopes": ["posts:read"]});
        let _ = maker.post("/api/v1/keys", more).await.refused(403, "insufficient_scope");
        let links = [
            (
                "/api/v1/media/signed-upload",
                json!({"filename": "a.png", "content_type": "image/png", "size": 10}),
            ),
            ("/api/v1/media/drop-sessions", json!({})),
            ("/api/v1/connect/bluesky/sessions", json!({"sandbox": true})),
        ];
        for (path, body) in links {
            let made = maker.post(path, body).await.expect(201).body;
            let ends =
                made["expires_at"].as_str().or(made["connect_session"]["expires_at"].as_str());
            assert!(ends.is_some_and(|own| own <= end.as_str()), "{path}: {made}");
        }
    }
}

/// Texts that lead elsewhere where they become a part of an address.
const LEADING: [&str; 12] = [
    "../accounts/{id}",
    "../accounts/{id}?realm={realm}",
    "..",
    ".",
    "%2e%2e/accounts/{id}",
    "..%2faccounts%2f{id}",
    "a/b",
    "a?realm={realm}",
    "a#b",
    "a\\..\\b",
    "a b",
    "{300}",
];

#[tokio::test]
async fn no_text_of_a_caller_leads_an_inner_call_elsewhere() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (ada, eve) = (app.user().await, app.user().await);
    let _ = ada.connect("facebook").await;
    let own = eve.connect("facebook").await;
    let before = app.simulator.accounts("facebook").await;
    let victim = before.iter().find(|one| one["username"] != json!("")).unwrap().clone();
    for route in ROUTES.iter().filter(|route| route.path.contains('{') && route.public.is_none()) {
        for name in route.path_parameters() {
            for text in LEADING {
                let text = text
                    .replace("{id}", victim["remote_id"].as_str().unwrap())
                    .replace("{realm}", victim["realm"].as_str().unwrap())
                    .replace("{300}", &"x".repeat(300));
                let step: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
                let step = step.replace('+', "%20");
                let path = route.path.replace(&format!("{{{name}}}"), &step);
                let path = path.replace("{platform}", "facebook").replace("{id}", "7");
                let path = path.replace("{delivery_id}", "7");
                let body = route.body.map(|body| {
                    let mut body: Value = serde_json::from_str(body.example).unwrap();
                    if body.get("account_id").is_some() {
                        body["account_id"] = own.into();
                    }
                    body
                });
                // Clients leave steps of dots out of an address; these come as they are.
                let line = format!("{} {path}?account_id={own}", route.method.as_str());
                let head = [
                    format!("Authorization: Bearer {}", eve.key),
                    "Content-Type: application/json".to_owned(),
                ];
                let body = body.map(|body| body.to_string()).unwrap_or_default();
                let mut wire = RawConnection::connect(&app).await;
                wire.request(&line, &head, body.as_bytes()).await;
                let RawAnswer { status, body, .. } = wire.answer().await.expect("an answer");
                assert!((400..500).contains(&status), "{} {text}: {status} {body}", route.name);
            }
        }
    }
    let mut after = app.simulator.accounts("facebook").await;
    after.retain(|one| before.iter().any(|known| known["remote_id"] == one["remote_id"]));
    assert_eq!(before.len(), after.len(), "no account was deleted");
}
