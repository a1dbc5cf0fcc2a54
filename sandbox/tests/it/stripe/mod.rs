//! The simulated Stripe: what it takes and refuses, what time does, and how it tells.

mod events;
mod periods;

use fanfare_sandbox::stripe;
use reqwest::Method;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use crate::harness::{Got, Net, SECRET, send};

const DAY: i64 = 86_400;

/// A client of the API.
pub struct Account<'a> {
    net: &'a Net,
    key: SecretString,
}

impl<'a> Account<'a> {
    fn of(net: &'a Net) -> Self {
        Self { net, key: stripe::Keys::of(&SECRET.to_owned().into()).secret_key }
    }

    async fn ask(&self, method: Method, path: &str, form: &[(&str, &str)]) -> Got {
        let url = self.net.url(&format!("stripe/v1/{path}"));
        let request =
            self.net.client.request(method.clone(), url).bearer_auth(self.key.expose_secret());
        let request = request.header("Stripe-Version", stripe::VERSION);
        send(if method == Method::GET { request.query(form) } else { request.form(form) }).await
    }

    async fn post(&self, path: &str, form: &[(&str, &str)]) -> Got {
        self.ask(Method::POST, path, form).await
    }

    async fn get(&self, path: &str) -> Value {
        self.ask(Method::GET, path, &[]).await.is(200)
    }

    async fn switch(&self, method: Method, path: &str, body: Value) -> Got {
        let url = self.net.url(&format!("stripe/{path}"));
        let request = self.net.client.request(method.clone(), url).bearer_auth(SECRET);
        send(if method == Method::GET { request } else { request.json(&body) }).await
    }

    async fn advance(&self, by: &str) {
        self.switch(Method::POST, "clock", json!({ "advance": by })).await.is(200);
    }

    async fn price(&self, key: &str, cents: &str, every: Option<&str>) -> String {
        let product = self.post("products", &[("name", key)]).await.is(200);
        let product = product["id"].as_str().unwrap().to_owned();
        let mut form = vec![
            ("product", product.as_str()),
            ("currency", "usd"),
            ("unit_amount", cents),
            ("lookup_key", key),
        ];
        form.extend(every.map(|every| ("recurring[interval]", every)));
        id(&self.post("prices", &form).await.is(200))
    }

    async fn checkout(&self, price: &str) -> Value {
        self.post(
            "checkout/sessions",
            &[
                ("mode", "subscription"),
                ("line_items[0][price]", price),
                ("line_items[0][quantity]", "1"),
                ("success_url", "http://127.0.0.1/done?s={CHECKOUT_SESSION_ID}"),
                ("cancel_url", "http://127.0.0.1/back"),
                ("customer_email", "ada@example.com"),
                ("subscription_data[metadata][person]", "p1"),
            ],
        )
        .await
        .is(200)
    }

    async fn subscribed(&self, price: &str) -> (String, String) {
        let session = self.checkout(price).await;
        let paid =
            self.switch(Method::POST, &format!("checkout/{}/pay", id(&session)), json!({})).await;
        let paid = paid.is(200);
        let text = |name: &str| paid[name].as_str().unwrap().to_owned();
        (text("subscription"), text("customer"))
    }

    async fn invoices(&self, subscription: &str) -> Vec<Value> {
        let list =
            self.ask(Method::GET, "invoices", &[("subscription", subscription)]).await.is(200);
        list["data"].as_array().unwrap().clone()
    }

    async fn events(&self) -> Vec<String> {
        let list = self.ask(Method::GET, "events", &[("limit", "100")]).await.is(200);
        let types = list["data"].as_array().unwrap().iter().rev();
        types.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }
}

fn id(object: &Value) -> String {
    object["id"].as_str().unwrap().to_owned()
}

fn code(got: Got, status: u16) -> String {
    let body = got.is(status);
    body["error"]["code"].as_str().or(body["error"]["type"].as_str()).unwrap().to_owned()
}

#[tokio::test]
async fn a_key_a_version_and_known_parameters_are_wanted() {
    let net = Net::new().await;
    let account = Account::of(&net);
    let url = net.url("stripe/v1/customers");
    assert_eq!(send(net.client.get(&url)).await.status, 401);
    assert_eq!(send(net.client.get(&url).bearer_auth("sk_test_guessed")).await.status, 401);
    let old = net.client.get(&url).bearer_auth(account.key.expose_secret());
    assert_eq!(send(old.header("Stripe-Version", "2020-08-27")).await.status, 400);
    let json = net.client.post(&url).bearer_auth(account.key.expose_secret()).json(&json!({}));
    assert_eq!(send(json).await.status, 400);
    let unknown = account.post("customers", &[("emial", "a@b.c")]).await;
    assert_eq!(code(unknown, 400), "parameter_unknown");
    assert_eq!(code(account.post("products", &[]).await, 400), "parameter_missing");
    let missing = account.ask(Method::GET, "customers/cus_none", &[]).await;
    assert_eq!(code(missing, 404), "resource_missing");
    assert_eq!(account.post("nothing", &[]).await.status, 404);
}

