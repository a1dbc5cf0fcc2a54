//! Credits: what fills a wallet, what empties it, and that its ledger always agrees with it.

use std::collections::BTreeMap;
use std::time::Duration;

use fanfare_domain::{
    Code, Domain, UserId, WorkspaceId,
    access::{PlanTier, Role, Scope},
    credits::{self, HOUR, Spend, VIDEO, packs},
    users,
};
use fanfare_entities::{credit_entry, credit_wallet, user, workspace};
use fanfare_payments::Charge;
use fanfare_tests::{Options, TestApp, Visitor};
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use reqwest::Method;
use sea_orm::{ActiveEnum, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::signup::{becomes, object, start, step, stripe, text};

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
) -> Result<(), fanfare_domain::Error> {
    let tx = cx.db.begin().await?;
    let spend = Spend { workspace, operation, credits, patience: HOUR };
    credits::reserve(cx, &tx, spend).await?;
    Ok(tx.commit().await?)
}

async fn settle(
    cx: &Domain,
    operation: &str,
    spent: Option<i64>,
) -> Result<bool, fanfare_domain::Error> {
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

/// A change of a wallet.
#[derive(Debug, Clone)]
enum Step {
    Reserve { credits: i64, is_video: bool },
    Settle { nth: usize, percent: i64 },
    Refund { nth: usize },
    Twice { nth: usize },
    NextMonth,
    Expire,
    Buy { credits: i64 },
    GiveBack { nth: usize, percent: i64 },
    Plan(PlanTier),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let plan = prop_oneof![
        Just(PlanTier::Starter),
        Just(PlanTier::Pro),
        Just(PlanTier::PowerUser),
        Just(PlanTier::Agency)
    ];
    let step = prop_oneof![
        6 => (0..900_i64, any::<bool>()).prop_map(|(credits, is_video)| Step::Reserve { credits, is_video }),
        3 => (0..8_usize, 0..=100_i64).prop_map(|(nth, percent)| Step::Settle { nth, percent }),
        2 => (0..8_usize).prop_map(|nth| Step::Refund { nth }),
        1 => (0..8_usize).prop_map(|nth| Step::Twice { nth }),
        1 => Just(Step::NextMonth),
        1 => Just(Step::Expire),
        1 => (1..1_500_i64).prop_map(|credits| Step::Buy { credits }),
        1 => (0..3_usize, 1..=100_i64).prop_map(|(nth, percent)| Step::GiveBack { nth, percent }),
        2 => plan.prop_map(Step::Plan),
    ];
    proptest::collection::vec(step, 1..40)
}

struct Held {
    operation: String,
    included: i64,
    purchased: i64,
    month: u32,
}

/// A wallet as somebody with pencil and paper would keep it.
struct Paper {
    included: i64,
    purchased: i64,
    allowance: i64,
    month: u32,
    open: Vec<Held>,
    ended: Vec<String>,
    bought: Vec<(String, i64, i64)>,
}

impl Paper {
    fn held(&self) -> i64 {
        self.open.iter().map(|held| held.included + held.purchased).sum()
    }

    fn end(&mut self, nth: usize, spent: i64) -> Option<(String, i64)> {
        if self.open.is_empty() {
            return None;
        }
        let held = self.open.remove(nth % self.open.len());
        let all = held.included + held.purchased;
        let spent = all * spent / 100;
        let mut rest = all - spent;
        let to_purchased = rest.min(held.purchased);
        self.purchased += to_purchased;
        rest -= to_purchased;
        if held.month == self.month {
            self.included += rest;
        }
        self.ended.push(held.operation.clone());
        Some((held.operation, spent))
    }
}

const fn allowance(plan: PlanTier) -> i64 {
    match plan {
        PlanTier::Starter => 100,
        PlanTier::Pro => 500,
        PlanTier::PowerUser => 1_500,
        PlanTier::Agency => 5_000,
    }
}

async fn carry_out(app: &TestApp, who: (UserId, WorkspaceId), paper: &mut Paper, step: &Step) {
    let (cx, (person, workspace)) = (&app.domain, who);
    match step {
        Step::Reserve { credits, is_video } => {
            let operation = format!("test:{}", Uuid::now_v7());
            let tx = cx.db.begin().await.unwrap();
            let patience = if *is_video { VIDEO } else { HOUR };
            let spend = Spend { workspace, operation: &operation, credits: *credits, patience };
            let outcome = credits::reserve(cx, &tx, spend).await;
            if paper.included + paper.purchased < *credits {
                assert_eq!(outcome.unwrap_err().code(), Code::InsufficientCredits);
                return;
            }
            outcome.unwrap();
            tx.commit().await.unwrap();
            let included = paper.included.min(*credits);
            let purchased = credits - included;
            paper.included -= included;
            paper.purchased -= purchased;
            paper.open.push(Held { operation, included, purchased, month: paper.month });
        }
        Step::Settle { nth, percent } => {
            if let Some((operation, spent)) = paper.end(*nth, *percent) {
                assert!(settle(cx, &operation, Some(spent)).await.unwrap());
            }
        }
        Step::Refund { nth } => {
            if let Some((operation, _)) = paper.end(*nth, 0) {
                assert!(settle(cx, &operation, None).await.unwrap());
            }
        }
        Step::Twice { nth } => {
            if let Some(operation) = paper.ended.get(*nth) {
                assert!(!settle(cx, operation, None).await.unwrap());
                assert!(!settle(cx, operation, Some(0)).await.unwrap());
                reserve(cx, workspace, operation, 7).await.unwrap();
            }
        }
        Step::NextMonth => {
            app.advance(Duration::from_secs(31 * 86_400));
            paper.month += 1;
            paper.included = paper.allowance;
        }
        Step::Expire => {
            credits::refund_expired(cx).await.unwrap();
            let month = paper.month;
            while let Some(nth) = paper.open.iter().position(|held| held.month < month) {
                paper.end(nth, 0);
            }
        }
        Step::Buy { credits } => {
            let intent = format!("pi_{}", Uuid::now_v7());
            for _ in 0..2 {
                packs::credit(cx, person, *credits, &intent).await.unwrap();
            }
            paper.purchased += credits;
            paper.bought.push((intent, *credits, 0));
        }
        Step::GiveBack { nth, percent } => {
            let Some((intent, credits, gone)) = paper.bought.get_mut(*nth) else { return };
            let charge = Charge {
                id: "ch".to_owned(),
                payment_intent: Some(intent.clone()),
                amount: 100,
                amount_refunded: *percent,
                disputed: false,
            };
            packs::take_back(cx, &charge).await.unwrap();
            let due = *credits * percent / 100;
            let more = (due - *gone).max(0);
            *gone = due.max(*gone);
            paper.purchased -= more.min(paper.purchased);
        }
        Step::Plan(plan) => {
            users::set_plan(cx, workspace, *plan, None).await.unwrap();
            let new = allowance(*plan);
            if new >= paper.allowance {
                paper.included += new - paper.allowance;
            } else {
                let used = paper.allowance - paper.included;
                paper.included = (new - used).clamp(0, paper.included);
            }
            paper.allowance = new;
        }
    }
}

#[tokio::test]
async fn a_wallet_does_what_pencil_and_paper_do() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let mut runner = TestRunner::deterministic();
    for case in 0..60 {
        let who = granted(&app).await;
        let wallet = credits::wallet_of(&app.domain, who.0).await.unwrap();
        assert_eq!((wallet.included, wallet.allowance), (5_000, 5_000));
        let mut paper = Paper {
            included: 5_000,
            purchased: 0,
            allowance: 5_000,
            month: 0,
            open: Vec::new(),
            ended: Vec::new(),
            bought: Vec::new(),
        };
        let steps = steps().new_tree(&mut runner).unwrap().current();
        for (nth, step) in steps.iter().enumerate() {
            carry_out(&app, who, &mut paper, step).await;
            let wallet = credits::wallet_of(&app.domain, who.0).await.unwrap();
            let kept = (wallet.included, wallet.purchased, wallet.held, wallet.allowance);
            let wanted = (paper.included, paper.purchased, paper.held(), paper.allowance);
            assert_eq!(kept, wanted, "case {case}, step {nth} of {steps:#?}");
        }
        let mut balances: BTreeMap<String, i64> = BTreeMap::new();
        for line in lines(&app, who.0).await {
            let balance = balances.entry(line.pool.to_value()).or_default();
            *balance += line.amount;
            assert_eq!(line.balance, *balance, "{line:?}");
            assert!(line.balance >= 0);
        }
    }
    assert_sound(&app).await;
}

