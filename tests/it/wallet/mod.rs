//! Credits: what fills a wallet, what empties it, and that its ledger always agrees with it.

use std::time::Duration;

use fanfare_core::{
    Code, Domain, UserId, WorkspaceId,
    access::{Role, Scope},
};
use fanfare_entities::{credit_entry, credit_wallet, user, workspace};
use fanfare_people::credits::{self, SHORT_EXPIRY, Spend, packs};
use fanfare_tests::{Options, TestApp};
use sea_orm::{ActiveEnum, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::{Value, json};
use uuid::Uuid;

mod customers;
mod model;
mod payments;

use crate::signup::{becomes, object, start, step, text};

/// A person without a subscription, whose workspace an operator gave the plan agency.
async fn granted(app: &TestApp) -> (UserId, WorkspaceId) {
    let person = app.person(&format!("{}@example.com", Uuid::now_v7().simple())).await;
    (person, home(app, person).await)
}

async fn home(app: &TestApp, person: UserId) -> WorkspaceId {
    let owned = workspace::Entity::find().filter(workspace::Column::OwnerId.eq(person));
    owned.one(&app.domain.db.read).await.unwrap().unwrap().id
}

async fn reserve(
    cx: &Domain,
    workspace: WorkspaceId,
    operation: &str,
    credits: i64,
) -> Result<(), fanfare_core::Error> {
    let tx = cx.db.begin().await?;
    let spend = Spend { workspace, operation, credits, expires_after: SHORT_EXPIRY };
    credits::reserve(cx, &tx, spend).await?;
    Ok(tx.commit().await?)
}

async fn settle(
    cx: &Domain,
    operation: &str,
    spent: Option<i64>,
) -> Result<bool, fanfare_core::Error> {
    let tx = cx.db.begin().await?;
    let ended = match spent {
        Some(spent) => credits::settle(cx, &tx, operation, spent).await?,
        None => credits::refund(cx, &tx, operation).await?,
    };
    tx.commit().await?;
    Ok(ended)
}

async fn lines(app: &TestApp, person: UserId) -> Vec<credit_entry::Model> {
    let lines = credit_entry::Entity::find().filter(credit_entry::Column::UserId.eq(person));
    lines.order_by_asc(credit_entry::Column::Id).all(&app.domain.db.write).await.unwrap()
}

/// The kinds and amounts of a ledger, oldest first.
async fn told(app: &TestApp, person: UserId) -> Vec<(String, String, i64)> {
    let lines = lines(app, person).await;
    lines.iter().map(|line| (line.kind.to_value(), line.pool.to_value(), line.amount)).collect()
}

async fn assert_sound(app: &TestApp) {
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}

/// Spends with many others; returns how many credits were spent.
async fn spender(cx: Domain, workspace: WorkspaceId, nth: i64, rounds: i64) -> i64 {
    let mut spent = 0;
    for round in 0..rounds {
        let (credits, operation) = (1 + (nth + round) % 9, format!("race:{nth}:{round}"));
        // Another task spends for the same operation at the same time.
        let second = tokio::spawn({
            let (cx, operation) = (cx.clone(), operation.clone());
            async move { round % 10 == 0 && reserve(&cx, workspace, &operation, credits).await.is_ok() }
        });
        let run = || reserve(&cx, workspace, &operation, credits);
        let reserved = fanfare_core::db::retry_conflicts(run).await;
        // Credits that others gave back between the two may be enough for the second alone.
        let is_held = second.await.unwrap();
        match reserved {
            Err(error) if !is_held => {
                assert_eq!(error.code(), Code::InsufficientCredits, "{error}")
            }
            _ => {
                let used = (round % 3 != 0).then_some(credits - round % 2);
                let run = || settle(&cx, &operation, used);
                assert!(fanfare_core::db::retry_conflicts(run).await.unwrap());
                spent += used.unwrap_or(0);
            }
        }
    }
    spent
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn thousands_of_spends_at_once_leave_ledger_and_balance_equal() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (person, workspace) = granted(&app).await;
    packs::credit(&app.domain, person, 700, "pi_race").await.unwrap();
    let mut domains = vec![app.domain.clone()];
    for _ in 0..3 {
        domains.push(app.other_process().await);
    }
    let mut tasks = Vec::new();
    for nth in 0..16 {
        let cx = domains[usize::try_from(nth % 4).unwrap()].clone();
        tasks.push(tokio::spawn(spender(cx, workspace, nth, 150)));
    }
    let mut spent = 0;
    for task in tasks {
        spent += task.await.unwrap();
    }
    let wallet = credits::wallet_of(&app.domain, person).await.unwrap();
    assert_eq!(wallet.included + wallet.purchased + spent, 5_700);
    assert_eq!(wallet.held, 0);
    assert!(spent > 5_000, "they met the end of the wallet: {spent}");
    assert_sound(&app).await;
}

#[tokio::test]
async fn what_nothing_ends_is_refunded_and_a_broken_ledger_is_found() {
    let app = TestApp::start().await;
    let (person, workspace) = granted(&app).await;
    reserve(&app.domain, workspace, "test:left", 40).await.unwrap();
    let held = credits::wallet_of(&app.domain, person).await.unwrap();
    assert_eq!((held.included, held.held), (4_960, 40));
    app.eventually("the credits come back", || async {
        app.advance(Duration::from_secs(600));
        let wallet = credits::wallet_of(&app.domain, person).await.unwrap();
        (wallet.held == 0).then_some(())
    })
    .await;
    let wallet = credits::wallet_of(&app.domain, person).await.unwrap();
    assert_eq!(wallet.included, 5_000);
    assert_sound(&app).await;
    let wrong = credit_wallet::Column::Included;
    credit_wallet::Entity::update_many()
        .col_expr(wrong, sea_orm::sea_query::Expr::value(5_001))
        .exec(&app.domain.db.write)
        .await
        .unwrap();
    let found = credits::check(&app.domain).await.unwrap();
    assert_eq!((found.len(), found[0].included, found[0].included_sum), (1, 5_001, 5_000));
}

/// Somebody who has paid for the plan pro, and the paid checkout.
async fn subscriber(app: &TestApp, email: &str) -> (UserId, Value) {
    let started = start(app, email).await;
    let session = step(app, &started, "pay").await;
    becomes(app, &started, "paid").await;
    let found = user::Entity::find().filter(user::Column::Email.eq(email));
    (found.one(&app.domain.db.read).await.unwrap().unwrap().id, session)
}

/// Waits until a wallet has these balances: included and purchased.
async fn holds(app: &TestApp, person: UserId, wanted: (i64, i64)) -> credit_wallet::Model {
    app.eventually(&format!("{wanted:?}"), || async {
        app.advance(Duration::from_secs(1));
        let wallet = credits::wallet_of(&app.domain, person).await.unwrap();
        ((wallet.included, wallet.purchased) == wanted).then_some(wallet)
    })
    .await
}

#[tokio::test]
async fn members_read_the_wallet_of_their_billing_owner() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (_, editor) = app.member(team, Role::Editor).await;
    packs::credit(&app.domain, owner, 250, "pi_team").await.unwrap();
    reserve(&app.domain, team, "test:member", 5_040).await.unwrap();
    let wallet = editor.get("/api/v1/credits").await.expect(200).body["wallet"].clone();
    assert_eq!((&wallet["available"], &wallet["reserved"]), (&json!(210), &json!(5_040)));
    let included = json!({"allowance": 5_000, "used": 0, "remaining": 0});
    assert_eq!((&wallet["included"], &wallet["purchased_balance"]), (&included, &json!(210)));
    assert_eq!(
        (text(&wallet, "plan_tier"), text(&wallet["workspace"], "role")),
        ("agency", "editor")
    );
    assert!(wallet["resets_at"].is_string());
    settle(&app.domain, "test:member", Some(5_010)).await.unwrap();
    let page = editor.get("/api/v1/credits/ledger?limit=2").await.expect(200).body;
    let rows = page["ledger"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    let first = &rows[0];
    assert_eq!((text(first, "kind"), text(first, "pool")), ("settle", "purchased"));
    assert_eq!((&first["amount"], &first["balance"]), (&json!(30), &json!(240)));
    assert_eq!((text(first, "operation"), &first["ref"]), ("test:member", &Value::Null));
    let mut cursor = text(&page, "next_cursor").to_owned();
    let mut kinds = Vec::new();
    loop {
        let path = format!("/api/v1/credits/ledger?limit=2&cursor={cursor}");
        let page = editor.get(&path).await.expect(200).body;
        kinds.extend(
            page["ledger"].as_array().unwrap().iter().map(|row| text(row, "kind").to_owned()),
        );
        let Some(next) = page["next_cursor"].as_str() else { break };
        next.clone_into(&mut cursor);
    }
    assert_eq!(kinds, ["reserve", "reserve", "grant", "purchase"]);
    // A user who is in no workspace of the owner does not see the wallet.
    let stranger = app.user().await;
    let path = format!("/api/v1/credits?workspace_id={team}");
    let _ = stranger.get(&path).await.refused(404, "workspace_not_found");
    let theirs = stranger.get("/api/v1/credits/ledger").await.expect(200).body;
    assert!(theirs["ledger"].as_array().unwrap().iter().all(|row| row["operation"].is_null()));
    for bad in ["limit=0", "limit=101", "cursor=x", "page=2"] {
        let _ = editor.get(&format!("/api/v1/credits/ledger?{bad}")).await.expect(400);
    }
}

#[tokio::test]
async fn a_wallet_needs_a_billing_scope_and_neither_add_on_nor_plan() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    holds(&app, ada, (500, 0)).await;
    let key = app.key(ada, None, &[Scope::BillingRead, Scope::BillingWrite]).await;
    packs::credit(&app.domain, ada, 20, "pi_kept").await.unwrap();
    let end = json!({"reason": "other", "immediate": true});
    let _ = key.post("/api/v1/subscription/cancel", end).await.expect(200);
    // Bought credits outlast the plan; included ones do not.
    let wallet = key.get("/api/v1/credits").await.expect(200).body["wallet"].clone();
    assert_eq!((&wallet["available"], &wallet["purchased_balance"]), (&json!(20), &json!(20)));
    assert_eq!((&wallet["plan_tier"], &wallet["resets_at"]), (&Value::Null, &Value::Null));
    let blind = app.key(ada, None, &[Scope::PostsRead]).await;
    let _ = blind.get("/api/v1/credits").await.refused(403, "insufficient_scope");
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_wallet_that_cannot_be_read_says_when_to_come_back() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let _ = user.get("/api/v1/credits").await.expect(200);
    let hide = "ALTER TABLE credit_wallets RENAME TO hidden_wallets";
    app.domain.db.write.execute_unprepared(hide).await.unwrap();
    let answer = user.get("/api/v1/credits").await.refused(503, "wallet_unavailable");
    assert_eq!((answer.header("retry-after"), &answer.body["retry_after"]), ("5", &json!(5)));
}
