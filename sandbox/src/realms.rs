//! Realms: each workspace has its own set of networks, with separate accounts and posts.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, RwLock};

use crate::any_network::AnyNetwork;
use crate::env::{Env, read, write};
use crate::network::Network;
use crate::sim::Sim;

/// The realm of accounts that belong to no workspace.
pub(crate) const SHARED: &str = "shared";
/// The longest name of a realm.
const NAME_MAX: usize = 64;

type Start = fn(&Arc<Env>, &str) -> Arc<dyn AnyNetwork>;

/// All networks, one per line.
const NETWORKS: &[(&str, Start)] = &[
    line::<crate::bluesky::Bluesky>(),
    line::<crate::devto::Devto>(),
    line::<crate::discord::Discord>(),
    line::<crate::google_business::GoogleBusiness>(),
    line::<crate::hashnode::Hashnode>(),
    line::<crate::lemmy::Lemmy>(),
    line::<crate::mastodon::Mastodon>(),
    line::<crate::slack::Slack>(),
    line::<crate::facebook::Facebook>(),
    line::<crate::instagram::Instagram>(),
    line::<crate::linkedin::Linkedin>(),
    line::<crate::pinterest::Pinterest>(),
    line::<crate::telegram::Telegram>(),
    line::<crate::threads::Threads>(),
    line::<crate::tiktok::Tiktok>(),
    line::<crate::wordpress::WordPress>(),
    line::<crate::x::X>(),
    line::<crate::youtube::Youtube>(),
];

const fn line<N: Network>() -> (&'static str, Start) {
    (N::NAME, start::<N>)
}

fn start<N: Network>(env: &Arc<Env>, realm: &str) -> Arc<dyn AnyNetwork> {
    Arc::new(Sim::<N>::start(env, realm))
}

/// Returns the names of all networks, in order.
pub(crate) fn names() -> Vec<&'static str> {
    NETWORKS.iter().map(|(name, _)| *name).collect()
}

/// Returns true if a text can be the name of a realm.
pub(crate) fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=NAME_MAX).contains(&text.len()) && text.chars().all(allowed)
}

type Realm = BTreeMap<&'static str, Arc<dyn AnyNetwork>>;

/// All realms, with the networks that have had an account in them.
#[derive(Default)]
pub(crate) struct Realms(RwLock<HashMap<String, Realm>>);

impl Realms {
    /// Returns a network of a realm, if an account was ever created there.
    pub fn find(&self, realm: &str, network: &str) -> Option<Arc<dyn AnyNetwork>> {
        read(&self.0).get(realm)?.get(network).cloned()
    }

    /// Returns a network of a realm, which is started if necessary; `None` if there is no network of that name.
    pub fn open(&self, env: &Arc<Env>, realm: &str, network: &str) -> Option<Arc<dyn AnyNetwork>> {
        if let Some(found) = self.find(realm, network) {
            return Some(found);
        }
        let (name, start) = NETWORKS.iter().find(|(name, _)| *name == network)?;
        let mut realms = write(&self.0);
        let networks = realms.entry(realm.to_owned()).or_default();
        Some(Arc::clone(networks.entry(name).or_insert_with(|| start(env, realm))))
    }

    /// Returns the networks of a realm; empty if there is no such realm.
    pub fn networks(&self, realm: &str) -> Vec<Arc<dyn AnyNetwork>> {
        read(&self.0).get(realm).into_iter().flat_map(BTreeMap::values).cloned().collect()
    }

    /// Returns the networks of this name in all realms.
    pub fn in_all_realms(&self, network: &str) -> Vec<Arc<dyn AnyNetwork>> {
        read(&self.0).values().filter_map(|networks| networks.get(network)).cloned().collect()
    }
}
