//! localstripe, a third-party Stripe server: it accepts our client's requests, and our client understands its errors.
//! The parts it lacks (prices by lookup keys, checkout sessions, schedules) are tested only with our own simulator.

use fanfare_outbound::{Client, Policy};
use fanfare_payments::{FailureKind, List, Request, Stripe};
use serde_json::Value;

use crate::peer::Peer;

fn client(peer: &Peer, key: &str) -> Stripe {
    let http = Client::new(Policy { allow_private: true }).unwrap();
    Stripe::new(&http, peer.greeting["url"].as_str().unwrap().parse().unwrap(), key.into())
}

/// Sends a change; returns the object's id.
async fn made(stripe: &Stripe, request: &Request) -> String {
    let object: Value = stripe.send(request, Some("key")).await.unwrap();
    object["id"].as_str().unwrap().to_owned()
}

fn card(number: &str) -> Request {
    let card = Request::post("tokens").with("card[number]", number);
    card.with("card[exp_month]", "12").with("card[exp_year]", "2099").with("card[cvc]", "123")
}

#[tokio::test]
async fn a_subscription_is_paid_changed_ended_and_refunded() {
    let peer = Peer::start(&["tests/peers/localstripe.sh"]).await;
    let stripe = client(&peer, "sk_test_fanfare");
    let product = Request::post("products").with("id", "fanfare_pro").with("name", "Fanfare pro");
    assert_eq!(made(&stripe, &product.with("type", "service")).await, "fanfare_pro");
    let listed: List<Value> =
        stripe.read(&Request::get("products").with("limit", "1")).await.unwrap();
    assert_eq!(listed.data[0]["name"], "Fanfare pro");
    let plan = Request::post("plans").with("id", "pro").with("product", "fanfare_pro");
    let plan = plan.with("currency", "usd").with("amount", "1900").with("interval", "month");
    assert_eq!(made(&stripe, &plan).await, "pro");
    let card = made(&stripe, &card("4242424242424242")).await;
    let customer = Request::post("customers").with("email", "ada@example.com").with("source", card);
    let customer = made(&stripe, &customer).await;
    let subscribe = Request::post("subscriptions").with("customer", &customer);
    let subscription = made(&stripe, &subscribe.with("items[0][plan]", "pro")).await;
    let path = format!("subscriptions/{subscription}");
    let end = Request::post(&path).with("cancel_at_period_end", "true");
    let changed: Value = stripe.send(&end, Some("end")).await.unwrap();
    assert_eq!(
        (&changed["status"], &changed["cancel_at_period_end"]),
        (&"active".into(), &true.into())
    );
    let ended: Value = stripe.send(&Request::delete(&path), Some("now")).await.unwrap();
    assert_eq!(ended["status"], "canceled");
    let invoices = Request::get("invoices").with("customer", &customer);
    let invoices: List<Value> = stripe.read(&invoices).await.unwrap();
    assert_eq!(
        (&invoices.data[0]["status"], &invoices.data[0]["total"]),
        (&"paid".into(), &1_900.into())
    );
    let charge = invoices.data[0]["charge"]["id"].as_str().unwrap();
    let refunded: Value =
        stripe.send(&Request::post("refunds").with("charge", charge), Some("back")).await.unwrap();
    assert_eq!((&refunded["status"], &refunded["amount"]), (&"succeeded".into(), &1_900.into()));
}

#[tokio::test]
async fn its_refusals_are_read_for_what_they_are() {
    let peer = Peer::start(&["tests/peers/localstripe.sh"]).await;
    let stripe = client(&peer, "sk_test_fanfare");
    let absent = stripe.read::<Value>(&Request::get("subscriptions/sub_nobody")).await.unwrap_err();
    assert_eq!(absent.kind, FailureKind::NotFound);
    let card = made(&stripe, &card("4000000000000002")).await;
    let customer = Request::post("customers").with("email", "ada@example.com").with("source", card);
    let declined = stripe.send::<Value>(&customer, Some("declined")).await.unwrap_err();
    assert_eq!(
        (declined.kind, declined.code.as_deref()),
        (FailureKind::Declined, Some("card_declined"))
    );
    let wrong = Request::post("customers").with("no_such_field", "x");
    let refused = stripe.send::<Value>(&wrong, Some("wrong")).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Refused);
    let stranger = client(&peer, "pk_nobody");
    let refused = stranger.read::<Value>(&Request::get("products")).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Key);
    assert!(!format!("{refused:?} {stranger:?}").contains("pk_nobody"));
    let address = peer.greeting["url"].as_str().unwrap().to_owned();
    drop(peer);
    let http = Client::new(Policy { allow_private: true }).unwrap();
    let gone = Stripe::new(&http, address.parse().unwrap(), "sk_test_fanfare".into());
    let end = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    while gone.read::<Value>(&Request::get("products")).await.is_ok() {
        assert!(tokio::time::Instant::now() < end, "it does not stop");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let away = gone.read::<Value>(&Request::get("products")).await.unwrap_err();
    assert_eq!(away.kind, FailureKind::Unavailable);
}
