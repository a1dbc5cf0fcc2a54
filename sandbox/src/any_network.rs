//! A network without its type parameters, for the control API, the pages and the journal.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::BoxFuture;
use salvo::conn::ConnCtrl;
use salvo::http::Response;
use serde_json::{Map, Value};

use crate::behaviour::{Behaviour, Played};
use crate::env::{lock, write};
use crate::fake_names;
use crate::faults::{Fault, FaultKind, Faults};
use crate::mailbox::{self, Item, ItemChanges, ItemEvent, NewItem};
use crate::metrics;
use crate::native_post::NativePost;
use crate::network::{Network, NewName, Post};
use crate::network_handler::NetworkHandler;
use crate::random;
use crate::root_handler::NetworkRequest;
use crate::sim::{Account, CreateError, Entry, ListedAccount, LoggedCall, Sim, keys};
use crate::video_control::VideoControl;

/// An object-safe view of a network.
pub(crate) trait AnyNetwork: Send + Sync {
    fn name(&self) -> &'static str;
    /// Returns its own address.
    fn base(&self) -> String;
    /// Answers a request to it.
    fn serve<'a>(
        &self,
        incoming: NetworkRequest<'a>,
        connection: &'a ConnCtrl,
        res: &'a mut Response,
    ) -> BoxFuture<'a, ()>;
    /// Creates an account and returns its credentials, which are never returned again.
    fn create(
        &self,
        username: Option<&str>,
    ) -> Result<(ListedAccount, Map<String, Value>), CreateError>;
    /// Makes the token of one of these accounts valid again, the one with this name if one is asked for; returns its
    /// credentials.
    fn revive(
        &self,
        username: Option<&str>,
        remote_ids: &[String],
    ) -> Option<(ListedAccount, Map<String, Value>)>;
    fn remove(&self, remote_id: &str) -> bool;
    fn accounts(&self) -> Vec<ListedAccount>;
    fn posts(&self, remote_id: &str) -> Option<(ListedAccount, Vec<Post>)>;
    /// Creates an item of another user; returns its id.
    fn receive(&self, new: NewItem) -> Option<Result<String, String>>;
    /// Returns messages, comments and reviews, oldest first.
    fn inbox(&self, remote_id: &str) -> Option<Vec<Value>>;
    /// Sets the network's review decisions on replies and videos. `false` if it has no reviews.
    fn set_decisions(
        &self,
        remote_id: &str,
        rejects: Option<bool>,
        video_ms: Option<i64>,
    ) -> Option<bool>;
    /// Sets how videos of an account are taken. `false` if that cannot be set here.
    fn set_video(&self, remote_id: &str, control: VideoControl) -> Option<bool>;
    /// Changes or deletes an item, as its author would.
    fn change_item(
        &self,
        remote_id: &str,
        id: &str,
        changes: Option<ItemChanges>,
    ) -> Option<Result<Value, String>>;
    fn set_faults(&self, remote_id: &str, faults: Vec<Fault>) -> bool;
    /// Sets how the network behaves for an account. `false` if there is no such account.
    fn set_behaviour(&self, remote_id: &str, behaviour: Behaviour) -> bool;
    /// Returns the network's time for an account, in milliseconds since 1970; `None` without such an account.
    fn time_of(&self, remote_id: &str) -> Option<i64>;
    /// Returns the faults of an account that its next calls will meet; `None` without such an account.
    fn faults(&self, remote_id: &str) -> Option<Vec<Fault>>;
    fn calls(&self, remote_id: &str) -> Option<Vec<LoggedCall>>;
    /// Returns true if an account has a public post with this id.
    fn has_post(&self, remote_id: &str, id: &str) -> bool;
    /// Sets metrics. `false` if there is no such account.
    fn set_metrics(&self, remote_id: &str, change: metrics::Change) -> bool;
    /// Creates a post as a user does on the network; returns its id, or `None` if there is no such account.
    fn create_native_post(&self, new: &NativePost) -> Option<String>;
    /// Deletes a post as a user does on the network. `false` if there is none.
    fn delete_post(&self, remote_id: &str, id: &str) -> bool;
    fn replay(&self, account: &str, entry: Value) -> Result<(), serde_json::Error>;
}

