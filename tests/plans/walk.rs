//! A use of the whole service.

use std::time::Duration;

use fanfare_api::{Route, routes::ROUTES};
use fanfare_core::db::Db;
use fanfare_ops::upkeep;
use fanfare_tests::{Receiver, TestApp, User, Visitor, files::plain_png, networks};
use reqwest::Method;
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use super::multiply::FAR_AWAY;
use crate::schema;

/// The pages of a person.
const PAGES: &[&str] = &[
    "/dashboard",
    "/dashboard/posts",
    "/dashboard/posts?status=failed",
    "/dashboard/posts?view=month",
    "/dashboard/posts?view=week",
    "/dashboard/posts/new",
    "/dashboard/accounts",
    "/dashboard/inbox",
    "/dashboard/reviews",
    "/dashboard/analytics",
    "/dashboard/team",
    "/dashboard/webhooks",
    "/dashboard/usage",
    "/dashboard/billing",
    "/dashboard/api",
    "/dashboard/apps",
    "/dashboard/settings",
];

/// The pages of operators.
const ADMIN: &[&str] = &[
    "/admin/queues",
    "/admin/work",
    "/admin/work?status=failed",
    "/admin/work?platform=threads",
    "/admin/work/post/1",
    "/admin/work/delivery/1",
    "/admin/fleet",
    "/admin/platforms",
    "/admin/readings",
    "/admin/webhooks",
    "/admin/waiting",
    "/admin/audit",
    "/admin/act/pause?target=all",
];

/// A person with some of everything.
pub struct Walk {
    user: User,
    person: Visitor,
    operator: Visitor,
    account: i64,
    post: i64,
    webhook: String,
}

impl Walk {
    /// Uses the service until it has a row in many tables; the others get rows that only fit.
    pub async fn begin(app: &TestApp) -> Self {
        let (id, person) = Visitor::person(app, "ada@example.com").await;
        let user = app.key(id, None, &fanfare_core::access::Scope::ALL).await;
        let receiver = Receiver::start().await;
        let hook = json!({"url": receiver.url, "events": ["*"]});
        let hook = user.post("/api/v1/webhooks", hook).await.expect(201);
        let account = user.connect("threads").await;
        let _ = user.upload("a.png", "image/png", &plain_png(300, 200)).await;
        let new = json!({"account_id": account, "caption": "one"});
        let post = user.publish(new).await;
        app.wait_until_published(&user, &post).await;
        for platform in ["bluesky", "facebook", "google_business", "mastodon"] {
            let account = user.connect(platform).await;
            let post = user.publish(networks::post(platform, account)).await;
            app.wait_until_published(&user, &post).await;
        }
        app.wait_until_idle().await;
        let operator = Visitor::log_in(app, "op@example.com").await;
        let walk = Self {
            user,
            person,
            operator,
            account,
            post: post["id"].as_i64().unwrap(),
            webhook: hook.body["webhook"]["id"].as_str().unwrap().to_owned(),
        };

        walk.routes().await;
        app.wait_until_idle().await;
        schema::fill(&app.domain.db).await;
        set_aside(&app.domain.db).await;
        walk
    }

    /// Visits every route with each of its filters, and every page; lets the workers and the clean-up do their work.
    pub async fn everywhere(mut self, app: &TestApp) {
        self.routes().await;
        for page in PAGES {
            let _ = self.person.get(page).await;
        }
        let _ = self.person.get(&format!("/dashboard/posts/{}", self.post)).await;
        for page in ADMIN {
            let _ = self.operator.get(page).await;
        }
        let new = json!({"account_id": self.account, "caption": "two"});
        let post = self.user.publish(new).await;
        app.wait_until_published(&self.user, &post).await;
        app.pass_time(Duration::from_secs(3_600)).await;
        // So many accounts are read for longer than this waits; a part of each kind of work is enough.
        for _ in 0..10 {
            app.step(Duration::from_secs(60)).await;
        }
        // Rows that are made up name each other at random, so a part may fail here; `clean_up` is judged elsewhere.
        let _ = upkeep::clean_up(&app.domain).await;
        fanfare_publishing::posts::dead_workers::end_leases(&app.domain, "held_by = $2", "nobody")
            .await
            .unwrap();
    }

