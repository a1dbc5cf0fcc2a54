//! Alarms call an operator for what is the operator's: nothing that one tenant of several does raises one, and whatever several
//! have at once does.

use std::{collections::BTreeMap, time::Duration};

use fanfare_core::{
    durable::{self, Lease},
    troubles::Sign,
};
use fanfare_entities::{AccountId, WorkspaceId, webhook_delivery};
use fanfare_jobs::JobKind;
use fanfare_ops::{
    health,
    ops::{samples, troubles},
};
use fanfare_publishing::{accounts, posts::publishing::oldest_for_worker};
use fanfare_tests::{Options, Receiver, TestApp, User};
use sea_orm::{ConnectionTrait, EntityTrait};
use serde_json::json;

/// What an alarm looks at, and so why one tenant cannot raise it.
enum LooksAt {
    /// What several workspaces have at once.
    SeveralTenants,
    /// Work that waits for a worker, not for a turn, a limit or work of its own kind.
    WaitingWork,
    /// Processes, servers and money of the service.
    TheService,
    /// The room of the fleet: more workers are the answer, in any case.
    Room,
}

const ALARMS: [(&str, LooksAt); 16] = [
    ("FanfarePostsLate", LooksAt::WaitingWork),
    ("FanfareWorkWaits", LooksAt::WaitingWork),
    ("FanfareSchedulerStopped", LooksAt::TheService),
    ("FanfareProcessDown", LooksAt::TheService),
    ("FanfareNoWorker", LooksAt::TheService),
    ("FanfareSlotsFull", LooksAt::Room),
    ("FanfareOutcomeUnknown", LooksAt::SeveralTenants),
    ("FanfarePlatformFails", LooksAt::SeveralTenants),
    ("FanfareTokensFail", LooksAt::SeveralTenants),
    ("FanfareQueueUnreachable", LooksAt::TheService),
    ("FanfareDatabaseUnreachable", LooksAt::TheService),
    ("FanfareWebhookBacklog", LooksAt::WaitingWork),
    ("FanfareLeasesLost", LooksAt::TheService),
    ("FanfareUnsettledPayments", LooksAt::TheService),
    ("FanfareWalletMismatch", LooksAt::TheService),
    ("FanfareApiVersionEnds", LooksAt::TheService),
];

/// Metrics that are counted for whatever tenants do.
const OF_TENANTS: [&str; 8] = [
    "fanfare_post_attempts_total",
    "fanfare_token_refreshes_total",
    "fanfare_accounts_lost_total",
    "fanfare_http_requests_total",
    "fanfare_webhook_deliveries_total",
    "fanfare_outbound_requests_total",
    "fanfare_post_lateness_seconds",
    "fanfare_due_rows",
];

#[test]
fn each_alarm_looks_at_what_no_tenant_can_bring_about_alone() {
    let rules = include_str!("../../deploy/alerts.yml").split("- alert: ").skip(1);
    let rules: BTreeMap<&str, &str> =
        rules.map(|rule| rule.split_once('\n').expect("a rule has lines")).collect();
    let known: Vec<&str> = ALARMS.iter().map(|(name, _)| *name).collect();
    assert!(rules.keys().all(|name| known.contains(name)), "{:?}", rules.keys());
    for (name, looks) in ALARMS {
        let rule = rules[name].split("annotations:").next().unwrap();
        let of_tenants = || OF_TENANTS.iter().filter(|metric| rule.contains(**metric));
        match looks {
            LooksAt::SeveralTenants => {
                assert!(rule.contains("fanfare_network_troubles{"), "{name}");
                assert_eq!(of_tenants().count(), 0, "{name}");
            }
            LooksAt::WaitingWork => {
                let waits = ["fanfare_due_oldest_seconds", "fanfare_posts_late"];
                assert!(waits.iter().any(|metric| rule.contains(metric)), "{name}");
                // How much there is says nothing alone.
                assert!(!rule.contains("fanfare_due_rows") || rule.contains("\n          and "));
            }
            LooksAt::TheService => assert_eq!(of_tenants().count(), 0, "{name}"),
            LooksAt::Room => assert!(rule.contains("severity: warning"), "{name}"),
        }
    }
}

/// The troubles that alarms would see, with the number of workspaces.
async fn seen(app: &TestApp) -> Vec<(&'static str, &'static str, u64)> {
    let all = troubles::of_networks(&app.domain).await.unwrap();
    let all = all.into_iter().filter(|one| one.workspaces > 0);
    all.map(|one| (one.platform, one.trouble, one.workspaces)).collect()
}

/// How many signs of this kind were counted for a workspace.
async fn counted(app: &TestApp, workspace: WorkspaceId, sign: Sign) -> i64 {
    let hour = 3_600_000;
    let sums = samples::sums(&app.domain, app.clock.now() - hour, 48 * hour).await.unwrap();
    let measure = sign.measure(workspace);
    sums.iter().filter(|sum| sum.measure == measure).map(|sum| sum.n).sum()
}

async fn workspace_of(user: &User) -> WorkspaceId {
    let me = user.get("/api/v1/whoami").await.expect(200).body;
    WorkspaceId(me["default_workspace"]["id"].as_str().unwrap().parse().unwrap())
}

