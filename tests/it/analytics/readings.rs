//! `/admin/readings`: how reading keeps up, and what networks refuse; and no text of anybody.

use std::time::Duration;

use fanfare_ops::ops::readings;
use fanfare_tests::{Operator, TestApp};
use serde_json::json;

use super::{HOUR, dates, set};

#[tokio::test]
async fn operators_see_the_lag_the_shares_and_the_refused_numbers_and_no_text() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let (instagram, facebook) = (user.connect("instagram").await, user.connect("facebook").await);
    for date in dates(&user, instagram).await {
        let numbers = json!({"likes": 5, "views": 9, "shares": "refused"});
        set(&user, "instagram", instagram, json!({"date": date}), numbers).await;
    }
    let item = json!({"account_id": facebook, "kind": "message", "text": "Only between us"});
    let _ = user.post("/api/v1/sandbox/facebook/inbound", item).await.expect(201);
    app.eventually_in_time(
        "the network has refused a number",
        Duration::from_secs(2 * HOUR),
        || async {
            let refused = readings::refused_metrics(&app.domain).await.unwrap();
            (!refused.is_empty()).then_some(())
        },
    )
    .await;
    let mut operator = Operator::log_in(&app, "ada@example.com").await;
    let page = operator.get("/admin/readings").await.expect(200);
    for shown in
        ["Lag by platform", "Shares of the networks", "instagram", "facebook", "inbox", "shares"]
    {
        assert!(page.html.contains(shown), "{shown}: {}", page.html);
    }
    assert!(!page.html.contains("Only between us"));
    let lags = readings::lags(&app.domain).await.unwrap();
    let numbers =
        lags.iter().find(|one| one.platform == "instagram" && one.kind == "sync_analytics");
    assert_eq!(numbers.map(|one| one.accounts), Some(1));
}
