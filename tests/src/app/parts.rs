//! Builds the parts of a service of a test.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use fanfare_ai::{Ai, Catalogue, Endpoint, ServiceAccount, Vertex};
use fanfare_core::{clock::Clock, vault::Vault};
use fanfare_jobs::Queue;
use fanfare_limits::{Limits, TimeSource};
use fanfare_media::{S3, Store};
use fanfare_outbound::{Client, Policy};
use fanfare_payments::Stripe;
use fanfare_people::billing::Billing;
use fanfare_platforms::{PlatformId, oauth::App};
use fanfare_sandbox::{Sandbox, Setup, stripe::Keys};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::Options;
use crate::{Cutter, Recorder, S3Server, Simulator, Stack};

/// The simulated networks of a test.
pub(super) struct Networks {
    /// The simulator's address.
    pub simulator: Simulator,
    /// The address at which the service reaches it.
    pub reached: fanfare_core::simulator::Simulator,
    /// The proxy between, if there is one.
    pub cutter: Option<Cutter>,
    /// The proxy that keeps what is said, if there is one.
    pub recorder: Option<Recorder>,
}

/// Returns simulated networks in another process, or starts some in this one. `base_url` and `media` are those of the
/// service.
pub(super) async fn networks(
    options: &Options,
    (origin, base_url, media): (&str, &str, &str),
    stop: &CancellationToken,
) -> Networks {
    if let Some(simulator) = &options.networks {
        let reached = reached(simulator.url.clone(), &simulator.secret);
        return Networks { simulator: simulator.clone(), reached, cutter: None, recorder: None };
    }
    let secret = Vault::fresh_key();
    let policy = Policy { allow_private: options.allow_private };
    let networks = Sandbox::open(Setup {
        dir: None,
        secret: secret.clone().into(),
        http: Client::new(policy).expect("a client"),
        media: Some(media.parse().expect("an address")),
    });
    let networks = networks.await.expect("the sandbox opens");
    networks.set_rate_limits(options.sandbox_limits);
    if options.stand_ins {
        for id in platforms() {
            networks.allow_redirect(&format!("{base_url}/connect/{id}/callback"));
        }
    }
    let webhook = format!("{origin}/api/stripe/webhook");
    let hooks = format!("{origin}/api/hooks/meta/");
    networks.set_meta_webhooks(hooks.parse().expect("an address"));
    networks.set_stripe_webhook(webhook.parse().expect("an address"));
    let any = "127.0.0.1:0".parse().expect("an address");
    let serving = networks.clone().serve(any, stop.clone()).await.expect("the sandbox listens");
    let url = |address| Url::parse(&format!("http://{address}")).expect("a URL");
    let cutter = if options.cut { Some(Cutter::before(serving.address()).await) } else { None };
    let behind = cutter.as_ref().map_or(serving.address(), Cutter::address);
    let recorder = if options.record { Some(Recorder::before(behind).await) } else { None };
    let before = url(recorder.as_ref().map_or(behind, Recorder::address));
    // The public addresses of the networks lead through the proxy too.
    networks.set_base_url(&before);
    let reached = reached(before, &secret);
    let simulator = Simulator { url: url(serving.address()), secret };
    Networks { simulator, reached, cutter, recorder }
}

/// Returns the simulated Stripe.
pub(super) fn billing(simulator: &Simulator, at: Option<&Url>) -> Option<Billing> {
    let keys = Keys::of(&simulator.secret.clone().into());
    let http = Client::new(Policy { allow_private: true }).expect("a client");
    let base = simulator.url.join("/stripe").expect("an address");
    let base = at.cloned().unwrap_or(base);
    Some(Billing {
        stripe: Stripe::new(&http, base, keys.secret_key),
        webhook_secrets: vec![keys.webhook_secret],
        is_simulated: true,
    })
}

/// Returns the simulated models or none, with or without Vertex AI.
pub(super) async fn ai(simulator: &Simulator, is_on: bool, has_vertex: bool) -> Ai {
    let catalogue = Catalogue::built_in().expect("models");
    if !is_on {
        return Ai::none(catalogue);
    }
    let http = Client::new(Policy { allow_private: true }).expect("a client");
    let at = |path: &str| simulator.url.join(&format!("/ai/{path}")).expect("an address");
    let mut ai = Ai::sandbox(catalogue, |path| {
        Endpoint::new(&http, "simulator", at(path), Some(simulator.secret.clone().into()))
    });
    if has_vertex {
        let file = simulator.service_account().await.to_string();
        let account = ServiceAccount::read(&http, &file).expect("a service account");
        let endpoint = Endpoint::new(&http, "vertex", at("vertex"), None);
        ai.vertex = Some(Vertex::new(endpoint, ("films", "us-central1"), Some(account)));
    }
    ai
}

fn reached(url: Url, secret: &str) -> fanfare_core::simulator::Simulator {
    fanfare_core::simulator::Simulator { pages: url.clone(), url, secret: secret.to_owned().into() }
}

/// Returns a store of media files in `dir/media`: a directory on the embedded stack, an S3 server in a fleet.
pub(super) async fn store(stack: Stack, dir: &Path, stop: &CancellationToken) -> Store {
    let (url, keys) = match stack {
        Stack::Embedded => (format!("file://{}", dir.join("media").display()), S3::default()),
        Stack::Fleet => {
            let bucket = S3Server::serve(dir, stop.clone()).await;
            (bucket.url, bucket.keys)
        }
    };
    Store::open(&url, keys).expect("the store opens")
}

fn platforms() -> impl Iterator<Item = PlatformId> {
    fanfare_platforms::all().iter().map(|platform| platform.spec().id)
}

/// Returns the addresses of simulated networks that replace the real ones, as the service reaches them.
pub(super) fn stand_ins(reached: &fanfare_core::simulator::Simulator) -> BTreeMap<PlatformId, Url> {
    let at = |id: PlatformId| reached.url.join(&format!("shared/{id}")).expect("an address");
    platforms().map(|id| (id, at(id))).collect()
}

pub(super) fn apps() -> BTreeMap<PlatformId, App> {
    let app = |id| (id, App { client_id: "our-app".into(), client_secret: "our-secret".into() });
    platforms().map(app).collect()
}

pub(super) async fn queue(redis_url: Option<&str>) -> Queue {
    match redis_url {
        Some(url) => Queue::redis(url).await.expect("the queue opens"),
        None => Queue::memory(),
    }
}

/// Returns counters that use the test's clock.
pub(super) fn limits(redis_url: Option<&str>, clock: &Clock) -> Limits {
    let clock = clock.clone();
    let time = TimeSource::Given(Arc::new(move || clock.now()));
    match redis_url {
        Some(url) => Limits::redis(url, time).expect("a good URL"),
        None => Limits::memory(time),
    }
}