/// Spends with many others; returns how many credits were spent.
async fn spender(cx: Domain, workspace: WorkspaceId, nth: i64, rounds: i64) -> i64 {
    let mut spent = 0;
    for round in 0..rounds {
        let (credits, operation) = (1 + (nth + round) % 9, format!("race:{nth}:{round}"));
        // Another task spends for the same operation at the same time.
        let second = tokio::spawn({
            let (cx, operation) = (cx.clone(), operation.clone());
            async move {
                if round % 10 == 0 {
                    let _ = reserve(&cx, workspace, &operation, credits).await;
                }
            }
        });
        let run = || reserve(&cx, workspace, &operation, credits);
        let reserved = fanfare_domain::db::again(run).await;
        second.await.unwrap();
        match reserved {
            Err(error) => assert_eq!(error.code(), Code::InsufficientCredits, "{error}"),
            Ok(()) => {
                let used = (round % 3 != 0).then_some(credits - round % 2);
                let run = || settle(&cx, &operation, used);
                assert!(fanfare_domain::db::again(run).await.unwrap());
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
        domains.push(app.beside().await);
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
async fn each_paid_period_grants_its_credits_once() {
    let app = TestApp::start().await;
    let (ada, session) = subscriber(&app, "ada@example.com").await;
    holds(&app, ada, (500, 0)).await;
    let workspace = home(&app, ada).await;
    reserve(&app.domain, workspace, "test:1", 30).await.unwrap();
    assert!(settle(&app.domain, "test:1", Some(30)).await.unwrap());
    stripe(&app, Method::POST, "clock", json!({"advance": "32d"})).await;
    holds(&app, ada, (500, 0)).await;
    // A card that declines leaves the next period without credits.
    let customer = text(&session, "customer");
    stripe(&app, Method::POST, &format!("customers/{customer}/card"), json!({"declines": true}))
        .await;
    stripe(&app, Method::POST, "clock", json!({"advance": "31d"})).await;
    let unpaid = holds(&app, ada, (0, 0)).await;
    assert_eq!((unpaid.period, unpaid.allowance), (None, 0));
    stripe(&app, Method::POST, &format!("customers/{customer}/card"), json!({"declines": false}))
        .await;
    stripe(&app, Method::POST, "clock", json!({"advance": "4d"})).await;
    holds(&app, ada, (500, 0)).await;
    let kinds: Vec<_> = told(&app, ada).await.into_iter().map(|(kind, _, by)| (kind, by)).collect();
    let grant = || ("grant".to_owned(), 500);
    assert_eq!(
        kinds,
        [
            grant(),
            ("reserve".to_owned(), -30),
            ("settle".to_owned(), 0),
            ("expire".to_owned(), -470),
            grant(),
            ("expire".to_owned(), -500),
            grant(),
        ]
    );
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_pack_is_credited_once_and_taken_back_once_whatever_the_order_of_events() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    holds(&app, ada, (500, 0)).await;
    bob_buys_on_the_dashboard(&app).await;
    let order = Uuid::now_v7();
    let open = || packs::open(&app.domain, ada, 2_500, order);
    let url = open().await.unwrap();
    assert_eq!(open().await.unwrap(), url, "the same order is the same checkout");
    let unknown = packs::open(&app.domain, ada, 7, order).await.unwrap_err();
    assert_eq!(unknown.code(), Code::InvalidField);
    stripe(&app, Method::PUT, "deliveries", json!({"hold": true})).await;
    let checkout = url.rsplit('/').next().unwrap();
    let paid = stripe(&app, Method::POST, &format!("checkout/{checkout}/pay"), json!({})).await;
    let intent = text(&paid, "payment_intent");
    let events = |told: &Value| -> Vec<String> {
        let all = told["deliveries"].as_array().unwrap().iter();
        all.filter(|event| event["delivered"] == false)
            .map(|event| text(event, "event").to_owned())
            .collect()
    };
    let send =
        |ids: Vec<String>| stripe(&app, Method::POST, "deliveries/send", json!({ "events": ids }));
    let first = events(&stripe(&app, Method::GET, "deliveries", json!({})).await);
    send(first.iter().cycle().take(first.len() * 4).cloned().collect()).await;
    holds(&app, ada, (500, 2_500)).await;
    // Half of it is refunded, then its bank takes all of it back; the events come in the wrong order, and often.
    let charges = object(&app, &format!("charges?payment_intent={intent}")).await;
    let charge = text(&charges["data"][0], "id").to_owned();
    refund(&app, intent, 2_250).await;
    holds_after(&app, ada, (500, 1_250), &events).await;
    stripe(&app, Method::POST, &format!("charges/{charge}/dispute"), json!({})).await;
    let mut all = events(&stripe(&app, Method::GET, "deliveries", json!({})).await);
    all.extend(first);
    all.reverse();
    all.extend(all.clone());
    send(all).await;
    holds(&app, ada, (500, 0)).await;
    let bought: Vec<_> =
        told(&app, ada).await.into_iter().filter(|(_, pool, _)| pool == "purchased").collect();
    let line = |kind: &str, by| (kind.to_owned(), "purchased".to_owned(), by);
    assert_eq!(
        bought,
        [line("purchase", 2_500), line("withdraw", -1_250), line("withdraw", -1_250)]
    );
    assert_sound(&app).await;
}

/// Somebody without a subscription buys a pack.
async fn bob_buys_on_the_dashboard(app: &TestApp) {
    let (person, mut bob) = Visitor::person(app, "bob@example.com").await;
    let page = bob.get("/dashboard/billing").await.expect(200).html;
    assert!(page.contains("5000 of 5000"), "{page}");
    let from = page.find("/dashboard/billing/credits?pack=500").unwrap();
    let link = page[from..].split('"').next().unwrap().replace("&amp;", "&");
    let checkout = bob.get(&link).await.expect(303).location;
    assert_eq!(bob.get(&link).await.expect(303).location, checkout, "clicked twice");
    let id = checkout.rsplit('/').next().unwrap();
    stripe(app, Method::POST, &format!("checkout/{id}/pay"), json!({})).await;
    holds(app, person, (5_000, 500)).await;
    let _ = bob.get("/dashboard/billing/credits?pack=501").await.expect(400);
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
    // Whoever is in no workspace of the owner sees nothing of it.
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

async fn refund(app: &TestApp, intent: &str, cents: i64) {
    let url = app.simulator.url.join("/stripe/v1/refunds").unwrap();
    let keys = fanfare_sandbox::stripe::Keys::of(&app.simulator.secret.clone().into());
    let key = secrecy::ExposeSecret::expose_secret(&keys.secret_key).to_owned();
    let form = format!("payment_intent={intent}&amount={cents}");
    let request = reqwest::Client::new().post(url).bearer_auth(key).body(form);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    assert!(request.send().await.unwrap().status().is_success());
}

async fn holds_after(
    app: &TestApp,
    person: UserId,
    wanted: (i64, i64),
    events: &impl Fn(&Value) -> Vec<String>,
) {
    let waiting = events(&stripe(app, Method::GET, "deliveries", json!({})).await);
    stripe(app, Method::POST, "deliveries/send", json!({ "events": waiting })).await;
    holds(app, person, wanted).await;
}

#[tokio::test]
async fn a_refund_that_was_told_before_its_payment_takes_the_pack_back_too() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    holds(&app, ada, (500, 0)).await;
    let url = packs::open(&app.domain, ada, 500, Uuid::now_v7()).await.unwrap();
    stripe(&app, Method::PUT, "deliveries", json!({"hold": true})).await;
    let checkout = url.rsplit('/').next().unwrap();
    let paid = stripe(&app, Method::POST, &format!("checkout/{checkout}/pay"), json!({})).await;
    refund(&app, text(&paid, "payment_intent"), 1_000).await;
    let told_now = stripe(&app, Method::GET, "deliveries", json!({})).await;
    let mut waiting: Vec<String> = told_now["deliveries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["delivered"] == false)
        .map(|event| text(event, "event").to_owned())
        .collect();
    waiting.reverse();
    stripe(&app, Method::POST, "deliveries/send", json!({ "events": waiting })).await;
    app.eventually("it was bought and taken back", || async {
        app.advance(Duration::from_secs(1));
        let lines = told(&app, ada).await;
        (lines.iter().filter(|(_, pool, _)| pool == "purchased").count() == 2).then_some(())
    })
    .await;
    holds(&app, ada, (500, 0)).await;
    assert_sound(&app).await;
}
