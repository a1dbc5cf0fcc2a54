//! `/dashboard/usage`: credits, the ledger, limits.

use fanfare_core::access::Role;
use fanfare_people::{
    credits::{self, SHORT_EXPIRY, Spend},
    users,
};
use fanfare_tests::TestApp;

use super::Somebody;

#[tokio::test]
async fn the_page_shows_the_balance_what_is_reserved_and_what_each_change_was_for() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    credits::packs::credit(&app.domain, ada.id, 500, "pi_1").await.unwrap();
    for number in 0..25 {
        let operation = format!("captions:{number}");
        let tx = app.domain.db.begin().await.unwrap();
        let spend = Spend {
            workspace: ada.home,
            operation: &operation,
            credits: 1,
            expires_after: SHORT_EXPIRY,
        };
        credits::reserve(&app.domain, &tx, spend).await.unwrap();
        credits::settle(&app.domain, &tx, &operation, 1).await.unwrap();
        tx.commit().await.unwrap();
    }
    let tx = app.domain.db.begin().await.unwrap();
    let spend = Spend {
        workspace: ada.home,
        operation: "video:7",
        credits: 40,
        expires_after: SHORT_EXPIRY,
    };
    credits::reserve(&app.domain, &tx, spend).await.unwrap();
    tx.commit().await.unwrap();
    let wallet = ada.user.get("/api/v1/credits").await.expect(200).body["wallet"].clone();
    assert_eq!(wallet["reserved"], 40);
    let page = ada.page("/dashboard/usage").await;
    assert!(page.html.contains("Operations under way") && page.html.contains("Video"));
    assert!(page.html.contains("Captions") && page.html.contains("Paid"));
    assert!(page.html.contains("Connected accounts") && page.html.contains("0 of 500"));
    assert!(page.html.contains("Requests per hour and person"));
    assert!(!page.html.contains("Pack bought"), "older changes are on the next page");
    let mut older = page.clone();
    for _ in 0..5 {
        if older.html.contains("Pack bought") {
            return;
        }
        let next = older.html.split("rel=\"next\" href=\"").nth(1).expect("an older page");
        let next = next.split('"').next().unwrap().replace("&amp;", "&");
        older = ada.page(&next).await;
    }
    panic!("no page shows the pack: {}", older.html);
}

/// Returns the text between the tags of a page, without the tokens of its forms.
fn shown(html: &str) -> String {
    html.split('<').filter_map(|piece| piece.split_once('>')).map(|(_, text)| text).collect()
}

#[tokio::test]
async fn a_member_sees_the_credits_of_the_workspace_and_one_locked_to_brands_no_counts_of_it() {
    let app = TestApp::start().await;
    let owner = Somebody::new(&app, "owner@example.com").await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let team = app.workspace(owner.id).await;
    users::set_member(&app.domain, team, ada.id, Role::Viewer).await.unwrap();
    credits::packs::credit(&app.domain, owner.id, 777, "pi_2").await.unwrap();
    assert!(!shown(&ada.page("/dashboard/usage").await.html).contains("777"));
    ada.choose(team).await;
    let page = ada.page("/dashboard/usage").await;
    assert!(shown(&page.html).contains("777") && page.html.contains("Members"));
    assert!(page.html.contains("who alone can buy more"));
    app.brand(team, &[ada.id]).await;
    let page = ada.page("/dashboard/usage").await;
    assert!(!page.html.contains("Members") && page.html.contains("Your API keys"));
    let _ = fanfare_tests::Visitor::nobody(&app).get("/dashboard/usage").await.expect(303);
}
