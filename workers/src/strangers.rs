//! Looks at a published post as somebody does who is not logged in, on networks whose answers do not tell who sees it.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use fanfare_core::Domain;
use fanfare_entities::Millis;
use fanfare_platforms::Spec;
use url::Url;

use crate::context::Context;

/// The time between two looks at posts of one network, in ms.
const PAUSE: Millis = 24 * 3_600_000;

const DEADLINE: Duration = Duration::from_secs(20);
/// The largest page that is read.
const PAGE_MAX: usize = 4 << 20;

/// When this process last looked, by network.
#[derive(Debug, Default)]
pub struct StrangerLooks(Mutex<HashMap<&'static str, Millis>>);

impl StrangerLooks {
    /// Returns true if it is time to look at a post of this network, and notes that it is done.
    fn is_due(&self, platform: &'static str, now: Millis) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.get(platform).is_none_or(|at| now - at >= PAUSE);
        if is_due {
            last.insert(platform, now);
        }
        is_due
    }
}

impl Context {
    /// Looks at the first post of a day, and counts for the operators whether it is shown. Runs in the background; nothing
    /// waits for it.
    pub fn look_as_stranger(&self, spec: &'static Spec, address: Option<&str>) {
        let Some(address) = address.and_then(|address| Url::parse(address).ok()) else { return };
        let platform = spec.id.as_str();
        if spec.unseen.is_none() || !self.looks.is_due(platform, self.now()) {
            return;
        }
        let cx = self.clone();
        tokio::spawn(async move {
            if let Some(is_shown) = is_shown(&cx.domain, address).await {
                cx.counters.look(platform, is_shown);
                tracing::info!(
                    platform,
                    is_shown,
                    "a published post was looked at without a log-in"
                );
            }
        });
    }
}

/// Returns whether a page is shown to everybody; `None` if it does not say.
async fn is_shown(cx: &Domain, address: Url) -> Option<bool> {
    let request = cx.http.get(address).redirects(5).max_reply(PAGE_MAX).deadline(DEADLINE);
    let reply = request.send().await.ok()?;
    match reply.status {
        200..=299 => Some(!reply.url.path().contains("login")),
        401 | 403 | 404 | 410 => Some(false),
        _ => None,
    }
}
