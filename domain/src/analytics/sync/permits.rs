//! Permits for calls that read numbers. They come after publishing: together they take at most a share of an app's quota,
//! and none while posts wait.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use fanfare_entities::account;
use fanfare_limits::{Decision, Rate, Request, Subject};
use fanfare_platforms::{
    Error, Kind, PlatformId, Result, Session,
    analytics::{Analytics, Calls},
    find,
};
use uuid::Uuid;

use crate::Domain;

/// The most calls of one turn of an account.
const CALLS: u32 = 50;

/// The share of an app's quota that reading takes, in percent.
const SHARE: u32 = 60;

/// How long to stay away while posts wait.
const YIELD: Duration = Duration::from_secs(1);

/// Says whether posts wait for slots.
pub type IsBusy<'a> = &'a (dyn Fn() -> bool + Sync);

/// Returns how many calls of a quota reading takes at most.
#[must_use]
pub const fn share_of(calls: u32) -> u32 {
    let share = calls.saturating_mul(SHARE) / 100;
    if share == 0 { 1 } else { share }
}

/// The permits of one turn.
pub(super) struct Permits<'a> {
    cx: &'a Domain,
    is_busy: IsBusy<'a>,
    id: String,
    subjects: Vec<Subject>,
    left: AtomicU32,
}

impl<'a> Permits<'a> {
    /// Creates the permits of a turn of an account.
    pub fn new(
        cx: &'a Domain,
        is_busy: IsBusy<'a>,
        (row, session): (&account::Model, &Session),
        network: &dyn Analytics,
    ) -> Self {
        let quota = network.quota().filter(|_| !row.sandbox || cx.settings.sandbox_limits);
        let subjects = quota.map(|quota| {
            let limit = share_of(quota.calls);
            let rates = vec![Rate { limit, span: quota.span }];
            Subject { name: format!("{}:background", app_name(row, session)), rates }
        });
        Self {
            cx,
            is_busy,
            id: format!("sync:{}", row.id),
            subjects: subjects.into_iter().collect(),
            left: AtomicU32::new(CALLS),
        }
    }

    /// Returns how many calls are left in this turn.
    pub fn left(&self) -> usize {
        usize::try_from(self.left.load(Ordering::Relaxed)).unwrap_or_default()
    }
}

#[async_trait]
impl Calls for Permits<'_> {
    async fn allow(&self) -> Result<()> {
        if (self.is_busy)() {
            return Err(wait("posts come first", YIELD));
        }
        let took = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if took.is_err() {
            return Err(wait("the calls of this turn are used up", Duration::ZERO));
        }
        if self.subjects.is_empty() {
            return Ok(());
        }
        let call = Uuid::now_v7().to_string();
        let subjects = self.subjects.clone();
        let request = Request { id: self.id.clone(), call, is_again: false, subjects };
        match self.cx.limits.acquire(&[request]).await.first() {
            Some(Decision::After(time)) => Err(wait("the app's share is used up", *time)),
            Some(Decision::Now) | None => Ok(()),
        }
    }
}

fn wait(why: &str, time: Duration) -> Error {
    Error::new(Kind::RateLimited, format!("Reading numbers waits: {why}."))
        .with_retry_after(Some(time))
}

/// The name of an account's app in the rate limits.
fn app_name(row: &account::Model, session: &Session) -> String {
    let place = if row.sandbox { ":sandbox" } else { "" };
    let platform = row.platform.parse::<PlatformId>().ok();
    let app = platform.and_then(|platform| find(platform).app(&session.account));
    format!("app:{}{place}:{}", row.platform, app.as_deref().unwrap_or("own"))
}
