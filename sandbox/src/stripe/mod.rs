//! A simulated Stripe: one account, its objects in the API version that the product pins, its webhooks, its checkout
//! page, and its own clock.
//!
//! Written from Stripe's documentation. The API is below `/stripe/v1` and requires the account's secret key; the
//! control API beside it (`/stripe/clock`, `/stripe/customers/…/card`, `/stripe/deliveries`) requires the simulator's
//! secret. Changes are on disk before the response is sent, and each event is delivered until the product accepts it.

mod catalog;
mod checkout;
mod clock;
mod control;
mod customers;
mod deliver;
mod error;
mod form;
mod invoices;
mod objects;
mod page;
mod refunds;
mod routes;
mod schedules;
mod subscriptions;

use std::sync::{Arc, Mutex, RwLock};

use fanfare_outbound::Client;
use hmac::{Hmac, KeyInit, Mac};
use salvo::http::{Method, Request};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use tokio::sync::Notify;
use url::Url;

use crate::{
    call::{Call, ReadError},
    env::{Env, lock, read, write},
    journal::StoredLine,
    reply::Reply,
    root_handler::RequestAccess,
};
use deliver::DeliveryMode;
use objects::Objects;

/// The first segment of its paths.
pub(crate) const NAME: &str = "stripe";
/// The name in the journal, instead of a network's.
pub(crate) const JOURNAL: &str = "_stripe";
/// The API version that is simulated.
pub const VERSION: &str = "2026-08-26.dahlia";
/// The largest request, in bytes.
const BODY_MAX: usize = 1 << 20;

/// The keys of the simulated account; both are derived from the simulator's secret.
#[derive(Clone)]
pub struct Keys {
    /// The API's key.
    pub secret_key: SecretString,
    /// The secret of the webhook's signature.
    pub webhook_secret: SecretString,
}

impl Keys {
    /// Derives the keys from the simulator's secret.
    #[must_use]
    pub fn of(secret: &SecretString) -> Self {
        Self {
            secret_key: derived(secret, "sk_test_", b"stripe secret key").into(),
            webhook_secret: derived(secret, "whsec_", b"stripe webhook secret").into(),
        }
    }
}

fn derived(secret: &SecretString, start: &str, purpose: &[u8]) -> String {
    let digest = sign(secret.expose_secret().as_bytes(), &[purpose]);
    format!("{start}{}", &digest[..40])
}

/// Returns the HMAC-SHA256 of these parts, in hex.
fn sign(key: &[u8], parts: &[&[u8]]) -> String {
    // HMAC accepts keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The simulated account.
pub(crate) struct Stripe {
    env: Arc<Env>,
    books: Mutex<Objects>,
    keys: Keys,
    /// The address that events are sent to.
    webhook: RwLock<Option<Url>>,
    http: Client,
    mode: Mutex<DeliveryMode>,
    /// Notified when there is an event to deliver.
    due: Notify,
}

impl Stripe {
    pub fn new(env: &Arc<Env>, secret: &SecretString, http: Client) -> Self {
        Self {
            env: Arc::clone(env),
            books: Mutex::new(Objects::new(env)),
            keys: Keys::of(secret),
            webhook: RwLock::default(),
            http: http.counted_as("simulator"),
            mode: Mutex::default(),
            due: Notify::new(),
        }
    }

    /// Replays a change from the journal.
    pub fn replay(&self, line: StoredLine) {
        lock(&self.books).replay(&line.account, line.entry);
    }

    /// Sets the address that events are sent to.
    pub fn set_webhook(&self, url: Url) {
        *write(&self.webhook) = Some(url);
        self.due.notify_one();
    }

    fn webhook(&self) -> Option<Url> {
        read(&self.webhook).clone()
    }

    /// Runs `work` on the objects, after all due work is done.
    fn with<T>(&self, work: impl FnOnce(&mut Objects) -> T) -> T {
        let mut books = lock(&self.books);
        books.follow(self.env.now_ms());
        clock::catch_up(&mut books);
        let done = work(&mut books);
        drop(books);
        self.due.notify_one();
        done
    }

    /// Answers `/stripe/{path}`. Control requests need the simulator's secret.
    pub async fn serve(
        &self,
        req: &mut Request,
        path: &str,
        reach: RequestAccess,
        secret: &SecretString,
    ) -> Reply {
        let call = match Call::read(req, path.to_owned(), BODY_MAX).await {
            Ok(call) => call,
            Err(ReadError::TooLarge) => return error::too_large(),
            Err(ReadError::Broken) => return error::broken(),
        };
        let segments = call.segments();
        let reply = match segments.as_slice() {
            ["deliveries", "send"] if reach.programs && has_secret(&call, secret) => {
                control::send(self, &call).await
            }
            _ => self.answer(&call, reach, secret),
        };
        match self.env.journal.synced().await {
            Ok(()) => reply,
            Err(_) => error::api_error("The change could not be written to the disk."),
        }
    }

    fn answer(&self, call: &Call, reach: RequestAccess, secret: &SecretString) -> Reply {
        let segments = call.segments();
        match segments.as_slice() {
            ["v1", rest @ ..] if reach.programs => routes::answer(self, call, rest),
            ["checkout", id] if call.method == Method::GET && reach.pages => {
                let declined = call.query_value("declined").is_some();
                self.with(|books| page::show(books, id, declined))
            }
            ["portal", id] if call.method == Method::GET && reach.pages => {
                self.with(|books| page::portal(books, id))
            }
            ["checkout", id, verb] if call.method == Method::POST && reach.pages => {
                control::checkout(self, call, (id, verb), has_secret(call, secret))
            }
            rest if reach.programs && has_secret(call, secret) => control::answer(self, call, rest),
            _ if reach.programs => control::refused(),
            _ => crate::page::no_such_page(),
        }
    }

    fn is_secret_key(&self, given: &str) -> bool {
        let key = self.keys.secret_key.expose_secret();
        bool::from(given.as_bytes().ct_eq(key.as_bytes()))
    }
}

fn has_secret(call: &Call, secret: &SecretString) -> bool {
    let secret = secret.expose_secret().as_bytes();
    call.bearer().is_some_and(|given| bool::from(given.as_bytes().ct_eq(secret)))
}
