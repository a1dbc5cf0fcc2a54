//! What people, keys and tools do to a workspace and to its access is in the audit log: one entry for each act, and none for
//! one that was refused.

use fanfare_core::WorkspaceId;
use fanfare_entities::AccountId;
use fanfare_ops::ops::audit::{self, AuditEntry};
use fanfare_publishing::accounts;
use fanfare_tests::{Operator, Options, Receiver, TestApp};
use serde_json::{Value, json};

use super::{Somebody, invitations};
use crate::{
    oauth::{let_in, post_form, register, text},
    subscriptions::subscriber,
    worker::command,
};

const TEAM: &str = "/dashboard/team";

/// The audit log, of which everything so far was looked at.
struct Log<'a> {
    app: &'a TestApp,
    seen: i64,
}

impl<'a> Log<'a> {
    fn of(app: &'a TestApp) -> Self {
        Self { app, seen: 0 }
    }

    async fn fresh(&mut self) -> Vec<AuditEntry> {
        let mut fresh = audit::list(&self.app.domain, None).await.unwrap().entries;
        fresh.retain(|entry| entry.id > self.seen);
        self.seen = fresh.first().map_or(self.seen, |entry| entry.id);
        fresh
    }

    /// Checks that there is one new entry, by this author; returns it.
    #[track_caller]
    fn one(
        &mut self,
        action: &'static str,
        author: &str,
        place: Option<WorkspaceId>,
    ) -> impl Future<Output = AuditEntry> {
        let author = author.to_owned();
        async move {
            let mut fresh = self.fresh().await;
            assert_eq!(fresh.len(), 1, "{action}: {fresh:#?}");
            let entry = fresh.remove(0);
            assert_eq!((entry.action.as_str(), entry.operator.as_str()), (action, author.as_str()));
            assert_eq!((entry.workspace_id, entry.outcome.as_str()), (place, "Done."), "{action}");
            entry
        }
    }

    async fn none(&mut self, what: &str) {
        let fresh = self.fresh().await;
        assert!(fresh.is_empty(), "{what}: {fresh:#?}");
    }
}

/// The id in a target such as `key:…`.
#[track_caller]
fn id_of<'a>(entry: &'a AuditEntry, kind: &str) -> &'a str {
    let id = entry.target.strip_prefix(kind).and_then(|rest| rest.strip_prefix(':'));
    id.unwrap_or_else(|| panic!("{} is no {kind}", entry.target))
}

/// Returns how the log names the key of a user.
async fn key_of(somebody: &Somebody) -> String {
    let keys = somebody.user.get("/api/v1/keys").await.expect(200).body;
    format!("key:{}", text(&keys["keys"][0], "id"))
}

async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

#[tokio::test]
async fn members_roles_locks_and_invitations() {
    // A worker writes the letters.
    let app = TestApp::start().await;
    let mut log = Log::of(&app);
    let mut owner = Somebody::new(&app, "owner@example.com").await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let team = app.workspace(owner.id).await;
    let brand = app.brand(team, &[]).await.to_string();
    owner.choose(team).await;
    log.none("what an operator or the tests made").await;
    let (by_owner, place) = (format!("user:{}", owner.id), Some(team));

    let invite = "/dashboard/team/invitations";
    let bob = [("email", "bob@example.com"), ("role", "viewer")];
    let _ = owner.send(TEAM, invite, &bob).await.expect(200);
    let entry = log.one("invitation", &by_owner, place).await;
    assert_eq!(entry.details, json!({"role": "viewer"}));
    assert!(!entry.request_id.is_empty());
    let withdraw = format!("{invite}/{}", id_of(&entry, "invitation"));
    let _ = owner.send(TEAM, &withdraw, &[]).await.expect(303);
    let ended = log.one("invitation_withdrawn", &by_owner, place).await;
    assert_eq!(ended.target, entry.target);
    assert!(owner.send(TEAM, &withdraw, &[]).await.status >= 400);
    assert!(owner.send(TEAM, invite, &[("email", "no"), ("role", "viewer")]).await.status >= 400);
    log.none("refused invitations").await;

    let to_ada = [("email", "ada@example.com"), ("role", "editor")];
    let _ = owner.send(TEAM, invite, &to_ada).await.expect(200);
    let invited = log.one("invitation", &by_owner, place).await;
    let link = invitations::link(&app, "ada@example.com", &[]).await;
    let _ = ada.browser.submit(&link, &[]).await.expect(303);
    let joined = log.one("member", &format!("user:{}", ada.id), place).await;
    assert_eq!(joined.target, format!("user:{}", ada.id));
    let invitation = id_of(&invited, "invitation");
    assert_eq!(joined.details, json!({"role": "editor", "invitation": invitation}));
    let _ = ada.browser.submit(&link, &[]).await.expect(404);
    log.none("a link that was used").await;

    let of = |verb: &str| format!("{TEAM}/{}/{verb}", ada.id);
    type Act<'a> = (&'a str, &'a [(&'a str, &'a str)], &'static str, Value);
    let table: [Act<'_>; 3] = [
        (
            "role",
            &[("role", "publisher")],
            "member_role",
            json!({"from": "editor", "role": "publisher"}),
        ),
        ("brands", &[("brands", &brand)], "member_brands", json!({"brands": [brand]})),
        ("remove", &[], "member_removed", json!({"role": "publisher"})),
    ];
    for (verb, fields, action, details) in table {
        let _ = owner.send(TEAM, &of(verb), fields).await.expect(303);
        let entry = log.one(action, &by_owner, place).await;
        assert_eq!((id_of(&entry, "user"), &entry.details), (&*ada.id.to_string(), &details));
        if verb != "brands" {
            let owners = format!("{TEAM}/{}/{verb}", owner.id);
            let refused = owner.send(TEAM, &owners, &[("role", "viewer")]).await;
            assert!(refused.status >= 400, "{verb}");
            log.none(verb).await;
        }
    }

    let made = owner.send(TEAM, "/dashboard/team/workspaces", &[("name", "Another")]).await;
    if made.status == 303 {
        let entry = log.fresh().await.remove(0);
        assert_eq!((entry.action.as_str(), &entry.operator), ("workspace_created", &by_owner));
        assert_eq!(
            entry.workspace_id.map(|id| format!("workspace:{id}")).as_deref(),
            Some(&*entry.target)
        );
    } else {
        log.none("a workspace that the plan does not allow").await;
    }
}

