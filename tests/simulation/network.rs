//! The simulated networks. Their record of what is public is the ground truth.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use fanfare_entities::Millis;
use fanfare_platforms::{Error, ErrorKind, Phase, PlatformId, RecoveryClass};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::{
    kind::Kind,
    lockstep::{Actor, Lockstep},
    replies,
};

/// A public post.
#[derive(Debug, Clone)]
pub struct Entry {
    pub id: String,
    pub account: String,
    /// Identifies the content, which only some networks see; nil for posts of others.
    pub key: Uuid,
    pub text: String,
    pub at: Millis,
}

/// The kind of a call to a network.
#[derive(Debug, Clone)]
pub enum CallKind {
    /// Prepare: create a container for a post.
    CreateContainer,
    /// Commit: publish a container.
    Release { container: String },
    /// Commit: publish a post.
    Post,
    /// Read a public post.
    Confirm { id: String },
    /// Look for the post of a commit call.
    Find { container: Option<String> },
}

impl CallKind {
    pub const fn phase(&self) -> Phase {
        match self {
            Self::CreateContainer => Phase::Prepare,
            Self::Release { .. } | Self::Post => Phase::Commit,
            Self::Confirm { .. } | Self::Find { .. } => Phase::Confirm,
        }
    }
}

/// A network's reply: the id of a post, or that there is none.
pub type Answer = Result<Option<String>, Error>;

/// A call in progress.
#[derive(Debug)]
pub struct Call {
    pub number: u64,
    pub actor: Actor,
    pub platform: PlatformId,
    pub account: String,
    pub key: Uuid,
    pub text: String,
    pub ask: CallKind,
    pub started: Millis,
    /// Its time-out, in ms.
    pub deadline: Millis,
    /// The earliest time of a reply.
    pub ready: Millis,
    /// True if its outcome is decided: it was carried out, or never will be.
    pub decided: bool,
    /// The reply that its worker will get.
    pub answer: Option<Answer>,
    /// The fencing token of its worker, if the lease was long enough at that time and the worker was not stopped since.
    pub shielded: Option<i64>,
    pub go: Option<oneshot::Sender<Answer>>,
}

/// The networks, shared by all workers.
#[derive(Debug)]
pub struct Network {
    kind: Kind,
    stage: Arc<Lockstep>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
pub struct Inner {
    pub now: Millis,
    pub entries: Vec<Entry>,
    containers: BTreeMap<String, Option<String>>,
    pub calls: Vec<Call>,
    numbers: u64,
}

thread_local! {
    static NETWORK: RefCell<Option<Arc<Network>>> = const { RefCell::new(None) };
}

impl Network {
    /// Creates the networks of the simulation on this thread.
    pub fn open(stage: Arc<Lockstep>, kind: Kind) -> Arc<Self> {
        let network = Arc::new(Self { kind, stage, inner: Mutex::default() });
        NETWORK.set(Some(Arc::clone(&network)));
        network
    }

    /// Returns the networks of the simulation on this thread.
    pub fn here() -> Arc<Self> {
        NETWORK.with_borrow(Clone::clone).expect("a simulation runs on this thread")
    }

    /// Makes a call, whose outcome is decided later.
    pub async fn call(
        &self,
        platform: PlatformId,
        account: &str,
        content: (Uuid, &str),
        ask: CallKind,
    ) -> Answer {
        let (go, answered) = oneshot::channel();
        let actor = self.stage.actor().expect("whoever calls runs");
        // A reply has no key of its own; networks know it by its row here.
        let key = match self.kind {
            Kind::Posts => content.0,
            Kind::Replies => replies::key(actor.post),
        };
        {
            let mut inner = self.lock();
            inner.numbers += 1;
            let deadline = self.kind.deadline(platform, ask.phase());
            let call = Call {
                number: inner.numbers,
                actor,
                platform,
                account: account.to_owned(),
                key,
                text: content.1.to_owned(),
                ask,
                started: inner.now,
                deadline,
                ready: inner.now,
                decided: false,
                answer: None,
                shielded: None,
                go: Some(go),
            };
            inner.calls.push(call);
        }
        self.stage.rest();
        match answered.await {
            Ok(answer) => answer,
            // Its worker was killed.
            Err(_) => std::future::pending().await,
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Carries out the call at this index; returns the reply of the network.
    pub fn carry_out(&mut self, place: usize) -> Answer {
        let call = &mut self.calls[place];
        call.decided = true;
        let (platform, account, key) = (call.platform, call.account.clone(), call.key);
        let (text, ask) = (call.text.clone(), call.ask.clone());
        match ask {
            CallKind::CreateContainer => {
                let id = format!("c{}", self.containers.len() + 1);
                self.containers.insert(id.clone(), None);
                Ok(Some(id))
            }
            CallKind::Release { container } => {
                // Stricter than real networks: a container that is published twice is public twice.
                let id = self.publish(account, key, text);
                self.containers.insert(container, Some(id.clone()));
                Ok(Some(id))
            }
            CallKind::Post if matches!(class(platform), RecoveryClass::Key { .. }) => {
                let known = self.entries.iter().find(|entry| entry.key == key);
                let known = known.map(|entry| entry.id.clone());
                Ok(Some(known.unwrap_or_else(|| self.publish(account, key, text))))
            }
            CallKind::Post => Ok(Some(self.publish(account, key, text))),
            CallKind::Confirm { id } => {
                let there = self.entries.iter().any(|entry| entry.id == id);
                if there { Ok(Some(id)) } else { Err(Error::rejected("there is no such post")) }
            }
            CallKind::Find { container: Some(id) } => {
                Ok(self.containers.get(&id).cloned().flatten())
            }
            // A list is read by the connector; only a key finds its own post.
            CallKind::Find { container: None } => {
                let is_it = |entry: &&Entry| {
                    matches!(class(platform), RecoveryClass::Key { .. }) && entry.key == key
                };
                Ok(self.entries.iter().find(is_it).map(|entry| entry.id.clone()))
            }
        }
    }

    /// Publishes a post on the network.
    pub fn publish(&mut self, account: String, key: Uuid, text: String) -> String {
        let id = format!("e{}", self.entries.len() + 1);
        self.entries.push(Entry { id: id.clone(), account, key, text, at: self.now });
        id
    }

    /// Detaches the calls of a dead worker, which go on without it.
    pub fn orphan(&mut self, worker: usize) {
        for call in self.calls.iter_mut().filter(|call| call.actor.worker == worker) {
            call.go = None;
        }
        self.calls.retain(|call| call.go.is_some() || !call.decided);
    }
}

/// Returns the class of the platform, as the real connector declares it.
pub fn class(platform: PlatformId) -> RecoveryClass {
    fanfare_platforms::find(platform).spec().recovery_class
}

/// Returns the error of a lost reply.
pub fn nothing_heard() -> Answer {
    Err(Error::new(ErrorKind::Ambiguous, "the connection was lost"))
}