#[tokio::test]
async fn one_key_is_one_request() {
    let net = Net::new().await;
    let account = Account::of(&net);
    let ask = async |email: &str| {
        let request = net.client.post(net.url("stripe/v1/customers"));
        let request = request.bearer_auth(account.key.expose_secret());
        send(request.header("Idempotency-Key", "k1").form(&[("email", email)])).await
    };
    let first = ask("a@b.c").await.is(200);
    let again = ask("a@b.c").await;
    assert_eq!(again.headers["idempotent-replayed"], "true");
    assert_eq!(again.is(200), first);
    assert_eq!(code(ask("other@b.c").await, 400), "idempotency_error");
    assert_eq!(account.get("customers").await["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn prices_are_found_by_their_lookup_key_which_one_price_has() {
    let net = Net::new().await;
    let account = Account::of(&net);
    let price = account.price("pro_month", "4900", Some("month")).await;
    account.price("other", "100", None).await;
    let found = account.ask(Method::GET, "prices", &[("lookup_keys[]", "pro_month")]).await.is(200);
    assert_eq!(id(&found["data"][0]), price);
    assert_eq!(found["data"].as_array().unwrap().len(), 1);
    let product = found["data"][0]["product"].as_str().unwrap().to_owned();
    let twice = [
        ("product", product.as_str()),
        ("currency", "usd"),
        ("unit_amount", "5900"),
        ("lookup_key", "pro_month"),
    ];
    assert_eq!(account.post("prices", &twice).await.status, 400);
    let transfer: Vec<_> = twice.into_iter().chain([("transfer_lookup_key", "true")]).collect();
    let newer = id(&account.post("prices", &transfer).await.is(200));
    let found = account.ask(Method::GET, "prices", &[("lookup_keys[]", "pro_month")]).await.is(200);
    assert_eq!(id(&found["data"][0]), newer);
}

#[tokio::test]
async fn a_checkout_that_is_paid_makes_a_subscription() {
    let net = Net::new().await;
    let account = Account::of(&net);
    let price = account.price("pro_month", "4900", Some("month")).await;
    let session = account.checkout(&price).await;
    assert_eq!(
        (&session["status"], &session["payment_status"]),
        (&json!("open"), &json!("unpaid"))
    );
    let declined = format!("checkout/{}/decline", id(&session));
    let declined = account.switch(Method::POST, &declined, json!({})).await.is(200);
    assert_eq!(declined["status"], "open", "another card may be tried");
    let pay = format!("checkout/{}/pay", id(&session));
    let paid = account.switch(Method::POST, &pay, json!({})).await.is(200);
    assert_eq!((&paid["status"], &paid["payment_status"]), (&json!("complete"), &json!("paid")));
    assert_eq!(account.switch(Method::POST, &pay, json!({})).await.status, 400, "once");
    let subscription =
        account.get(&format!("subscriptions/{}", paid["subscription"].as_str().unwrap())).await;
    assert_eq!(subscription["status"], "active");
    assert_eq!(subscription["metadata"]["person"], "p1");
    let item = &subscription["items"]["data"][0];
    assert_eq!(id(&item["price"]), price);
    let length = item["current_period_end"].as_i64().unwrap()
        - item["current_period_start"].as_i64().unwrap();
    assert!((28 * DAY..=31 * DAY).contains(&length), "a month: {length}");
    let invoices = account.invoices(&id(&subscription)).await;
    assert_eq!(
        (&invoices[0]["status"], &invoices[0]["amount_paid"]),
        (&json!("paid"), &json!(4900))
    );
    assert_eq!(invoices[0]["billing_reason"], "subscription_create");
    let payments = account
        .ask(Method::GET, "invoice_payments", &[("invoice", &id(&invoices[0]))])
        .await
        .is(200);
    let intent = payments["data"][0]["payment"]["payment_intent"].as_str().unwrap().to_owned();
    let refund = account.post("refunds", &[("payment_intent", &intent)]).await.is(200);
    assert_eq!((&refund["amount"], &refund["status"]), (&json!(4900), &json!("succeeded")));
    let again = account.post("refunds", &[("payment_intent", &intent)]).await;
    assert_eq!(code(again, 400), "charge_already_refunded");
    let events = account.events().await;
    for wanted in [
        "checkout.session.completed",
        "customer.subscription.created",
        "invoice.paid",
        "charge.refunded",
    ] {
        assert!(events.iter().any(|event| event == wanted), "{wanted} in {events:?}");
    }
}

#[tokio::test]
async fn money_that_comes_later_comes_or_does_not() {
    let net = Net::new().await;
    let account = Account::of(&net);
    let price = account.price("pro_month", "4900", Some("month")).await;
    for (verb, status, paid) in
        [("settle", "active", "paid"), ("fail", "incomplete_expired", "unpaid")]
    {
        let session = id(&account.checkout(&price).await);
        let later = account
            .switch(Method::POST, &format!("checkout/{session}/async"), json!({}))
            .await
            .is(200);
        assert_eq!(
            (&later["status"], &later["payment_status"]),
            (&json!("complete"), &json!("unpaid"))
        );
        let subscription = later["subscription"].as_str().unwrap().to_owned();
        assert_eq!(
            account.get(&format!("subscriptions/{subscription}")).await["status"],
            "incomplete"
        );
        // A bank's switch, not a person's.
        let stranger = net.client.post(net.url(&format!("stripe/checkout/{session}/{verb}")));
        assert_eq!(send(stranger).await.status, 404);
        let ended = account
            .switch(Method::POST, &format!("checkout/{session}/{verb}"), json!({}))
            .await
            .is(200);
        assert_eq!(ended["payment_status"], paid);
        assert_eq!(account.get(&format!("subscriptions/{subscription}")).await["status"], status);
    }
    let events = account.events().await;
    for wanted in
        ["checkout.session.async_payment_succeeded", "checkout.session.async_payment_failed"]
    {
        assert!(events.iter().any(|event| event == wanted), "{wanted} in {events:?}");
    }
}

#[tokio::test]
async fn a_checkout_page_leads_back() {
    let net = Net::new().await;
    let account = Account::of(&net);
    let price = account.price("pro_month", "4900", Some("month")).await;
    let http =
        reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let go = async |url: String| {
        let reply = http.post(url).send().await.unwrap();
        (reply.status().as_u16(), reply.headers()["location"].to_str().unwrap().to_owned())
    };
    let session = account.checkout(&price).await;
    let url = session["url"].as_str().unwrap().to_owned();
    let page = http.get(&url).send().await.unwrap();
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("form-action 'self' http://127.0.0.1"), "{policy}");
    let html = page.text().await.unwrap();
    for button in ["Pay", "Decline", "Pay later", "Cancel", "$49.00", "ada@example.com"] {
        assert!(html.contains(button), "{button} in {html}");
    }
    assert_eq!(go(format!("{url}/decline")).await, (303, format!("{url}?declined=1")));
    assert!(
        http.get(format!("{url}?declined=1"))
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap()
            .contains("declined")
    );
    let done = format!("http://127.0.0.1/done?s={}", id(&session));
    assert_eq!(go(format!("{url}/pay")).await, (303, done));
    let other = account.checkout(&price).await;
    let url = other["url"].as_str().unwrap().to_owned();
    assert_eq!(go(format!("{url}/cancel")).await, (303, "http://127.0.0.1/back".to_owned()));
    assert_eq!(
        account.get(&format!("checkout/sessions/{}", id(&other))).await["status"],
        "expired"
    );
}

#[tokio::test]
async fn an_upgrade_is_paid_at_once_or_refused() {
    let net = Net::new().await;
    let account = Account::of(&net);
    let starter = account.price("starter_month", "1900", Some("month")).await;
    let pro = account.price("pro_month", "4900", Some("month")).await;
    let (id, customer) = account.subscribed(&starter).await;
    let subscription = account.get(&format!("subscriptions/{id}")).await;
    let item = subscription["items"]["data"][0]["id"].as_str().unwrap().to_owned();
    let up = [
        ("items[0][id]", item.as_str()),
        ("items[0][price]", pro.as_str()),
        ("proration_behavior", "always_invoice"),
    ];
    let card = format!("customers/{customer}/card");
    account.switch(Method::POST, &card, json!({"declines": true})).await.is(200);
    let refused = account.post(&format!("subscriptions/{id}"), &up).await;
    assert_eq!(code(refused, 402), "card_declined");
    account.switch(Method::POST, &card, json!({"declines": false})).await.is(200);
    let raised = account.post(&format!("subscriptions/{id}"), &up).await.is(200);
    assert_eq!(raised["items"]["data"][0]["price"]["id"], pro.as_str());
    let invoice = &account.invoices(&id).await[0];
    assert_eq!(invoice["billing_reason"], "subscription_update");
    assert!((2_900..=3_000).contains(&invoice["amount_paid"].as_i64().unwrap()), "{invoice}");
    account.ask(Method::DELETE, &format!("subscriptions/{id}"), &[]).await.is(200);
    let gone = account.ask(Method::DELETE, &format!("subscriptions/{id}"), &[]).await;
    assert_eq!(code(gone, 404), "resource_missing");
}