impl<N: Network> AnyNetwork for Arc<Sim<N>> {
    fn name(&self) -> &'static str {
        N::NAME
    }

    fn base(&self) -> String {
        Sim::base(self)
    }

    fn serve<'a>(
        &self,
        incoming: NetworkRequest<'a>,
        connection: &'a ConnCtrl,
        res: &'a mut Response,
    ) -> BoxFuture<'a, ()> {
        let gate = NetworkHandler(Arc::clone(self));
        Box::pin(async move { gate.serve(incoming, connection, res).await })
    }

    fn create(
        &self,
        username: Option<&str>,
    ) -> Result<(ListedAccount, Map<String, Value>), CreateError> {
        let mut accounts = write(&self.accounts);
        let mut nth = self.created_count.load(Ordering::Relaxed);
        loop {
            let (first, second) = fake_names::name(nth);
            let name = username.map_or(NewName::Generated(&first, &second), NewName::Requested);
            let mut identity = N::new_identity(&self.env, &name).map_err(CreateError::Invalid)?;
            identity.created_ms = Sim::now_ms(self);
            let taken = accounts.by_id.contains_key(&identity.remote_id)
                || keys::<N>(&identity).iter().any(|key| accounts.by_key.contains_key(key));
            if taken && username.is_some() {
                return Err(CreateError::Taken);
            }
            if taken {
                nth += 1;
                continue;
            }
            let credentials = N::credentials(&identity, &self.base());
            self.record(&identity.remote_id, &Entry::Born(identity.clone()));
            return Ok((
                self.add_account(&mut accounts, identity).listed(self.realm()),
                credentials,
            ));
        }
    }

    fn revive(
        &self,
        username: Option<&str>,
        remote_ids: &[String],
    ) -> Option<(ListedAccount, Map<String, Value>)> {
        let asked = username.map(|name| N::new_identity(&self.env, &NewName::Requested(name)));
        let name = asked.transpose().ok()?.map(|identity| identity.username);
        let named = |account: &Arc<Account<N>>| {
            name.as_ref().is_none_or(|name| account.identity.username == *name)
        };
        let account = remote_ids.iter().filter_map(|id| self.find(id)).find(named)?;
        Sim::revive(self, &account);
        let credentials = N::credentials(&account.identity, &self.base());
        Some((account.listed(self.realm()), credentials))
    }

    fn remove(&self, remote_id: &str) -> bool {
        let Some(account) = self.find(remote_id) else {
            return false;
        };
        let remote_id = &account.identity.remote_id;
        let gone = self.remove_account(remote_id);
        if gone {
            self.record(remote_id, &Entry::Gone);
        }
        gone
    }

    fn accounts(&self) -> Vec<ListedAccount> {
        self.all().iter().map(|account| account.listed(self.realm())).collect()
    }

    fn posts(&self, remote_id: &str) -> Option<(ListedAccount, Vec<Post>)> {
        let account = self.find(remote_id)?;
        let mut posts = account.read(|state| N::posts(state, &account.identity, &self.pages()));
        posts.retain(|post| N::belongs_to(post, remote_id));
        Some((account.listed(self.realm()), posts))
    }

    fn receive(&self, new: NewItem) -> Option<Result<String, String>> {
        let account = self.find(&new.remote_id)?;
        Some(receive(self, &account, &new))
    }

    fn inbox(&self, remote_id: &str) -> Option<Vec<Value>> {
        let account = self.find(remote_id)?;
        let mut items = account.read(|state| {
            let held = N::mailbox(state).map(|mail| mail.all()).unwrap_or_default();
            let own = N::own_items(state, &account.identity);
            held.into_iter().cloned().chain(own).collect::<Vec<Item>>()
        });
        items.sort_by_key(|item| item.at_ms);
        Some(items.iter().map(Item::shown).collect())
    }

    fn set_decisions(
        &self,
        remote_id: &str,
        rejects: Option<bool>,
        video_ms: Option<i64>,
    ) -> Option<bool> {
        let account = self.find(remote_id)?;
        let change = account.read(|state| N::decide(rejects, video_ms, state));
        let decides = change.is_some();
        if let Some(change) = change {
            self.apply(&account, change);
        }
        Some(decides)
    }

    fn set_video(&self, remote_id: &str, control: VideoControl) -> Option<bool> {
        let account = self.find(remote_id)?;
        let change = N::video_change(control);
        let can = change.is_some();
        if let Some(change) = change {
            self.apply(&account, change);
        }
        Some(can)
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
        if !faults.iter().any(|fault| fault.kind == FaultKind::TokenExpired) {
            self.expire(&account, false);
        }
        *lock(&account.faults) = Faults::new(faults);
        true
    }

    fn set_behaviour(&self, remote_id: &str, behaviour: Behaviour) -> bool {
        let Some(account) = self.find(remote_id) else {
            return false;
        };
        *lock(&account.behaviour) = behaviour.of_network(N::NAME);
        *lock(&account.course) = Played::default();
        true
    }

    fn time_of(&self, remote_id: &str) -> Option<i64> {
        Some(Sim::now_ms(self) + self.find(remote_id)?.behaviour().clock_ms)
    }

    fn faults(&self, remote_id: &str) -> Option<Vec<Fault>> {
        Some(lock(&self.find(remote_id)?.faults).list())
    }

    fn calls(&self, remote_id: &str) -> Option<Vec<LoggedCall>> {
        let account = self.find(remote_id)?;
        Some(lock(&account.calls).iter().cloned().collect())
    }

    fn has_post(&self, remote_id: &str, id: &str) -> bool {
        let Some(account) = self.find(remote_id) else {
            return false;
        };
        let posts = account.read(|state| N::posts(state, &account.identity, &self.pages()));
        posts.iter().any(|post| post.id == id && N::belongs_to(post, remote_id))
    }

    fn set_metrics(&self, remote_id: &str, change: metrics::Change) -> bool {
        let Some(account) = self.find(remote_id) else {
            return false;
        };
        let mut numbers = lock(&account.metrics);
        self.record(&account.identity.remote_id, &Entry::Counted(change.clone()));
        numbers.apply(change);
        true
    }

    fn create_native_post(&self, new: &NativePost) -> Option<String> {
        let account = self.find(&new.remote_id)?;
        Some(self.change_all(&account, |state| N::native_post(state, &account.identity, new)))
    }

    fn delete_post(&self, remote_id: &str, id: &str) -> bool {
        let Some(account) = self.find(remote_id) else {
            return false;
        };
        self.change_all(&account, |state| {
            let posts = N::posts(state, &account.identity, &self.pages());
            let is_there = posts.iter().any(|post| post.id == id && N::belongs_to(post, remote_id));
            (if is_there { N::delete_post(state, id) } else { Vec::new() }, is_there)
        })
    }

    fn replay(&self, account: &str, entry: Value) -> Result<(), serde_json::Error> {
        match serde_json::from_value(entry)? {
            Entry::Born(identity) => {
                self.add_account(&mut write(&self.accounts), identity);
            }
            Entry::Gone => {
                self.remove_account(account);
            }
            Entry::Counted(change) => {
                if let Some(account) = self.account(account) {
                    lock(&account.metrics).apply(change);
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
    let now_ms = sim.now_ms();
    let at_ms = match &new.created_at {
        None => now_ms,
        Some(text) => chrono::DateTime::parse_from_rfc3339(text)
            .map_err(|_| "created_at is not a time")?
            .timestamp_millis(),
    };
    let unique = sim.env.unique_number();
    let ids = account.behaviour().ids;
    let (id, post) = account.read(|state| {
        let (id, post) = N::new_item_id(unique, state, &account.identity, new)?;
        let name = |post| N::other_name(state, &account.identity, &ids, post);
        Ok::<_, String>((id, post.map(name)))
    })?;
    let author = new.author();
    let item = Item {
        id: id.clone(),
        kind: new.kind,
        at_ms,
        with: (new.kind == mailbox::ItemKind::Message).then(|| author.clone()),
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
    let change = N::mailbox_change(mailbox::Change::Put(Box::new(item.clone())));
    sim.apply(account, change.ok_or("this network has no inbox here")?);
    deliver_webhook(sim, account, &item, ItemEvent::Add);
    Ok(id)
}

fn change_item<N: Network>(
    sim: &Arc<Sim<N>>,
    account: &Account<N>,
    id: &str,
    changes: Option<ItemChanges>,
) -> Result<Value, String> {
    let find = || account.read(|state| N::mailbox(state)?.get(id).cloned());
    let before = find().ok_or("there is no such item")?;
    let mut steps = Vec::new();
    match changes {
        None => steps.push((mailbox::Change::Deleted { id: id.to_owned() }, ItemEvent::Remove)),
        Some(changes) => {
            if changes.text.is_some() || changes.rating.is_some() {
                let (text, rating, at_ms) = (changes.text, changes.rating, sim.now_ms());
                let edited = mailbox::Change::Edited { id: id.to_owned(), text, rating, at_ms };
                steps.push((edited, ItemEvent::Edit));
            }
            if let Some(hidden) = changes.hidden {
                let verb = if hidden { ItemEvent::Hide } else { ItemEvent::Unhide };
                steps.push((mailbox::Change::Hidden { id: id.to_owned(), hidden }, verb));
            }
        }
    }
    for (change, verb) in steps {
        sim.apply(account, N::mailbox_change(change).ok_or("this network has no inbox here")?);
        deliver_webhook(sim, account, &find().unwrap_or_else(|| before.clone()), verb);
    }
    Ok(find().unwrap_or(before).shown())
}

/// Delivers the webhook of an event, in the background.
fn deliver_webhook<N: Network>(
    sim: &Arc<Sim<N>>,
    account: &Account<N>,
    item: &Item,
    verb: ItemEvent,
) {
    let Some(body) = N::webhook(&account.identity, item, verb, sim.now_ms()) else { return };
    let hooks = account.behaviour().hooks;
    if hooks.drop {
        return;
    }
    let late_ms = u64::from(hooks.late_ms);
    let late_ms = if hooks.shuffle { random::up_to(late_ms) } else { late_ms };
    let env = Arc::clone(&sim.env);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(late_ms)).await;
        for _ in 0..=u8::from(hooks.twice) {
            env.meta_webhooks.deliver(N::NAME, &body).await;
        }
    });
}
