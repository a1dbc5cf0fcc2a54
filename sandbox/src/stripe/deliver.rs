//! Webhooks: each event is sent until the product accepts it, unless a test sends it itself.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Stripe,
    objects::{Objects, shown, text},
    sign,
};
use crate::env::lock;

/// The time that the product may take to handle an event.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest wait between two attempts, in milliseconds.
const LONGEST_WAIT: u64 = 30_000;
/// The number of attempts of one event; after that it waits for the next start or for a manual send.
const TRIES: u32 = 12;

/// The way in which events are sent; absent fields stay as they are.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeliveryMode {
    /// True to send no events automatically.
    pub hold: Option<bool>,
    /// The number of times each is sent.
    pub repeat: Option<u32>,
    /// The time for which each is delayed, in milliseconds.
    pub delay_ms: Option<u64>,
}

impl Stripe {
    pub(super) fn mode(&self) -> DeliveryMode {
        lock(&self.mode).clone()
    }

    pub(super) fn change_mode(&self, new: &DeliveryMode) {
        let mut mode = lock(&self.mode);
        mode.hold = new.hold.or(mode.hold);
        mode.repeat = new.repeat.or(mode.repeat);
        mode.delay_ms = new.delay_ms.or(mode.delay_ms);
        drop(mode);
        self.due.notify_one();
    }

    /// Delivers new events until the simulator stops.
    pub(crate) async fn deliver(self: Arc<Self>) {
        let closing = self.env.closing.clone();
        loop {
            self.deliver_waiting();
            tokio::select! {
                () = self.due.notified() => {}
                // Renewals become due as time passes.
                () = tokio::time::sleep(Duration::from_secs(1)) => self.with(|_| ()),
                () = closing.cancelled() => return,
            }
        }
    }

    /// Starts to deliver every event that is not being delivered yet.
    fn deliver_waiting(self: &Arc<Self>) {
        let mode = self.mode();
        if mode.hold == Some(true) || self.webhook().is_none() {
            return;
        }
        let mut books = lock(&self.books);
        let waiting: Vec<String> = books.unsent();
        drop(books);
        for id in waiting {
            let (stripe, mode) = (Arc::clone(self), mode.clone());
            tokio::spawn(async move { stripe.deliver_until_taken(&id, &mode).await });
        }
    }

    async fn deliver_until_taken(&self, id: &str, mode: &DeliveryMode) {
        tokio::time::sleep(Duration::from_millis(mode.delay_ms.unwrap_or(0))).await;
        let mut sent = 0;
        for nth in 0..TRIES {
            if self.send(id).await {
                sent += 1;
            }
            if sent >= mode.repeat.unwrap_or(1).max(1) {
                return;
            }
            if sent > 0 {
                continue;
            }
            let wait = Duration::from_millis((250 << nth.min(7)).min(LONGEST_WAIT));
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.env.closing.cancelled() => return,
            }
        }
    }

    /// Sends an event once; returns true if the product accepted it.
    pub(super) async fn send(&self, id: &str) -> bool {
        let (Some(url), Some(body)) = (self.webhook(), self.payload(id)) else { return false };
        let signature = self.signature(&body);
        let request = self
            .http
            .trusting(std::slice::from_ref(&url))
            .post(url)
            .header("Stripe-Signature", &signature)
            .body("application/json; charset=utf-8", Bytes::from(body))
            .deadline(TIMEOUT);
        let status = match request.send().await {
            Ok(reply) => Some(reply.status),
            Err(error) => {
                tracing::debug!(%error, "the product did not take an event");
                None
            }
        };
        let taken = status.is_some_and(|status| (200..300).contains(&status));
        let at = self.env.now_ms();
        lock(&self.books).note_attempt(id, json!({"at": at, "status": status}), taken);
        taken
    }

    fn payload(&self, id: &str) -> Option<String> {
        let books = lock(&self.books);
        books.get("event", id).map(|event| shown(event).to_string())
    }

    /// Returns the signature header. `t` is the simulator's time, not the account's, because receivers compare it with
    /// theirs.
    fn signature(&self, body: &str) -> String {
        let time = (self.env.now_ms() / 1_000).to_string();
        let key = self.keys.webhook_secret.expose_secret().as_bytes();
        let signed = sign(key, &[time.as_bytes(), b".", body.as_bytes()]);
        format!("t={time},v1={signed}")
    }

    /// Returns the deliveries, oldest first.
    pub(super) fn deliveries(&self) -> Value {
        let books = lock(&self.books);
        let row = |event: &Value| {
            json!({
                "event": event["id"], "type": event["type"], "object": event["data"]["object"]["id"],
                "delivered": event["pending_webhooks"] == 0, "attempts": event["_attempts"],
            })
        };
        let rows: Vec<_> = books.all("event").into_iter().rev().map(row).collect();
        json!({"deliveries": rows, "mode": self.mode()})
    }
}

impl Objects {
    /// Takes the events whose delivery has not begun since the start, oldest first, and marks them as begun.
    fn unsent(&mut self) -> Vec<String> {
        let waiting = |event: &&Value| event["pending_webhooks"] == 1;
        let ids: Vec<_> = self
            .all("event")
            .into_iter()
            .filter(waiting)
            .map(|event| text(event, "id").to_owned())
            .filter(|id| !self.sending.contains(id))
            .collect();
        self.sending.extend(ids.iter().cloned());
        ids.into_iter().rev().collect()
    }

    fn note_attempt(&mut self, id: &str, attempt: Value, taken: bool) {
        let Some(event) = self.get("event", id) else { return };
        let mut attempts = event["_attempts"].as_array().cloned().unwrap_or_default();
        attempts.push(attempt);
        let pending = if taken { 0.into() } else { event["pending_webhooks"].clone() };
        self.set(id, json!({"_attempts": attempts, "pending_webhooks": pending}));
    }
}
