//! A running network: its accounts, their state, and the changes of the state, which go through the journal.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use serde::{Deserialize, Serialize};

use crate::behaviour::{Behaviour, Played};
use crate::consent_page::Codes;
use crate::env::{Env, lock, read, rfc3339, write};
use crate::faults::{Fault, Faults, Phase};
use crate::journal::NewLine;
use crate::metrics::{self, MetricSubject, MetricValue, Metrics};
use crate::network::{Identity, Network};
use crate::rate_limit::{Limit, LimitDecision, RateLimits};
use crate::reply::Reply;

/// The number of calls of an account that the log keeps.
const CALLS: usize = 1_000;

/// A network with its accounts.
pub(crate) struct Sim<N: Network> {
    pub env: Arc<Env>,
    realm: String,
    pub(crate) accounts: RwLock<Accounts<N>>,
    shared_state: Arc<Mutex<N::State>>,
    pub(crate) created_count: AtomicUsize,
    /// Authorization codes that its consent page issued.
    pub codes: Codes,
}

pub(crate) struct Accounts<N: Network> {
    pub by_id: HashMap<String, Arc<Account<N>>>,
    pub by_key: HashMap<String, Arc<Account<N>>>,
}

/// One account of a network.
pub(crate) struct Account<N: Network> {
    pub identity: Identity,
    pub state: Arc<Mutex<N::State>>,
    /// Metrics of the account and its posts.
    pub metrics: Mutex<Metrics>,
    pub faults: Mutex<Faults>,
    /// The fault of the current call that its handler plays itself.
    played: Mutex<Option<Fault>>,
    /// How its network behaves besides.
    pub behaviour: Mutex<Behaviour>,
    /// The events so far because of that.
    pub course: Mutex<Played>,
    pub calls: Mutex<VecDeque<LoggedCall>>,
    /// The permissions that its user gave last; `None` before the first login, when its tokens have all.
    pub permissions: Mutex<Option<Vec<String>>>,
    rate_limits: Mutex<RateLimits>,
    order: usize,
}

/// A call as `GET /_control/{platform}/calls` shows it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LoggedCall {
    pub method: &'static str,
    pub path: String,
    pub phase: Phase,
    /// The status of the response; null when the connection was closed instead.
    pub status: Option<u16>,
    #[serde(rename = "at", serialize_with = "as_time")]
    pub at_ms: i64,
}

fn as_time<S: serde::Serializer>(ms: &i64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&rfc3339(*ms))
}

/// An account's entry in the journal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry<C> {
    Born(Identity),
    Changed(C),
    Counted(metrics::Change),
    Gone,
}

/// An account as the control API lists it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ListedAccount {
    pub platform: &'static str,
    pub realm: String,
    pub username: String,
    pub remote_id: String,
    pub created_at: String,
}

/// Why an account was not created.
#[derive(Debug)]
pub(crate) enum CreateError {
    /// The name breaks the network's rules.
    Invalid(String),
    /// The name is taken.
    Taken,
}

impl<N: Network> Account<N> {
    /// Reads the state.
    pub fn read<R>(&self, look: impl FnOnce(&N::State) -> R) -> R {
        look(&lock(&self.state))
    }

    /// Returns the value of a metric.
    pub fn metric(&self, of: MetricSubject<'_>, name: &str) -> Option<MetricValue> {
        lock(&self.metrics).get(of, name)
    }

    /// Returns the value of a metric, if it is a number.
    pub fn metric_number(&self, of: MetricSubject<'_>, name: &str) -> Option<i64> {
        lock(&self.metrics).number(of, name)
    }

    /// Removes and returns the next fault for a call of this phase. One that the handler plays, in whole or in part, is set
    /// aside for it.
    pub fn take_fault(&self, phase: Phase) -> Option<Fault> {
        let fault = lock(&self.faults).take(phase)?;
        if fault.effect.is_some() || fault.later.is_some() {
            *lock(&self.played) = Some(fault.clone());
        }
        Some(fault).filter(|fault| fault.effect.is_none())
    }

    /// Removes and returns the fault of this call that its handler plays.
    pub fn take_played(&self) -> Option<Fault> {
        lock(&self.played).take()
    }

    /// Takes `cost` units of a limit.
    pub fn take_units(&self, limit: Limit, cost: u32, now_ms: i64) -> LimitDecision {
        lock(&self.rate_limits).take(limit, cost, now_ms)
    }

    /// Stores the permissions that its user gives. Like authorization codes, they do not survive a restart.
    pub fn permit(&self, scope: &str) {
        let names = scope.split([',', ' ', '+']).filter(|name| !name.is_empty());
        *lock(&self.permissions) = Some(names.map(str::to_owned).collect());
    }

    /// Returns the permissions that its user gave.
    pub fn permissions(&self) -> Option<Vec<String>> {
        lock(&self.permissions).clone()
    }

    /// Returns how its network behaves.
    pub fn behaviour(&self) -> Behaviour {
        lock(&self.behaviour).clone()
    }

    /// Returns true if others than its author see a post.
    pub fn is_for_others(&self, id: &str) -> bool {
        lock(&self.course).is_for_others(id)
    }

    pub fn log(&self, call: LoggedCall) {
        let mut calls = lock(&self.calls);
        if calls.len() == CALLS {
            calls.pop_front();
        }
        calls.push_back(call);
    }

    /// Returns it as the control API lists it.
    pub fn listed(&self, realm: &str) -> ListedAccount {
        ListedAccount {
            platform: N::NAME,
            realm: realm.to_owned(),
            username: self.identity.username.clone(),
            remote_id: self.identity.remote_id.clone(),
            created_at: rfc3339(self.identity.created_ms),
        }
    }
}

