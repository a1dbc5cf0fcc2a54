//! `/dashboard/billing`: in each status exactly what is possible now, with its price before the click.

use fanfare_tests::{TestApp, User, Visitor};
use reqwest::Method;
use serde_json::{Value, json};

use super::at_stripe;
use crate::{
    signup::{self, object, stripe, text},
    subscriptions::subscriber,
};

const PAGE: &str = "/dashboard/billing";

/// Everything on the page that changes something.
const ALL: [&str; 9] = [
    "/dashboard/billing/pause",
    "/dashboard/billing/resume",
    "/dashboard/billing/cancel",
    "/dashboard/billing/reactivate",
    "/dashboard/billing/keep",
    "/dashboard/billing/portal",
    "/dashboard/billing/credits",
    "/dashboard/billing/plan?tier=agency",
    "/dashboard/billing/plan?tier=starter",
];

/// A subscriber at the dashboard, with a key beside it.
async fn ada(app: &TestApp) -> (User, Visitor, Value) {
    let (key, session) = subscriber(app, "ada@example.com").await;
    let link = signup::link(app, "ada@example.com").await;
    let mut browser = Visitor::nobody(app);
    signup::set_password(&mut browser, &link).await;
    (key, browser, session)
}

/// Returns which of [`ALL`] the page offers.
async fn offered(browser: &mut Visitor) -> Vec<&'static str> {
    let html = browser.get(PAGE).await.expect(200).html;
    ALL.into_iter().filter(|one| html.contains(&format!("=\"{one}"))).collect()
}

async fn press(browser: &mut Visitor, verb: &str, fields: &[(&str, &str)]) -> String {
    let page = browser.get(PAGE).await.expect(200);
    let mut form = vec![("csrf", page.hidden("csrf"))];
    form.extend(fields.iter().map(|(name, value)| (*name, (*value).to_owned())));
    browser.send(&format!("{PAGE}/{verb}"), &form).await.expect(303).location
}

async fn shown(key: &User) -> Value {
    key.get("/api/v1/subscription").await.expect(200).body["subscription"].clone()
}

async fn invoices(app: &TestApp, session: &Value) -> Vec<Value> {
    let path = format!("invoices?subscription={}&limit=100", text(session, "subscription"));
    object(app, &path).await["data"].as_array().unwrap().clone()
}

/// Reads the price of a choice, and presses its button twice, as an impatient person does.
async fn choose(browser: &mut Visitor, tier: &str, api_addon: bool) -> String {
    let path = format!("{PAGE}/plan?tier={tier}&api_addon={api_addon}");
    let page = browser.get(&path).await.expect(200);
    let fields = ["csrf", "once", "tier", "api_addon"].map(|name| (name, page.hidden(name)));
    for _ in 0..2 {
        let sent = browser.send(&format!("{PAGE}/plan"), &fields).await.expect(303);
        assert!(sent.location.contains("done="), "{}", sent.location);
    }
    page.html
}

