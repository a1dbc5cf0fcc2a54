//! `/dashboard/analytics`.

use std::time::Duration;

use fanfare_core::{AccountId, SuggestionId, access::PlanTier};
use fanfare_entities::{post_suggestion, post_suggestion::SuggestionStatus};
use fanfare_people::users;
use fanfare_tests::TestApp;
use sea_orm::{ActiveValue::Set, EntityTrait};
use serde_json::json;

use super::{HOSTILE, Somebody, assert_escaped};
use crate::analytics::{dates, set};

/// An account with numbers on all but one of the last days, and a post.
async fn measured(app: &TestApp, ada: &Somebody) -> (i64, i64) {
    let account = ada.user.connect("instagram").await;
    for (place, date) in dates(&ada.user, account).await.iter().rev().take(6).enumerate() {
        if place != 3 {
            let numbers = json!({"reach": 1_000 + place});
            set(&ada.user, "instagram", account, json!({"date": date}), numbers).await;
        }
    }
    let post = fanfare_tests::networks::post("instagram", account);
    let post = fanfare_tests::networks::publish(app, &ada.user, post).await;
    app.eventually_in_time("the numbers are read", Duration::from_secs(2 * 3_600), || async {
        let path = format!("/api/v1/analytics/accounts?account_id={account}");
        let shown = ada.user.get(&path).await.expect(200).body;
        let days = shown["accounts"][0]["snapshots"].as_array()?;
        (days.iter().filter(|day| day["reach"].is_i64()).count() >= 4).then_some(())
    })
    .await;
    (account, post["id"].as_i64().unwrap())
}

#[tokio::test]
async fn a_day_that_is_not_known_is_a_gap_and_the_table_says_so() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    assert!(ada.page("/dashboard/analytics").await.html.contains("Connect an account"));
    let (account, post) = measured(&app, &ada).await;
    let page = ada.page("/dashboard/analytics?days=7").await;
    assert!(page.html.contains("class=\"gap\"") && page.html.contains("class=\"line\""));
    assert!(page.html.contains("The same numbers as a table"));
    assert!(page.html.contains("As Instagram names it"));
    assert!(page.html.contains("not known"));
    let other = ada.page(&format!("/dashboard/analytics?account_id={account}&days=90")).await;
    assert!(other.html.contains("known for") && other.html.contains("of 90"));
    assert_eq!(ada.browser.get("/dashboard/analytics?days=x").await.status, 400);
    let single = ada.page(&format!("/dashboard/analytics/posts/{post}")).await;
    assert!(single.html.contains("Numbers of a post"));
    let mut bob = Somebody::new(&app, "bob@example.com").await;
    let theirs = bob.page(&format!("/dashboard/analytics?account_id={account}")).await;
    assert!(!theirs.html.contains("As Instagram names it"));
    assert_eq!(bob.browser.get(&format!("/dashboard/analytics/posts/{post}")).await.status, 404);
}

async fn suggest(app: &TestApp, ada: &Somebody, account: i64, ordinal: i32) -> String {
    let (id, now) = (SuggestionId::fresh(), app.clock.now());
    let row = post_suggestion::ActiveModel {
        id: Set(id),
        workspace_id: Set(ada.home),
        account_id: Set(AccountId(account)),
        platform: Set("threads".to_owned()),
        period_key: Set("2026-W48".to_owned()),
        ordinal: Set(ordinal),
        subject_id: Set(1),
        caption: Set(format!("Open again {HOSTILE}")),
        rationale: Set("A post like it did well.".to_owned()),
        status: Set(SuggestionStatus::Pending),
        post_id: Set(None),
        created_at: Set(now),
        updated_at: Set(now),
    };
    let added = post_suggestion::Entity::insert(row);
    added.exec_without_returning(&app.domain.db.write).await.unwrap();
    id.to_string()
}

#[tokio::test]
async fn a_suggestion_becomes_one_draft_or_is_dismissed() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let account = ada.user.connect("threads").await;
    let mut ids = Vec::new();
    for ordinal in 0..2 {
        ids.push(suggest(&app, &ada, account, ordinal).await);
    }
    let page = ada.page("/dashboard/analytics").await;
    assert_escaped(&page);
    assert!(page.html.contains("Open again") && page.html.contains("Make a draft"));
    let action = |id: &str, verb: &str| format!("/dashboard/analytics/suggestions/{id}/{verb}");
    let _ = ada.send("/dashboard/analytics", &action(&ids[0], "dismiss"), &[]).await.expect(303);
    let account = account.to_string();
    let draft = [("account_id", account.as_str()), ("caption", "Open again")];
    let made =
        ada.send("/dashboard/analytics", &action(&ids[1], "draft"), &draft).await.expect(303);
    let post = made.location.strip_prefix("/dashboard/posts/").unwrap().to_owned();
    let post = ada.user.get(&format!("/api/v1/posts/{post}")).await.expect(200).body;
    assert_eq!(post["post"]["status"], "draft");
    let again = ada.send("/dashboard/analytics", &action(&ids[1], "draft"), &draft).await;
    assert_eq!(again.status, 409, "a suggestion is one post");
    users::set_plan(&app.domain, ada.home, PlanTier::Starter, None).await.unwrap();
    assert!(ada.page("/dashboard/analytics").await.html.contains("Compare plans"));
}
