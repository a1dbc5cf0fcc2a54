//! Time passes: renewals, pauses, schedules.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::Net;

use super::*;

#[tokio::test]
async fn time_renews_dunns_and_ends() {
    let net = Net::new().await;
    let account = Account::of(&net);
    let price = account.price("pro_month", "4900", Some("month")).await;
    let (kept, _) = account.subscribed(&price).await;
    let (broke, customer) = account.subscribed(&price).await;
    let (left, _) = account.subscribed(&price).await;
    let end = [("cancel_at_period_end", "true"), ("cancellation_details[feedback]", "unused")];
    let leaving = account.post(&format!("subscriptions/{left}"), &end).await.is(200);
    assert_eq!(
        (&leaving["status"], &leaving["cancel_at_period_end"]),
        (&json!("active"), &json!(true))
    );
    account
        .switch(Method::POST, &format!("customers/{customer}/card"), json!({"declines": true}))
        .await
        .is(200);
    account.advance("32d").await;
    let status =
        async |id: &str| account.get(&format!("subscriptions/{id}")).await["status"].clone();
    assert_eq!(status(&kept).await, "active");
    assert_eq!(account.invoices(&kept).await.len(), 2);
    assert_eq!(status(&broke).await, "past_due");
    assert_eq!(status(&left).await, "canceled");
    account.advance("16d").await;
    assert_eq!(status(&broke).await, "canceled", "after the last try");
    let invoices = account.invoices(&broke).await;
    assert_eq!(
        (&invoices[0]["status"], &invoices[0]["attempt_count"]),
        (&json!("void"), &json!(4))
    );
    // A card that is good again in time saves it.
    let (saved, customer) = account.subscribed(&price).await;
    let card = format!("customers/{customer}/card");
    account.switch(Method::POST, &card, json!({"declines": true})).await.is(200);
    account.advance("32d").await;
    assert_eq!(status(&saved).await, "past_due");
    account.switch(Method::POST, &card, json!({"declines": false})).await.is(200);
    account.advance("4d").await;
    assert_eq!(status(&saved).await, "active");
    let session = id(&account.checkout(&price).await);
    account.advance("25h").await;
    assert_eq!(account.get(&format!("checkout/sessions/{session}")).await["status"], "expired");
    for bad in ["", "31", "-1d", "forever"] {
        assert_eq!(
            account.switch(Method::POST, "clock", json!({"advance": bad})).await.status,
            400,
            "{bad}"
        );
    }
}

#[tokio::test]
async fn a_pause_collects_nothing_and_ends_by_itself() {
    let net = Net::new().await;
    let account = Account::of(&net);
    let price = account.price("pro_month", "4900", Some("month")).await;
    let (id, _) = account.subscribed(&price).await;
    let path = format!("subscriptions/{id}");
    let now =
        account.switch(Method::GET, "clock", json!(null)).await.is(200)["now"].as_i64().unwrap();
    let until = (now + 40 * DAY).to_string();
    let past = [("pause_collection[behavior]", "void"), ("pause_collection[resumes_at]", "1")];
    assert_eq!(account.post(&path, &past).await.status, 400);
    let pause =
        [("pause_collection[behavior]", "void"), ("pause_collection[resumes_at]", until.as_str())];
    let paused = account.post(&path, &pause).await.is(200);
    assert_eq!(
        (&paused["status"], &paused["pause_collection"]["behavior"]),
        (&json!("active"), &json!("void"))
    );
    account.advance("32d").await;
    assert_eq!(account.invoices(&id).await[0]["status"], "void");
    account.advance("10d").await;
    assert_eq!(account.get(&path).await["pause_collection"], Value::Null);
    account.post(&path, &pause).await.is(400);
    let until = (now + 100 * DAY).to_string();
    let pause =
        [("pause_collection[behavior]", "void"), ("pause_collection[resumes_at]", until.as_str())];
    account.post(&path, &pause).await.is(200);
    let resumed = account.post(&path, &[("pause_collection", "")]).await.is(200);
    assert_eq!(resumed["pause_collection"], Value::Null);
}

#[tokio::test]
async fn a_schedule_changes_the_price_at_the_end_of_the_period_and_lets_go() {
    let net = Net::new().await;
    let account = Account::of(&net);
    let pro = account.price("pro_month", "4900", Some("month")).await;
    let starter = account.price("starter_month", "1900", Some("month")).await;
    let (id, _) = account.subscribed(&pro).await;
    let schedule =
        account.post("subscription_schedules", &[("from_subscription", &id)]).await.is(200);
    let twice = account.post("subscription_schedules", &[("from_subscription", &id)]).await;
    assert_eq!(twice.status, 400);
    let phase = &schedule["phases"][0];
    let (start, end) = (phase["start_date"].to_string(), phase["end_date"].to_string());
    let path = format!("subscription_schedules/{}", schedule["id"].as_str().unwrap());
    let phases = [
        ("phases[0][start_date]", start.as_str()),
        ("phases[0][end_date]", end.as_str()),
        ("phases[0][items][0][price]", pro.as_str()),
        ("phases[1][items][0][price]", starter.as_str()),
        ("phases[1][proration_behavior]", "none"),
        ("end_behavior", "release"),
    ];
    account.post(&path, &phases).await.is(200);
    let direct =
        account.post(&format!("subscriptions/{id}"), &[("cancel_at_period_end", "true")]).await;
    assert_eq!(direct.status, 400, "the schedule manages it");
    account.advance("32d").await;
    let moved = account.get(&format!("subscriptions/{id}")).await;
    assert_eq!(moved["items"]["data"][0]["price"]["id"], starter.as_str());
    assert_eq!(account.invoices(&id).await[0]["amount_paid"], 1900);
    account.advance("32d").await;
    assert_eq!(account.get(&path).await["status"], "released");
    assert_eq!(account.get(&format!("subscriptions/{id}")).await["schedule"], Value::Null);
    let (other, _) = account.subscribed(&pro).await;
    let schedule =
        account.post("subscription_schedules", &[("from_subscription", &other)]).await.is(200);
    let path = format!("subscription_schedules/{}/release", schedule["id"].as_str().unwrap());
    account.post(&path, &[]).await.is(200);
    assert_eq!(account.post(&path, &[]).await.status, 400);
    account
        .post(&format!("subscriptions/{other}"), &[("cancel_at_period_end", "true")])
        .await
        .is(200);
}