    /// Sends the example of each route, and asks each list with each of its filters.
    async fn routes(&self) {
        let document = self.user.get("/openapi.json").await.expect(200).body;
        for route in ROUTES.iter().filter(|route| !takes_away(route)) {
            let path = self.path(route);
            let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
            let body = route.body.as_ref().map(|body| self.body(body.example));
            let _ = self.user.send(method.clone(), &path, &[], body.as_ref()).await;
            for (name, value) in filters(&document, route) {
                let path = format!("{path}?{name}={value}");
                let _ = self.user.send(method.clone(), &path, &[], body.as_ref()).await;
            }
        }
    }

    fn path(&self, route: &Route) -> String {
        let step = |step: &str| match step {
            "{platform}" => "threads".to_owned(),
            "{id}" if route.path.contains("/posts/") => self.post.to_string(),
            "{id}" if route.path.contains("/accounts/") => self.account.to_string(),
            "{id}" if route.path.contains("/webhooks/") => self.webhook.clone(),
            step if step.starts_with('{') => uuid::Uuid::nil().to_string(),
            step => step.to_owned(),
        };
        route.path.split('/').map(step).collect::<Vec<_>>().join("/")
    }

    fn body(&self, example: &str) -> Value {
        let mut body: Value = serde_json::from_str(example).unwrap();
        if body.get("account_id").is_some() {
            body["account_id"] = self.account.into();
        }
        body
    }
}

/// Puts work that is only made up off for long: no worker can end it.
async fn set_aside(db: &Db) {
    for table in schema::tables(db).await {
        let columns = schema::columns(db, &table).await;
        if columns.iter().any(|(name, _)| name == "lease_expirations") {
            let sql = format!(
                "UPDATE {table} SET due_at = {FAR_AWAY}, lease_expirations = 0 WHERE due_at < 10"
            );
            db.write.execute_unprepared(&sql).await.unwrap();
        }
    }
    // Nor is it before what the walk publishes in the line of its account.
    let later = format!("UPDATE post_holds SET scheduled_at = {FAR_AWAY}");
    db.write.execute_unprepared(&later).await.unwrap();
}

/// Returns true for routes that end what the walk needs.
fn takes_away(route: &Route) -> bool {
    route.method.as_str() == "DELETE" || route.path.contains("disconnect")
}

/// Returns the filters of a route, each with values of which some are rare.
fn filters(document: &Value, route: &Route) -> Vec<(String, String)> {
    let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
    let all = operation["parameters"].as_array().into_iter().flatten();
    let names = all.filter(|one| one["in"] == "query").filter_map(|one| one["name"].as_str());
    let pairs = names
        .flat_map(|name| values(name).iter().map(|value| (name.to_owned(), (*value).to_owned())));
    pairs.collect()
}

fn values(name: &str) -> &'static [&'static str] {
    match name {
        "limit" => &["1", "100"],
        "offset" => &["0", "5000"],
        "platform" => &["telegram", "threads"],
        "account_id" | "post_id" => &["1", "2"],
        "status" => &["failed", "published", "draft", "open", "pending", "completed"],
        "type" => &["webhook.disabled", "post.failed", "comment", "dm", "topup"],
        "sort_by" => &["scheduled_at", "updated_at", "created_at"],
        "order" => &["asc", "desc"],
        "from" | "to" => &["2020-01-01", "2040-01-01"],
        "group" => &["nothing"],
        "after" => &["1", "999999999"],
        name if name.ends_with("_since") || name.ends_with("_from") || name.ends_with("_to") => {
            &["2020-01-01T00:00:00Z", "2040-01-01T00:00:00Z"]
        }
        "since" => &["2020-01-01T00:00:00Z", "2040-01-01T00:00:00Z"],
        "workspace_id" | "cursor" => &[],
        _ => &["x", "true", "1"],
    }
}