#[tokio::test]
async fn keys_apps_and_grants() {
    let app = quiet().await;
    let mut log = Log::of(&app);
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let (by_ada, by_key) = (format!("user:{}", ada.id), key_of(&ada).await);
    let home = Some(ada.home);

    let new = json!({"name": "theirs", "scopes": ["posts:read"], "workspace_id": ada.home});
    let made = ada.user.post("/api/v1/keys", new.clone()).await.expect(201).body;
    let id = text(&made["api_key"], "id");
    let entry = log.one("key_created", &by_key, home).await;
    assert_eq!(id_of(&entry, "key"), id);
    let details = json!({"scopes": ["posts:read"], "brand": null, "owner": by_ada, "user": by_ada});
    assert_eq!(entry.details, details);
    assert!(!format!("{entry:?}").contains(text(&made, "key")));
    let mut bad = new;
    bad["scopes"] = json!(["posts:everything"]);
    ada.user.post("/api/v1/keys", bad).await.expect(400);
    ada.user.delete(&format!("/api/v1/keys/{}", uuid::Uuid::now_v7())).await.expect(404);
    log.none("refused keys").await;
    let page = "/dashboard/api";
    let _ = ada.send(page, &format!("{page}/{id}/replace"), &[]).await.expect(200);
    let replaced = log.one("key_replaced", &by_ada, home).await;
    let replaces = format!("key:{id}");
    assert_eq!(replaced.details, json!({"owner": by_ada, "replaces": replaces}));
    let path = format!("/api/v1/keys/{}", id_of(&replaced, "key"));
    ada.user.delete(&path).await.expect(200);
    let revoked = log.one("key_revoked", &by_key, home).await;
    assert_eq!(revoked.target, replaced.target);
    ada.user.delete(&path).await.expect(404);
    log.none("a key that has ended").await;

    let own = json!({"client_name": "Mine", "allowed_redirect_uris": ["https://a.example/b"]});
    let made = ada.user.post("/api/v1/oauth/clients", own).await.expect(201).body;
    let client = text(&made["client"], "client_id");
    let entry = log.one("app_created", &by_key, None).await;
    assert_eq!(id_of(&entry, "client"), client);
    let path = format!("/api/v1/oauth/clients/{client}");
    ada.user.patch(&path, json!({"client_name": ""})).await.expect(400);
    log.none("a refused change").await;
    ada.user.patch(&path, json!({"client_name": "Ours"})).await.expect(200);
    log.one("app_changed", &by_key, None).await;
    ada.user.delete(&path).await.expect(200);
    log.one("app_deleted", &by_key, None).await;

    let tool = register(&app.origin).await;
    let tokens = let_in(&app, &mut ada.browser, &tool).await;
    let entry = log.one("grant_created", &by_ada, home).await;
    assert_eq!(entry.details["client"], json!(tool));
    let grant = id_of(&entry, "grant").to_owned();
    ada.user.delete(&format!("/api/v1/oauth/grants/{grant}")).await.expect(200);
    let ended = log.one("grant_ended", &by_key, home).await;
    assert_eq!(id_of(&ended, "grant"), grant);
    ada.user.delete(&format!("/api/v1/oauth/grants/{grant}")).await.expect(404);
    let refused = [("token", text(&tokens, "refresh_token")), ("client_id", &tool)];
    post_form(&app.origin, "/api/oauth/revoke", &refused).await.expect(200);
    log.none("a grant that has ended").await;
    let tokens = let_in(&app, &mut ada.browser, &tool).await;
    log.one("grant_created", &by_ada, home).await;
    let given_back = [("token", text(&tokens, "refresh_token")), ("client_id", &tool)];
    post_form(&app.origin, "/api/oauth/revoke", &given_back).await.expect(200);
    log.one("grant_ended", &format!("client:{tool}"), home).await;
}

