//! What a service of a test is put together from.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use fanfare_domain::clock::Clock;
use fanfare_jobs::Bell;
use fanfare_limits::{Limits, Time};
use fanfare_media::{S3, Store};
use fanfare_platforms::{PlatformId, oauth::App};
use fanfare_sandbox::Sandbox;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::Options;
use crate::{Bucket, Cutter, Stack};

/// The simulated networks of a test.
pub(super) struct Networks {
    /// Where they are.
    pub url: Url,
    /// Where the service looks for them.
    pub reached: Url,
    /// The proxy between, if there is one.
    pub cutter: Option<Cutter>,
}

/// Those of another process, or some of this one.
pub(super) async fn networks(options: &Options, stop: &CancellationToken) -> Networks {
    if let Some(url) = &options.networks {
        return Networks { url: url.clone(), reached: url.clone(), cutter: None };
    }
    let networks = Sandbox::open(None).await.expect("the sandbox opens");
    networks.set_rate_limits(options.sandbox_limits);
    let any = "127.0.0.1:0".parse().expect("an address");
    let serving = networks.clone().serve(any, stop.clone()).await.expect("the sandbox listens");
    let url = |address| Url::parse(&format!("http://{address}")).expect("a URL");
    let cutter = if options.cut { Some(Cutter::before(serving.address()).await) } else { None };
    let reached = url(cutter.as_ref().map_or(serving.address(), Cutter::address));
    // What a network says about itself leads through the proxy too.
    networks.set_base_url(&reached);
    Networks { url: url(serving.address()), reached, cutter }
}

/// Media files in `dir/media`: written there on the embedded stack, by an S3 server in a fleet.
pub(super) async fn store(stack: Stack, dir: &Path, stop: &CancellationToken) -> Store {
    let (url, keys) = match stack {
        Stack::Embedded => (format!("file://{}", dir.join("media").display()), S3::default()),
        Stack::Fleet => {
            let bucket = Bucket::serve(dir, stop.clone()).await;
            (bucket.url, bucket.keys)
        }
    };
    Store::open(&url, keys).expect("the store opens")
}

fn platforms() -> impl Iterator<Item = PlatformId> {
    fanfare_platforms::all().iter().map(|platform| platform.spec().id)
}

/// The simulated networks in the place of the real ones.
pub(super) fn stand_ins(sandbox: &Url) -> BTreeMap<PlatformId, Url> {
    let at = |id: PlatformId| (id, Url::parse(&format!("{sandbox}{id}")).expect("a URL"));
    platforms().map(at).collect()
}

pub(super) fn apps() -> BTreeMap<PlatformId, App> {
    let app = |id| (id, App { client_id: "our-app".into(), client_secret: "our-secret".into() });
    platforms().map(app).collect()
}

pub(super) async fn bell(redis_url: Option<&str>) -> Bell {
    match redis_url {
        Some(url) => Bell::redis(url).await.expect("the queue opens"),
        None => Bell::memory(),
    }
}

/// Counters that go by the test's clock.
pub(super) fn limits(redis_url: Option<&str>, clock: &Clock) -> Limits {
    let clock = clock.clone();
    let time = Time::Given(Arc::new(move || clock.now()));
    match redis_url {
        Some(url) => Limits::redis(url, time).expect("a good URL"),
        None => Limits::memory(time),
    }
}
