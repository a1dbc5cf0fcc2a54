//! A network without its type parameters, for the control API, the pages and the journal.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::BoxFuture;
use salvo::conn::ConnCtrl;
use salvo::http::Response;
use serde_json::{Map, Value};

use crate::door::Incoming;
use crate::elsewhere::Elsewhere;
use crate::env::{lock, write};
use crate::fake_names;
use crate::faults::{Fault, Faults, Kind};
use crate::gate::Gate;
use crate::mailbox::{self, Item, ItemChanges, NewItem, Verb};
use crate::network::{Name, Network, Post};
use crate::numbers;
use crate::sim::{Account, Entry, Listed, LoggedCall, NotMade, Sim, keys};

/// An object-safe view of a network.
pub(crate) trait Simulated: Send + Sync {
    fn name(&self) -> &'static str;
    /// Returns its own address.
    fn base(&self) -> String;
    /// Answers a request to it.
    fn serve<'a>(
        &self,
        incoming: Incoming<'a>,
        connection: &'a ConnCtrl,
        res: &'a mut Response,
    ) -> BoxFuture<'a, ()>;
    /// Creates an account and returns its credentials, which are never returned again.
    fn create(&self, username: Option<&str>) -> Result<(Listed, Map<String, Value>), NotMade>;
    fn remove(&self, remote_id: &str) -> bool;
    fn accounts(&self) -> Vec<Listed>;
    fn posts(&self, remote_id: &str) -> Option<(Listed, Vec<Post>)>;
    /// Creates an item of another user; returns its id.
    fn receive(&self, new: NewItem) -> Option<Result<String, String>>;
    /// Returns messages, comments and reviews, oldest first.
    fn inbox(&self, remote_id: &str) -> Option<Vec<Value>>;
    /// Sets the network's review decisions on replies and videos. `false` if it has no reviews.
    fn decide(&self, remote_id: &str, rejects: Option<bool>, video_ms: Option<i64>)
    -> Option<bool>;
    /// Changes or deletes an item, as its author would.
    fn change_item(
        &self,
        remote_id: &str,
        id: &str,
        changes: Option<ItemChanges>,
    ) -> Option<Result<Value, String>>;
    fn set_faults(&self, remote_id: &str, faults: Vec<Fault>) -> bool;
    fn calls(&self, remote_id: &str) -> Option<Vec<LoggedCall>>;
    /// Sets metrics. `false` if there is no such account.
    fn count(&self, remote_id: &str, change: numbers::Change) -> bool;
    /// Creates a post as a user does on the network; returns its id, or `None` if there is no such account.
    fn post_elsewhere(&self, new: &Elsewhere) -> Option<String>;
    /// Deletes a post as a user does on the network. `false` if there is none.
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

    fn receive(&self, new: NewItem) -> Option<Result<String, String>> {
        let account = self.find(&new.remote_id)?;
        Some(receive(self, &account, &new))
    }

    fn inbox(&self, remote_id: &str) -> Option<Vec<Value>> {
        let account = self.find(remote_id)?;
        let mut items = account.look(|state| {
            let held = N::mailbox(state).map(|mail| mail.all()).unwrap_or_default();
            let own = N::own_mail(state, &account.identity);
            held.into_iter().cloned().chain(own).collect::<Vec<Item>>()
        });
        items.sort_by_key(|item| item.at_ms);
        Some(items.iter().map(Item::shown).collect())
    }

    fn decide(
        &self,
        remote_id: &str,
        rejects: Option<bool>,
        video_ms: Option<i64>,
    ) -> Option<bool> {
        let account = self.find(remote_id)?;
        let change = account.look(|state| N::decide(rejects, video_ms, state));
        let decides = change.is_some();
        if let Some(change) = change {
            self.make(&account, change);
        }
        Some(decides)
    }

    fn change_item(
        &self,
        remote_id: &str,
        id: &str,
        changes: Option<ItemChanges>,
    ) -> Option<Result<Value, String>> {
        let account = self.find(remote_id)?;
        Some(change_item(self, &account, id, changes))
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

    fn post_elsewhere(&self, new: &Elsewhere) -> Option<String> {
        let account = self.find(&new.remote_id)?;
        Some(self.change_all(&account, |state| N::elsewhere(state, &account.identity, new)))
    }

    fn delete_post(&self, remote_id: &str, id: &str) -> bool {
        let Some(account) = self.find(remote_id) else {
            return false;
        };
        self.change_all(&account, |state| {
            let posts = N::posts(state, &account.identity, &self.pages());
            let is_there = posts.iter().any(|post| post.id == id && N::is_of(post, remote_id));
            (if is_there { N::delete(state, id) } else { Vec::new() }, is_there)
        })
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

fn receive<N: Network>(
    sim: &Arc<Sim<N>>,
    account: &Account<N>,
    new: &NewItem,
) -> Result<String, String> {
    let now_ms = sim.env.now_ms();
    let at_ms = match &new.created_at {
        None => now_ms,
        Some(text) => chrono::DateTime::parse_from_rfc3339(text)
            .map_err(|_| "created_at is not a time")?
            .timestamp_millis(),
    };
    let unique = sim.env.unique();
    let (id, post) = account.look(|state| N::mail_id(unique, state, &account.identity, new))?;
    let author = new.author();
    let item = Item {
        id: id.clone(),
        kind: new.kind,
        at_ms,
        with: (new.kind == mailbox::Kind::Message).then(|| author.clone()),
        author,
        own: false,
        text: new.text.clone(),
        post,
        parent: new.parent_id.clone(),
        attachments: new.attachments.clone(),
        rating: new.rating,
        hidden: false,
        deleted: false,
        private_reply: false,
        metadata: None,
    };
    let change = N::mail(mailbox::Change::Put(Box::new(item.clone())));
    sim.make(account, change.ok_or("this network has no inbox here")?);
    tell(sim, account, &item, Verb::Add);
    Ok(id)
}

fn change_item<N: Network>(
    sim: &Arc<Sim<N>>,
    account: &Account<N>,
    id: &str,
    changes: Option<ItemChanges>,
) -> Result<Value, String> {
    let find = || account.look(|state| N::mailbox(state)?.get(id).cloned());
    let before = find().ok_or("there is no such item")?;
    let mut steps = Vec::new();
    match changes {
        None => steps.push((mailbox::Change::Deleted { id: id.to_owned() }, Verb::Remove)),
        Some(changes) => {
            if changes.text.is_some() || changes.rating.is_some() {
                let (text, rating, at_ms) = (changes.text, changes.rating, sim.env.now_ms());
                let edited = mailbox::Change::Edited { id: id.to_owned(), text, rating, at_ms };
                steps.push((edited, Verb::Edit));
            }
            if let Some(hidden) = changes.hidden {
                let verb = if hidden { Verb::Hide } else { Verb::Unhide };
                steps.push((mailbox::Change::Hidden { id: id.to_owned(), hidden }, verb));
            }
        }
    }
    for (change, verb) in steps {
        sim.make(account, N::mail(change).ok_or("this network has no inbox here")?);
        tell(sim, account, &find().unwrap_or_else(|| before.clone()), verb);
    }
    Ok(find().unwrap_or(before).shown())
}

/// Delivers the webhook of an event, in the background.
fn tell<N: Network>(sim: &Arc<Sim<N>>, account: &Account<N>, item: &Item, verb: Verb) {
    let Some(body) = N::webhook(&account.identity, item, verb, sim.env.now_ms()) else { return };
    let env = Arc::clone(&sim.env);
    tokio::spawn(async move { env.hooks.deliver(N::NAME, &body).await });
}