/// Does the worst that one may: posts that a network refuses, answers that get lost, permissions that are taken back.
async fn do_the_worst(app: &TestApp, user: &User) {
    let (refused, lost) = (user.connect("bluesky").await, user.connect("telegram").await);
    let always =
        |kind: &str| json!([{"on": "commit", "kind": kind, "status": 400, "times": 1_000}]);
    user.faults("bluesky", refused, always("status")).await;
    user.faults("telegram", lost, always("drop_after_change")).await;
    for nth in 0..12 {
        let post = json!({"account_id": refused, "caption": format!("Refused {nth}")});
        let id = user.publish(post).await["id"].as_i64().unwrap();
        app.wait_for_status(user, id, &["failed"]).await;
    }
    let post = json!({"account_id": lost, "caption": "Lost"});
    let id = user.publish(post).await["id"].as_i64().unwrap();
    app.wait_for_status(user, id, &["failed"]).await;
    for _ in 0..4 {
        let gone = user.connect("mastodon").await;
        let id = AccountId(gone);
        let used = accounts::row(&app.domain, id).await.unwrap().unwrap().secret_id;
        accounts::mark_needs_reconnect(&app.domain, id, used).await.unwrap();
    }
    let workspace = workspace_of(user).await;
    app.eventually("it is counted", || async {
        let failed = counted(app, workspace, Sign::Failed).await >= 13;
        let tokens = counted(app, workspace, Sign::Tokens).await >= 4;
        (failed && tokens && counted(app, workspace, Sign::Unknown).await >= 1).then_some(())
    })
    .await;
}

/// A user whose workspace is counted apart from the other one's.
async fn apart_from(app: &TestApp, other: WorkspaceId) -> User {
    loop {
        let user = app.user().await;
        if Sign::Well.measure(workspace_of(&user).await) != Sign::Well.measure(other) {
            return user;
        }
    }
}

#[tokio::test]
async fn what_one_tenant_of_several_has_alone_is_no_trouble_of_a_network() {
    let app = TestApp::start().await;
    let user = app.user().await;
    do_the_worst(&app, &user).await;
    // While nobody else is there, it is the operator's own.
    let own = |n| {
        [("bluesky", "failing", n), ("mastodon", "tokens", n), ("telegram", "outcome_unknown", n)]
    };
    let mut alone = seen(&app).await;
    alone.sort_unstable();
    assert_eq!(alone, own(1));
    let other = apart_from(&app, workspace_of(&user).await).await;
    assert_eq!(seen(&app).await, []);
    do_the_worst(&app, &other).await;
    let mut both = seen(&app).await;
    both.sort_unstable();
    assert_eq!(both, own(2));
    app.pass_time(Duration::from_secs(1_200)).await;
    assert_eq!(seen(&app).await, [], "it is over");
}

/// Deliveries that are due, with nobody to take them.
async fn due_deliveries(app: &TestApp, user: &User) -> Vec<webhook_delivery::Model> {
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url, "events": ["post.created"]});
    user.post("/api/v1/webhooks", hook).await.expect(201);
    let account = user.connect("bluesky").await;
    for nth in 0..3 {
        let draft = json!({"account_id": account, "caption": format!("{nth}"), "status": "draft"});
        let _ = user.publish(draft).await;
    }
    let all = webhook_delivery::Entity::find().all(&app.domain.db.write).await.unwrap();
    assert_eq!(all.len(), 3);
    all
}

#[tokio::test]
async fn much_work_of_one_tenant_waits_for_no_worker_while_workers_are_at_it() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let rows = due_deliveries(&app, &user).await;
    let waits = async || {
        let stats = durable::queue_stats(&app.domain).await.unwrap();
        let of = stats.into_iter().find(|one| one.kind == JobKind::DeliverWebhook).unwrap();
        let oldest = oldest_for_worker(&app.domain, &of).await.unwrap();
        let seconds = oldest.map(|since| (app.clock.now() - since) / 1_000);
        let degraded = health::problems(&app.domain).await.degraded;
        (seconds, degraded.iter().any(|one| one.starts_with("deliver_webhook")))
    };
    app.advance(Duration::from_secs(300));
    assert_eq!(waits().await, (Some(300), true), "nobody works: that is what the alarm is for");
    // One is under way at a receiver that takes its time, and the others wait behind it.
    let conn = &app.domain.db.write;
    let claim = async |holder: &str| {
        let (kind, ids) = (JobKind::DeliverWebhook, [rows[0].id.0]);
        let now = app.clock.now();
        let taken: Vec<webhook_delivery::Model> =
            durable::claim(conn, kind, &ids, (holder, now)).await.unwrap();
        taken.into_iter().next().map(|row| Lease::new(row.id.0, row.fencing_token))
    };
    let first = claim("one").await.unwrap();
    assert_eq!(waits().await, (Some(0), false));
    app.advance(Duration::from_secs(40));
    assert_eq!(waits().await, (Some(40), true), "nothing was renewed since");
    let until = app.clock.now() + durable::LEASE;
    durable::renew(&app.domain, JobKind::DeliverWebhook, &[first], until).await.unwrap();
    assert_eq!(waits().await, (Some(0), false));
    app.advance(Duration::from_secs(61));
    assert_eq!(waits().await, (Some(401), true), "its worker is gone");

    // A lease that another claim ended is lost in any case; one that the owner ended is not.
    let lost = async |lease: Lease, holder: &str| {
        let kind = JobKind::DeliverWebhook;
        durable::was_taken_over(&app.domain, kind, lease, holder).await.unwrap()
    };
    let second = claim("two").await.unwrap();
    assert!(lost(first, "one").await);
    app.advance(Duration::from_secs(61));
    let _ = claim("two").await.unwrap();
    assert!(lost(second, "two").await, "the same worker has it anew");
    let ended = format!("UPDATE webhook_deliveries SET due_at = NULL WHERE id = {}", first.id);
    conn.execute_unprepared(&ended).await.unwrap();
    assert!(!lost(second, "two").await, "its owner ended it");
    conn.execute_unprepared("DELETE FROM webhook_deliveries").await.unwrap();
    assert!(!lost(second, "two").await, "its owner deleted it");
}