impl<N: Network> Sim<N> {
    pub fn start(env: &Arc<Env>, realm: &str) -> Arc<Self> {
        let accounts = Accounts { by_id: HashMap::new(), by_key: HashMap::new() };
        Arc::new(Self {
            env: Arc::clone(env),
            realm: realm.to_owned(),
            accounts: RwLock::new(accounts),
            shared_state: Arc::default(),
            created_count: AtomicUsize::new(0),
            codes: Codes::default(),
        })
    }

    /// Returns the network's own address, such as `http://127.0.0.1:8081/8d5f…/bluesky`.
    pub fn base(&self) -> String {
        format!("{}/{}/{}", self.env.base(), self.realm, N::NAME)
    }

    /// Returns the address of an account's picture.
    pub fn picture(&self, remote_id: &str) -> String {
        format!("{}/ui/{remote_id}/picture.png", self.base())
    }

    /// Returns the address of the network's pages for people.
    pub fn pages(&self) -> String {
        format!("{}/{}/{}", self.env.pages(), self.realm, N::NAME)
    }

    /// Returns its realm.
    pub fn realm(&self) -> &str {
        &self.realm
    }

    /// Returns the time of the networks of this realm, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.env.now_ms() + self.env.ahead_ms(&self.realm)
    }

    /// Returns the account with this remote id.
    pub fn account(&self, remote_id: &str) -> Option<Arc<Account<N>>> {
        read(&self.accounts).by_id.get(remote_id).cloned()
    }

    /// Returns the account with this remote id or one of [`Network::keys`].
    pub fn find(&self, key: &str) -> Option<Arc<Account<N>>> {
        let accounts = read(&self.accounts);
        accounts.by_key.get(key).or_else(|| accounts.by_id.get(N::plain_remote_id(key))).cloned()
    }

    /// Reads the state that all accounts share.
    pub fn read_shared<R>(&self, look: impl FnOnce(&N::State) -> R) -> R {
        look(&lock(&self.shared_state))
    }

    /// Returns all accounts, in the order of their creation.
    pub fn all(&self) -> Vec<Arc<Account<N>>> {
        let mut all: Vec<_> = read(&self.accounts).by_id.values().cloned().collect();
        all.sort_by_key(|account| account.order);
        all
    }

    /// Lets `decide` read the account's state and return a change, then writes it to the journal and applies it, all
    /// atomically.
    pub fn change<R>(
        &self,
        account: &Account<N>,
        decide: impl FnOnce(&N::State) -> Result<(N::Change, R), Reply>,
    ) -> Result<R, Reply> {
        let mut state = lock(&account.state);
        let (change, result) = decide(&state)?;
        self.record(&account.identity.remote_id, &Entry::Changed(&change));
        N::apply(&mut state, &account.identity, change);
        Ok(result)
    }

    /// Like [`Self::change`], with several changes and without refusals.
    pub fn change_all<R>(
        &self,
        account: &Account<N>,
        decide: impl FnOnce(&N::State) -> (Vec<N::Change>, R),
    ) -> R {
        let mut state = lock(&account.state);
        let (changes, result) = decide(&state);
        for change in changes {
            self.record(&account.identity.remote_id, &Entry::Changed(&change));
            N::apply(&mut state, &account.identity, change);
        }
        result
    }

    /// Applies a change without a decision.
    pub fn apply(&self, account: &Account<N>, change: N::Change) {
        // The closure never refuses.
        let _never_refused = self.change(account, |_| Ok((change, ())));
    }

    /// Writes an entry to the journal.
    pub fn record(&self, account: &str, entry: &Entry<&N::Change>) {
        self.env.journal.push(&NewLine { realm: &self.realm, network: N::NAME, account, entry });
    }

    /// Adds a new account.
    pub fn add_account(&self, accounts: &mut Accounts<N>, identity: Identity) -> Arc<Account<N>> {
        let state = if N::SHARES_STATE { Arc::clone(&self.shared_state) } else { Arc::default() };
        let keys = keys::<N>(&identity);
        let account = Arc::new(Account {
            state,
            metrics: Mutex::default(),
            faults: Mutex::default(),
            played: Mutex::default(),
            behaviour: Mutex::default(),
            course: Mutex::default(),
            calls: Mutex::default(),
            permissions: Mutex::default(),
            rate_limits: Mutex::default(),
            order: self.created_count.fetch_add(1, Ordering::Relaxed),
            identity,
        });
        for key in keys {
            accounts.by_key.insert(key, Arc::clone(&account));
        }
        accounts.by_id.insert(account.identity.remote_id.clone(), Arc::clone(&account));
        account
    }

    /// Removes an account. Returns `false` if there is none.
    pub fn remove_account(&self, remote_id: &str) -> bool {
        let mut accounts = write(&self.accounts);
        let Some(account) = accounts.by_id.remove(remote_id) else {
            return false;
        };
        accounts.by_key.retain(|_, other| !Arc::ptr_eq(other, &account));
        true
    }

    /// Makes the account's first tokens valid again.
    pub fn revive(&self, account: &Account<N>) {
        *lock(&account.permissions) = None;
        if let Some(change) = N::revival() {
            self.apply(account, change);
        }
    }

    /// Expires the account's token, or makes it valid again.
    pub fn expire(&self, account: &Account<N>, expired: bool) {
        if let Some(change) = N::token_change(expired) {
            self.apply(account, change);
        }
    }
}

/// Returns all unique keys of an account besides its remote id, including its name.
pub(crate) fn keys<N: Network>(identity: &Identity) -> Vec<String> {
    let mut keys = N::keys(identity);
    keys.push(format!("name:{}", identity.username));
    keys
}
