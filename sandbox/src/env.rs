//! State shared by all networks: the clock, the base address, the settings, the journal.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::fetch::Crawler;
use crate::journal::{Journal, NewLine, StoredLine};
use crate::meta_webhooks::MetaWebhooks;
use crate::realms::Realms;

/// The default address of the sandbox.
const DEFAULT_BASE: &str = "http://127.0.0.1:8081";

/// The name in the journal, instead of a network's, for addresses of [`Env::allow_redirect`].
const REDIRECTS: &str = "_redirects";

/// The name in the journal, instead of a network's, for the clock of a realm.
const CLOCKS: &str = "_clocks";

/// State that all networks share.
pub(crate) struct Env {
    base: RwLock<Arc<str>>,
    pages: RwLock<Option<Arc<str>>>,
    /// The registered redirect addresses of apps.
    redirects: RwLock<BTreeSet<String>>,
    processing_ms: AtomicU64,
    rate_limits: AtomicBool,
    clock_offset_ms: AtomicI64,
    /// The time by which the clocks of realms are ahead of the sandbox's, in milliseconds.
    realm_clocks: RwLock<HashMap<String, i64>>,
    last_unique: AtomicU64,
    pub journal: Journal,
    pub crawler: Crawler,
    pub meta_webhooks: MetaWebhooks,
    /// Ends all delayed replies when the server stops.
    pub closing: CancellationToken,
}

/// The fields that `PUT /_control/settings` changes; absent fields stay as they are.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The time for which media are processed, in milliseconds.
    pub processing_ms: Option<u64>,
    /// True if the platforms' rate limits (messages per second, posts per day) are enforced.
    pub rate_limits: Option<bool>,
    /// The time by which the sandbox's clock is ahead of the machine's, in milliseconds.
    pub clock_offset_ms: Option<i64>,
}

impl Env {
    pub fn new(journal: Journal, crawler: Crawler, hooks: MetaWebhooks) -> Self {
        Self {
            base: RwLock::new(Arc::from(DEFAULT_BASE)),
            pages: RwLock::default(),
            redirects: RwLock::default(),
            processing_ms: AtomicU64::new(300),
            rate_limits: AtomicBool::new(false),
            clock_offset_ms: AtomicI64::new(0),
            realm_clocks: RwLock::default(),
            last_unique: AtomicU64::new(0),
            journal,
            crawler,
            meta_webhooks: hooks,
            closing: CancellationToken::new(),
        }
    }

    pub fn set_base(&self, base: &str) {
        *write(&self.base) = Arc::from(base);
    }

    /// Returns the address by which programs reach the simulator, without a trailing slash.
    pub fn base(&self) -> Arc<str> {
        read(&self.base).clone()
    }

    pub fn set_pages(&self, pages: &str) {
        *write(&self.pages) = Some(Arc::from(pages));
    }

    /// Returns the address by which people reach the pages, without a trailing slash.
    pub fn pages(&self) -> Arc<str> {
        read(&self.pages).clone().unwrap_or_else(|| self.base())
    }

    /// Registers a redirect address for apps.
    pub fn allow_redirect(&self, redirect_uri: &str) {
        if write(&self.redirects).insert(redirect_uri.to_owned()) {
            let entry = redirect_uri;
            self.journal.push(&NewLine { realm: "", network: REDIRECTS, account: "", entry });
        }
    }

    /// Returns true if the redirect address is registered.
    pub fn may_redirect(&self, redirect_uri: &str) -> bool {
        read(&self.redirects).contains(redirect_uri)
    }

    /// Replays a change from the journal.
    pub fn replay(self: &Arc<Self>, realms: &Realms, line: StoredLine) -> Result<(), String> {
        if line.network == REDIRECTS {
            let redirect_uri = line.entry.as_str().ok_or("a redirect address is a text")?;
            write(&self.redirects).insert(redirect_uri.to_owned());
            return Ok(());
        }
        if line.network == CLOCKS {
            let ahead_ms = line.entry.as_i64().ok_or("a clock is a number")?;
            write(&self.realm_clocks).insert(line.realm, ahead_ms);
            return Ok(());
        }
        let network = realms.open(self, &line.realm, &line.network);
        let network = network.ok_or_else(|| format!("there is no network {:?}", line.network))?;
        network.replay(&line.account, line.entry).map_err(|error| error.to_string())
    }

    /// Sets how far the clock of a realm is ahead of the sandbox's, in milliseconds.
    pub fn set_ahead(&self, realm: &str, ahead_ms: i64) {
        let mut clocks = write(&self.realm_clocks);
        let (network, entry) = (CLOCKS, &ahead_ms);
        self.journal.push(&NewLine { realm, network, account: "", entry });
        clocks.insert(realm.to_owned(), ahead_ms);
    }

    /// Returns how far the clock of a realm is ahead of the sandbox's, in milliseconds.
    pub fn ahead_ms(&self, realm: &str) -> i64 {
        read(&self.realm_clocks).get(realm).copied().unwrap_or(0)
    }

    pub fn set_processing(&self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.processing_ms.store(ms, Ordering::Relaxed);
    }

    /// Returns how long media are processed, in milliseconds.
    pub fn processing_ms(&self) -> i64 {
        i64::try_from(self.processing_ms.load(Ordering::Relaxed)).unwrap_or(i64::MAX)
    }

    /// Returns true if rate limits that a load test would exceed are enforced.
    pub fn rate_limits(&self) -> bool {
        self.rate_limits.load(Ordering::Relaxed)
    }

    pub fn settings(&self) -> Settings {
        Settings {
            processing_ms: Some(self.processing_ms.load(Ordering::Relaxed)),
            rate_limits: Some(self.rate_limits()),
            clock_offset_ms: Some(self.clock_offset_ms.load(Ordering::Relaxed)),
        }
    }

    pub fn change_settings(&self, new: &Settings) {
        if let Some(ms) = new.processing_ms {
            self.processing_ms.store(ms, Ordering::Relaxed);
        }
        if let Some(on) = new.rate_limits {
            self.rate_limits.store(on, Ordering::Relaxed);
        }
        if let Some(ms) = new.clock_offset_ms {
            self.clock_offset_ms.store(ms, Ordering::Relaxed);
        }
    }

    fn now_us(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let us = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
        us + self.clock_offset_ms.load(Ordering::Relaxed) * 1_000
    }

    /// Returns the sandbox's time in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.now_us() / 1_000
    }

    /// Returns a number that grows with time (microseconds) and is never returned twice, even after a restart.
    pub fn unique_number(&self) -> u64 {
        let now = u64::try_from(self.now_us()).unwrap_or(0);
        let grow = |last: u64| Some(now.max(last + 1));
        let before = self.last_unique.fetch_update(Ordering::AcqRel, Ordering::Acquire, grow);
        now.max(before.unwrap_or_else(|last| last) + 1)
    }
}

/// Formats a time in milliseconds as RFC 3339 with milliseconds and `Z`.
pub(crate) fn rfc3339(ms: i64) -> String {
    utc(ms).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Converts a time in milliseconds to a date and time.
pub(crate) fn utc(ms: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(ms).unwrap_or_default()
}

/// Locks a mutex, even if a holder panicked.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for reading.
pub(crate) fn read<T: ?Sized>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for writing.
pub(crate) fn write<T: ?Sized>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