#[tokio::test]
async fn webhooks_and_accounts() {
    let app = quiet().await;
    let mut log = Log::of(&app);
    let ada = Somebody::new(&app, "ada@example.com").await;
    let (by_key, home, user) = (key_of(&ada).await, Some(ada.home), &ada.user);
    let receiver = Receiver::start().await;
    let hook = json!({"url": format!("{}/secret-path", receiver.url), "events": ["post.failed"]});
    let made = user.post_keyed("/api/v1/webhooks", "once", &hook).await.expect(201).body;
    user.post_keyed("/api/v1/webhooks", "once", &hook).await.expect(201);
    let entry = log.one("webhook_created", &by_key, home).await;
    assert_eq!(entry.details["events"], json!(["post.failed"]));
    let told = format!("{entry:?}");
    assert!(!told.contains("secret-path") && !told.contains(text(&made["webhook"], "secret")));
    let path = format!("/api/v1/webhooks/{}", id_of(&entry, "webhook"));
    user.patch(&path, json!({"events": ["post.nothing"]})).await.expect(400);
    user.post("/api/v1/webhooks", json!({"url": receiver.url, "events": []})).await.expect(400);
    log.none("refused webhooks").await;
    user.patch(&path, json!({"enabled": false})).await.expect(200);
    let entry = log.one("webhook_changed", &by_key, home).await;
    assert_eq!(entry.details["enabled"], false);
    user.post(&format!("{path}/rotate-secret"), json!({})).await.expect(200);
    log.one("webhook_secret_rotated", &by_key, home).await;
    user.delete(&format!("{path}/earlier-secrets")).await.expect(200);
    let entry = log.one("webhook_secrets_ended", &by_key, home).await;
    assert_eq!(entry.details["ended"], 1);
    user.delete(&path).await.expect(200);
    log.one("webhook_deleted", &by_key, home).await;
    user.delete(&path).await.expect(404);
    log.none("a webhook that is gone").await;

    let account = user.connect("bluesky").await;
    let entry = log.one("account_connected", &by_key, home).await;
    assert_eq!(id_of(&entry, "account"), account.to_string());
    assert_eq!(entry.details["platform"], "bluesky");
    let id = AccountId(account);
    let used = accounts::row(&app.domain, id).await.unwrap().unwrap().secret_id;
    for _ in 0..2 {
        accounts::mark_needs_reconnect(&app.domain, id, used).await.unwrap();
    }
    log.one("account_lost", "system:bluesky", home).await;
    let path = format!("/api/v1/accounts/{account}");
    user.delete(&path).await.expect(200);
    log.one("account_disconnected", &by_key, home).await;
    user.delete(&path).await.expect(404);
    user.post("/api/v1/sandbox/accounts", json!({"platform": "nowhere"})).await.expect(400);
    log.none("refused accounts").await;

    // Operators read it on their page and at a shell; the ids of a workspace are no names of it.
    let mut operator = Operator::log_in(&app, "op@example.com").await;
    let page = operator.get("/admin/audit").await.expect(200).html;
    for shown in ["webhook created", "account lost", "system:bluesky", &by_key, "platform: bluesky"]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let ran = command(&app).args(["ops", "audit", "--json"]).output().unwrap();
    let told: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let lost =
        told["entries"].as_array().unwrap().iter().find(|one| one["action"] == "account_lost");
    assert_eq!(lost.unwrap()["workspace_id"], json!(ada.home));
    assert!(!told.to_string().contains("ada@example.com"));
}

#[tokio::test]
async fn plans() {
    let app = TestApp::start().await;
    let mut log = Log::of(&app);
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    let plans = |log: Vec<AuditEntry>| -> Vec<AuditEntry> {
        log.into_iter().filter(|entry| entry.action == "plan").collect()
    };
    let begun = plans(log.fresh().await).pop().expect("an entry of the first plan");
    assert_eq!((begun.operator.as_str(), &begun.details["from"]), ("system:stripe", &Value::Null));
    assert_eq!(begun.details["to"]["tier"], "pro");
    let refused = json!({"tier": "agency"});
    ada.post("/api/v1/subscription/downgrade", refused).await.expect(400);
    assert!(plans(log.fresh().await).is_empty());
    let table = [
        ("downgrade", json!({"tier": "starter"}), "next_tier", json!("starter")),
        ("cancel", json!({"reason": "not_using"}), "status", json!("canceling")),
    ];
    for (verb, body, what, to) in table {
        ada.post(&format!("/api/v1/subscription/{verb}"), body).await.expect(200);
        let all = plans(log.fresh().await);
        let theirs: Vec<_> = all.iter().filter(|one| one.operator.starts_with("key:")).collect();
        assert_eq!(theirs.len(), 1, "{verb}: {all:#?}");
        assert_eq!(theirs[0].details["to"][what], to, "{verb}: {all:#?}");
        assert_eq!(theirs[0].target, begun.target);
    }
}