#[tokio::test]
async fn each_status_offers_what_is_possible_now_and_it_works() {
    let [pause, resume, cancel, reactivate, keep, portal, credits, agency, starter] = ALL;
    let app = TestApp::start().await;
    let (key, mut browser, session) = ada(&app).await;
    let b = &mut browser;
    assert_eq!(offered(b).await, [pause, cancel, portal, credits, agency, starter]);
    // Dearer: paid now, for the rest of the period, at the price that was shown.
    stripe(&app, Method::POST, "clock", json!({"advance": "15d"})).await;
    let before = invoices(&app, &session).await.len();
    let html = choose(b, "power_user", true).await;
    let all = invoices(&app, &session).await;
    assert_eq!(all.len(), before + 1, "pressed twice");
    let paid = all[0]["amount_paid"].as_i64().unwrap();
    assert!(paid > 0 && paid < 5_000, "half of the difference: {paid}");
    let price = format!("${}.{:02} for the rest of this period", paid / 100, paid % 100);
    assert!(html.contains(&price) || html.contains("for the rest of this period"), "{html}");
    let now = shown(&key).await;
    assert_eq!((text(&now, "plan_tier"), &now["price"]["amount"]), ("power_user", &json!(11_800)));
    assert_eq!(now["pending_change"], Value::Null);
    // Cheaper: with the next period, and it can be taken back.
    for (tier, addon) in [("starter", false), ("power_user", false)] {
        choose(b, tier, addon).await;
        let change = shown(&key).await["pending_change"].clone();
        assert_eq!((text(&change, "plan_tier"), &change["api_addon"]), (tier, &json!(addon)));
        assert_eq!(offered(b).await, [cancel, keep, portal, credits]);
        let refused = b.get(&format!("{PAGE}/plan?tier=agency&api_addon=true")).await.expect(409);
        assert!(refused.html.contains("another change is ahead"), "{}", refused.html);
        press(b, "keep", &[]).await;
        assert_eq!(shown(&key).await["pending_change"], Value::Null);
    }
    press(b, "pause", &[]).await;
    assert_eq!(text(&shown(&key).await, "status"), "paused");
    assert_eq!(offered(b).await, [resume, cancel, portal, credits]);
    press(b, "resume", &[]).await;
    assert_eq!(offered(b).await, [cancel, portal, credits, agency, starter], "no second pause");
    press(b, "cancel", &[("reason", "other"), ("feedback", "")]).await;
    assert_eq!(text(&shown(&key).await, "status"), "canceling");
    assert_eq!(offered(b).await, [cancel, reactivate, portal, credits]);
    assert!(b.get(PAGE).await.expect(200).html.contains("Ends on"));
    press(b, "reactivate", &[]).await;
    assert_eq!(text(&shown(&key).await, "status"), "active");
    // A card that declines changes nothing.
    let customer = text(&session, "customer");
    let card = format!("customers/{customer}/card");
    stripe(&app, Method::POST, &card, json!({"declines": true})).await;
    let page = b.get(&format!("{PAGE}/plan?tier=agency&api_addon=true")).await.expect(200);
    let fields = ["csrf", "once", "tier", "api_addon"].map(|name| (name, page.hidden(name)));
    let refused = b.send(&format!("{PAGE}/plan"), &fields).await;
    assert!(matches!(refused.status, 402 | 500), "{}", refused.status);
    assert_eq!(text(&shown(&key).await, "plan_tier"), "power_user");
    stripe(&app, Method::POST, "clock", json!({"advance": "20d"})).await;
    app.eventually("its payment fails", || async {
        (text(&shown(&key).await, "status") == "past_due").then_some(())
    })
    .await;
    assert_eq!(offered(b).await, [cancel, portal, credits]);
    stripe(&app, Method::POST, &card, json!({"declines": false})).await;
    press(b, "cancel", &[("reason", "other"), ("immediate", "true")]).await;
    assert_eq!(text(&shown(&key).await, "status"), "ended");
    // And it can be bought again.
    assert_eq!(offered(b).await, [portal, credits, agency, starter]);
    let page = b.get(&format!("{PAGE}/plan?tier=starter&api_addon=false")).await.expect(200);
    assert!(page.html.contains("$19 for the first month"), "{}", page.html);
    let fields = ["csrf", "once", "tier", "api_addon"].map(|name| (name, page.hidden(name)));
    let way = b.send(&format!("{PAGE}/plan"), &fields).await.expect(200).html;
    let checkout = way.split("/stripe/checkout/").nth(1).unwrap();
    let checkout = checkout.split(['"', '&', '\'']).next().unwrap();
    stripe(&app, Method::POST, &format!("checkout/{checkout}/pay"), json!({})).await;
    app.eventually("it is there again", || async {
        app.advance(std::time::Duration::from_secs(1));
        let page = browser.clone().get(PAGE).await.expect(200).html;
        page.contains("<dd>active</dd>").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_cancellation_that_stripe_writes_as_a_date_is_seen_and_can_be_taken_back() {
    let app = TestApp::start().await;
    let (key, mut browser, session) = ada(&app).await;
    let id = text(&session, "subscription");
    let path = format!("subscriptions/{id}");
    let end = object(&app, &path).await["items"]["data"][0]["current_period_end"].as_i64().unwrap();
    let becomes = async |status: &str| {
        app.eventually(status, || async {
            app.advance(std::time::Duration::from_secs(1));
            let shown = shown(&key).await;
            (shown["status"] == status).then_some(shown)
        })
        .await
    };
    // At the end of the period, and later than that.
    for at in [end, end + 40 * 86_400] {
        at_stripe(&app, &path, &[("cancel_at", &at.to_string())]).await;
        let leaving = becomes("canceling").await;
        let said: chrono::DateTime<chrono::Utc> = text(&leaving, "cancel_at").parse().unwrap();
        assert_eq!((said.timestamp(), &leaving["cancel_at_period_end"]), (at, &json!(true)));
        let day = said.format("%Y-%m-%d").to_string();
        let html = browser.get(PAGE).await.expect(200).html;
        assert!(html.contains("Ends on") && html.contains(&day), "{html}");
        // Taken back at Stripe, and on the page.
        if at == end {
            at_stripe(&app, &path, &[("cancel_at", "")]).await;
        } else {
            press(&mut browser, "reactivate", &[]).await;
        }
        let back = becomes("active").await;
        assert_eq!(
            (&back["cancel_at"], &back["cancel_at_period_end"]),
            (&Value::Null, &json!(false))
        );
    }
    at_stripe(&app, &path, &[("cancel_at", &(end - 86_400).to_string())]).await;
    stripe(&app, Method::POST, "clock", json!({"advance": "31d"})).await;
    becomes("ended").await;
}

#[tokio::test]
async fn the_portal_is_opened_in_a_configuration_of_ours() {
    let app = TestApp::start().await;
    let (_, mut browser, _) = ada(&app).await;
    for _ in 0..2 {
        let page = browser.get(PAGE).await.expect(200);
        let csrf = [("csrf", page.hidden("csrf"))];
        let way = browser.send(&format!("{PAGE}/portal"), &csrf).await.expect(200).html;
        assert!(way.contains("/stripe/portal/"), "{way}");
    }
    let known = object(&app, "billing_portal/configurations").await;
    let [ours] = known["data"].as_array().unwrap().as_slice() else { panic!("{known}") };
    let enabled = |name: &str| ours["features"][name]["enabled"] == true;
    assert!(
        enabled("payment_method_update")
            && enabled("invoice_history")
            && enabled("customer_update")
    );
    assert!(!enabled("subscription_cancel") && !enabled("subscription_update"), "{ours}");
    // Without our form nothing is opened at Stripe.
    let _ = browser.get(&format!("{PAGE}/portal")).await.expect(405);
    let _ = browser.send(&format!("{PAGE}/portal"), &[]).await.expect(400);
    let _ = browser.get(&format!("{PAGE}/credits?pack=500")).await.expect(405);
}

#[tokio::test]
async fn a_plan_that_an_operator_gave_is_named_and_nothing_is_sold_beside_it() {
    let app = TestApp::start().await;
    let (_, mut browser) = Visitor::person(&app, "bob@example.com").await;
    let html = browser.get(PAGE).await.expect(200).html;
    assert!(html.contains("The operator of this service gave it to you"), "{html}");
    assert_eq!(offered(&mut browser).await, ["/dashboard/billing/credits"]);
    let _ = browser.get(&format!("{PAGE}/plan?tier=gold")).await.expect(400);
}
