//! What a service of a test is put together from.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use fanfare_domain::clock::Clock;
use fanfare_jobs::Bell;
use fanfare_limits::{Limits, Time};
use fanfare_media::{S3, Store};
use fanfare_platforms::{PlatformId, oauth::App};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::{Bucket, Stack};

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
