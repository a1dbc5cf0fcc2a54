//! Permits for calls that only read. Publishing takes precedence: such calls use at most a share of an app's quota, and
//! none is permitted while posts wait.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use fanfare_core::Domain;
use fanfare_entities::account;
use fanfare_limits::{Decision, Rate, Request, Subject};
use fanfare_platforms::{
    Error, ErrorKind, PlatformId, RateLimit, Result, Session, UsageTracker, analytics::CallBudget,
    find,
};
use uuid::Uuid;

/// The share of an app's quota for background calls, in percent.
const QUOTA_SHARE: u32 = 60;

/// Calls stop when this share of an account's own budget is used, in percent, if the network reports it.
const ACCOUNT_SHARE: u8 = 75;

/// The delay before the next call while posts wait.
const BUSY_DELAY: Duration = Duration::from_secs(1);

/// The delay after enough of a budget is used, if the network does not say how long.
const USED_UP_DELAY: Duration = Duration::from_secs(15 * 60);

/// The longest wait for the next call before a reading releases its row.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// Returns true while posts wait for slots.
pub type IsBusy<'a> = &'a (dyn Fn() -> bool + Sync);

/// Returns how many calls of a quota background calls can use.
#[must_use]
pub const fn background_share(calls: u32) -> u32 {
    let share = calls.saturating_mul(QUOTA_SHARE) / 100;
    if share == 0 { 1 } else { share }
}

/// The limits of one turn of an account.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// The app's quota for all accounts, if it is known.
    pub quota: Option<RateLimit>,
    /// The most calls in the turn.
    pub calls: u32,
    /// At most one call a second for the account.
    pub paced: bool,
}

/// The permits of one turn.
pub struct Permits<'a> {
    cx: &'a Domain,
    is_busy: IsBusy<'a>,
    id: String,
    app: String,
    subjects: Vec<Subject>,
    usage: UsageTracker,
    left: AtomicU32,
}

impl<'a> Permits<'a> {
    /// Creates the permits for a turn of an account.
    pub fn new(
        cx: &'a Domain,
        is_busy: IsBusy<'a>,
        (row, session): (&account::Model, &Session),
        budget: Budget,
    ) -> Self {
        let is_limited = !row.sandbox || crate::settings(cx).sandbox_limits;
        let app = format!("{}:background", app_name(row, session));
        let share =
            |quota: RateLimit| Rate { limit: background_share(quota.calls), span: quota.period };
        let rates = budget.quota.filter(|_| is_limited).map(share);
        // Without a rate, only a block by the network matters.
        let mut subjects = vec![Subject { name: app.clone(), rates: rates.into_iter().collect() }];
        if budget.paced && is_limited {
            let rates = vec![Rate { limit: 1, span: Duration::from_secs(1) }];
            subjects.push(Subject { name: format!("account:{}:background", row.id), rates });
        }
        Self {
            cx,
            is_busy,
            id: format!("sync:{}", row.id),
            app,
            subjects,
            usage: session.usage.clone(),
            left: AtomicU32::new(budget.calls),
        }
    }

    /// Returns how many calls are left in this turn.
    pub fn calls_left(&self) -> usize {
        usize::try_from(self.left.load(Ordering::Relaxed)).unwrap_or_default()
    }

    /// Waits for a permit for one call, unless that takes long.
    ///
    /// # Errors
    /// [`ErrorKind::RateLimited`].
    pub async fn wait_for_permit(&self) -> Result<()> {
        let mut waited = Duration::ZERO;
        loop {
            let error = match self.acquire().await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            let time = error.retry_after.unwrap_or(MAX_WAIT).max(Duration::from_millis(10));
            waited += time;
            if waited > MAX_WAIT {
                return Err(error);
            }
            tokio::time::sleep(time).await;
        }
    }

    /// Fails if the network reports that enough of a budget is used.
    async fn check_usage(&self) -> Result<()> {
        let used = self.usage.latest();
        if u32::from(used.app) >= QUOTA_SHARE {
            let time = used.available_in.unwrap_or(USED_UP_DELAY);
            self.cx.limits.block(&self.app, time).await;
            return Err(wait("the app's share is used up", time));
        }
        if used.account >= ACCOUNT_SHARE {
            return Err(wait(
                "the account's share is used up",
                used.available_in.unwrap_or(USED_UP_DELAY),
            ));
        }
        Ok(())
    }
}

#[async_trait]
impl CallBudget for Permits<'_> {
    async fn acquire(&self) -> Result<()> {
        if (self.is_busy)() {
            return Err(wait("posts come first", BUSY_DELAY));
        }
        self.check_usage().await?;
        let took = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if took.is_err() {
            return Err(wait("the calls of this turn are used up", Duration::ZERO));
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
    Error::new(ErrorKind::RateLimited, format!("Reading waits: {why}."))
        .with_retry_after(Some(time))
}

/// Returns the name of an account's app in the rate limits.
fn app_name(row: &account::Model, session: &Session) -> String {
    let place = if row.sandbox { ":sandbox" } else { "" };
    let platform = row.platform.parse::<PlatformId>().ok();
    let app = platform.and_then(|platform| find(platform).app(&session.account));
    format!("app:{}{place}:{}", row.platform, app.as_deref().unwrap_or("own"))
}
