//! A network behind one face, whatever its types: what the control API, the pages and the journal need of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::BoxFuture;
use salvo::conn::ConnCtrl;
use salvo::http::Response;
use serde_json::{Map, Value};

use crate::door::Incoming;
use crate::env::{lock, write};
use crate::fake_names;
use crate::faults::{Fault, Faults, Kind};
use crate::gate::Gate;
use crate::network::{Elsewhere, Name, Network, Post};
use crate::numbers;
use crate::sim::{Entry, Listed, LoggedCall, NotMade, Sim, keys};

/// A network without its type, as the control API and the pages see it.
pub(crate) trait Simulated: Send + Sync {
    fn name(&self) -> &'static str;
    /// Its own address.
    fn base(&self) -> String;
    /// Answers a request to it.
    fn serve<'a>(
        &self,
        incoming: Incoming<'a>,
        connection: &'a ConnCtrl,
        res: &'a mut Response,
    ) -> BoxFuture<'a, ()>;
    /// Makes an account and gives its credentials, this once.
    fn create(&self, username: Option<&str>) -> Result<(Listed, Map<String, Value>), NotMade>;
    fn remove(&self, remote_id: &str) -> bool;
    fn accounts(&self) -> Vec<Listed>;
    fn posts(&self, remote_id: &str) -> Option<(Listed, Vec<Post>)>;
    fn set_faults(&self, remote_id: &str, faults: Vec<Fault>) -> bool;
    fn calls(&self, remote_id: &str) -> Option<Vec<LoggedCall>>;
    /// Sets numbers. `false` if there is no such account.
    fn count(&self, remote_id: &str, change: numbers::Change) -> bool;
    /// Lets a person post; the id of the post.
    fn post_elsewhere(&self, remote_id: &str, new: &Elsewhere) -> Option<String>;
    /// Lets a person delete a post. `false` if there is none.
    fn delete_post(&self, remote_id: &str, id: &str) -> bool;
    fn replay(&self, account: &str, entry: Value) -> Result<(), serde_json::Error>;
}

impl<N: Network> Simulated for Arc<Sim<N>> {
    fn name(&self) -> &'static str {
        N::NAME
    }

    fn base(&self) -> String {
        Sim::base(self)
    }

    fn serve<'a>(
        &self,
        incoming: Incoming<'a>,
        connection: &'a ConnCtrl,
        res: &'a mut Response,
    ) -> BoxFuture<'a, ()> {
        let gate = Gate(Arc::clone(self));
        Box::pin(async move { gate.serve(incoming, connection, res).await })
    }

    fn create(&self, username: Option<&str>) -> Result<(Listed, Map<String, Value>), NotMade> {
        let mut accounts = write(&self.accounts);
        let mut nth = self.born.load(Ordering::Relaxed);
        loop {
            let (first, second) = fake_names::name(nth);
            let name = username.map_or(Name::Made(&first, &second), Name::Asked);
            let identity = N::birth(&self.env, &name).map_err(NotMade::Invalid)?;
            let taken = accounts.by_id.contains_key(&identity.remote_id)
                || keys::<N>(&identity).iter().any(|key| accounts.by_key.contains_key(key));
            if taken && username.is_some() {
                return Err(NotMade::Taken);
            }
            if taken {
                nth += 1;
                continue;
            }
            let credentials = N::credentials(&identity, &self.base());
            self.note(&identity.remote_id, &Entry::Born(identity.clone()));
            return Ok((self.admit(&mut accounts, identity).listed(self.realm()), credentials));
        }
    }

    fn remove(&self, remote_id: &str) -> bool {
        let Some(account) = self.find(remote_id) else {
            return false;
        };
        let remote_id = &account.identity.remote_id;
        let gone = self.forget(remote_id);
        if gone {
            self.note(remote_id, &Entry::Gone);
        }
        gone
    }

    fn accounts(&self) -> Vec<Listed> {
        self.all().iter().map(|account| account.listed(self.realm())).collect()
    }

    fn posts(&self, remote_id: &str) -> Option<(Listed, Vec<Post>)> {
        let account = self.find(remote_id)?;
        let mut posts = account.look(|state| N::posts(state, &account.identity, &self.pages()));
        posts.retain(|post| N::is_of(post, remote_id));
        Some((account.listed(self.realm()), posts))
    }

    fn set_faults(&self, remote_id: &str, faults: Vec<Fault>) -> bool {
        let Some(account) = self.find(remote_id) else {
            return false;
        };
        if !faults.iter().any(|fault| fault.kind == Kind::TokenExpired) {
            self.expire(&account, false);
        }
        *lock(&account.faults) = Faults::new(faults);
        true
    }

    fn calls(&self, remote_id: &str) -> Option<Vec<LoggedCall>> {
        let account = self.find(remote_id)?;
        Some(lock(&account.calls).iter().cloned().collect())
    }

    fn count(&self, remote_id: &str, change: numbers::Change) -> bool {
        let Some(account) = self.find(remote_id) else {
            return false;
        };
        let mut numbers = lock(&account.numbers);
        self.note(&account.identity.remote_id, &Entry::Counted(change.clone()));
        numbers.apply(change);
        true
    }

    fn post_elsewhere(&self, remote_id: &str, new: &Elsewhere) -> Option<String> {
        let account = self.find(remote_id)?;
        let ids = |state: &N::State| {
            let posts = N::posts(state, &account.identity, &self.pages()).into_iter();
            posts.filter(|post| N::is_of(post, remote_id)).map(|post| post.id).collect::<Vec<_>>()
        };
        let before = account.look(ids);
        let change = N::elsewhere(&account.identity, new)?;
        self.make(&account, change);
        account.look(ids).into_iter().find(|id| !before.contains(id))
    }

    fn delete_post(&self, remote_id: &str, id: &str) -> bool {
        let Some(account) = self.find(remote_id) else {
            return false;
        };
        let Some(change) = account.look(|state| N::delete(state, id)) else {
            return false;
        };
        self.make(&account, change);
        true
    }

    fn replay(&self, account: &str, entry: Value) -> Result<(), serde_json::Error> {
        match serde_json::from_value(entry)? {
            Entry::Born(identity) => {
                self.admit(&mut write(&self.accounts), identity);
            }
            Entry::Gone => {
                self.forget(account);
            }
            Entry::Counted(change) => {
                if let Some(account) = self.account(account) {
                    lock(&account.numbers).apply(change);
                }
            }
            Entry::Changed(change) => {
                if let Some(account) = self.account(account) {
                    N::apply(&mut lock(&account.state), &account.identity, change);
                }
            }
        }
        Ok(())
    }
}
