//! The simulated Stripe: what it takes and refuses, what time does, and how it tells.

use std::sync::{Arc, Mutex};

use fanfare_sandbox::{Sandbox, stripe};
use reqwest::Method;
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, Router, Server, async_trait,
    conn::{Acceptor, Listener, TcpListener},
    http::StatusCode,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use crate::harness::{Dir, Got, Net, SECRET, send, setup};

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

/// The signature and the body of an event.
type Heard = (String, Vec<u8>);

/// A receiver of webhooks that answers what it is told to.
#[derive(Clone, Default)]
struct Receiver {
    heard: Arc<Mutex<Vec<Heard>>>,
    refuse: Arc<Mutex<u32>>,
}

#[async_trait]
impl Handler for Receiver {
    async fn handle(&self, req: &mut Request, _: &mut Depot, res: &mut Response, _: &mut FlowCtrl) {
        let signature = req.headers()["stripe-signature"].to_str().unwrap().to_owned();
        let body = req.payload().await.unwrap().to_vec();
        let mut refuse = self.refuse.lock().unwrap();
        if *refuse > 0 {
            *refuse -= 1;
            res.status_code(StatusCode::SERVICE_UNAVAILABLE);
            return;
        }
        self.heard.lock().unwrap().push((signature, body));
    }
}

impl Receiver {
    async fn serve(&self) -> url::Url {
        let acceptor = TcpListener::new("127.0.0.1:0").bind().await;
        let address = acceptor.holdings()[0].local_addr.clone().into_std().unwrap();
        let router = Router::with_path("hook").post(self.clone());
        tokio::spawn(Server::new(acceptor).serve(router));
        url::Url::parse(&format!("http://{address}/hook")).unwrap()
    }

    async fn hears(&self, count: usize) -> Vec<Heard> {
        for _ in 0..1_000 {
            let heard = self.heard.lock().unwrap().clone();
            if heard.len() >= count {
                return heard;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("only {} events came", self.heard.lock().unwrap().len());
    }
}

#[tokio::test]
async fn events_are_signed_sent_until_they_are_taken_and_on_demand() {
    let (dir, receiver) = (Dir::new(), Receiver::default());
    let url = receiver.serve().await;
    *receiver.refuse.lock().unwrap() = 2;
    let sandbox = Sandbox::open(setup(Some(&dir))).await.unwrap();
    sandbox.set_stripe_webhook(url.clone());
    let net = Net::of(sandbox).await;
    let account = Account::of(&net);
    account.post("customers", &[("email", "a@b.c")]).await.is(200);
    let (signature, body) = receiver.hears(1).await.remove(0);
    let event: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        (&event["type"], &event["api_version"]),
        (&json!("customer.created"), &json!(stripe::VERSION))
    );
    assert!(signature.starts_with("t=") && signature.contains(",v1="), "{signature}");
    let deliveries = account.switch(Method::GET, "deliveries", json!(null)).await.is(200);
    let attempts = deliveries["deliveries"][0]["attempts"].as_array().unwrap().len();
    assert_eq!(attempts, 3, "{deliveries}");
    // Held back, they are sent when somebody says so, as often and in the order that is wanted.
    account.switch(Method::PUT, "deliveries", json!({"hold": true})).await.is(200);
    let mut ids = Vec::new();
    for _ in 0..2 {
        account.post("customers", &[]).await.is(200);
    }
    let listed = account.ask(Method::GET, "events", &[]).await.is(200);
    ids.extend(listed["data"].as_array().unwrap()[..2].iter().map(id));
    let order = [ids[0].clone(), ids[1].clone(), ids[0].clone()];
    let sent =
        account.switch(Method::POST, "deliveries/send", json!({ "events": order })).await.is(200);
    assert_eq!(sent["taken"], json!([true, true, true]));
    let heard = receiver.hears(4).await;
    let heard: Vec<Value> =
        heard[1..].iter().map(|(_, body)| serde_json::from_slice(body).unwrap()).collect();
    assert_eq!(heard.iter().map(id).collect::<Vec<_>>(), order);
    // Nothing of it needs more than a restart; what nobody took is sent then.
    account.post("customers", &[("email", "last@b.c")]).await.is(200);
    net.stop().await;
    let sandbox = Sandbox::open(setup(Some(&dir))).await.unwrap();
    sandbox.set_stripe_webhook(url);
    let net = Net::of(sandbox).await;
    let last: Value = serde_json::from_slice(&receiver.hears(5).await[4].1).unwrap();
    assert_eq!(last["data"]["object"]["email"], "last@b.c");
    let account = Account::of(&net);
    assert_eq!(account.get("customers").await["data"].as_array().unwrap().len(), 4);
    let stranger = net.client.get(net.url("stripe/deliveries"));
    assert_eq!(send(stranger).await.status, 401);
}
