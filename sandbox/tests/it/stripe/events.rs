//! Events are signed, sent until they are taken, and on demand.

use std::sync::{Arc, Mutex};

use fanfare_sandbox::{Sandbox, stripe};
use reqwest::Method;
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, Router, Server, async_trait,
    conn::{Acceptor, Listener, TcpListener},
    http::StatusCode,
};
use serde_json::{Value, json};

use crate::harness::{Dir, Net, send, setup};

use super::*;

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
