//! The wallet beside a model of it.

use std::collections::BTreeMap;
use std::time::Duration;

use fanfare_core::{Code, UserId, WorkspaceId, access::PlanTier};
use fanfare_people::{
    credits::{self, SHORT_EXPIRY, Spend, VIDEO_EXPIRY, packs},
    users,
};
use fanfare_tests::{Options, TestApp};
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use sea_orm::ActiveEnum;
use uuid::Uuid;

use super::*;

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
        3 => (0..3_usize, 0..=100_i64).prop_map(|(nth, percent)| Step::GiveBack { nth, percent }),
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
    bought: Vec<Bought>,
}

/// A pack: what refunds and disputes withdraw of it, and what of that the wallet had.
struct Bought {
    intent: String,
    credits: i64,
    due: i64,
    taken: i64,
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
            let patience = if *is_video { VIDEO_EXPIRY } else { SHORT_EXPIRY };
            let spend = Spend {
                workspace,
                operation: &operation,
                credits: *credits,
                expires_after: patience,
            };
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
            paper.bought.push(Bought { intent, credits: *credits, due: 0, taken: 0 });
        }
        Step::GiveBack { nth, percent } => {
            // Reported at random, so it also falls: a refund failed, or a dispute was won.
            let Some(bought) = paper.bought.get_mut(*nth) else { return };
            let due = bought.credits * percent / 100;
            for _ in 0..2 {
                packs::take_back(cx, &bought.intent, due).await.unwrap();
            }
            if due > bought.due {
                let taken = (due - bought.due).min(paper.purchased);
                bought.taken += taken;
                paper.purchased -= taken;
            } else if bought.taken > due {
                paper.purchased += bought.taken - due;
                bought.taken = due;
            }
            bought.due = due;
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
