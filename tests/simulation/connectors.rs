//! Connectors of the simulated networks: one of each class, with the names and limits of real ones.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use fanfare_core::clock::date;
use fanfare_platforms::{
    self as platforms, Candidate, Draft, Error, Identity, InboundEvent, Inbox, InboxPage,
    InboxRules, Listing, Platform, PlatformId, Progress, PublishedPost, RateLimit,
    ReconcileOutcome, RecoveryClass, RemoteChange, RemoteChanges, RemoteComment, RemotePost,
    Result, Session, Spec, Step,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::network::{CallKind, Entry, Network, class};

/// A network of each class: key, handle, search, blind.
pub const NETWORKS: [PlatformId; 4] =
    [PlatformId::Bluesky, PlatformId::Threads, PlatformId::Wordpress, PlatformId::Discord];

struct Simulated(PlatformId);

/// Returns the connector of a network.
pub fn find(id: PlatformId) -> &'static dyn Platform {
    match id {
        PlatformId::Bluesky => &Simulated(PlatformId::Bluesky),
        PlatformId::Threads => &Simulated(PlatformId::Threads),
        PlatformId::Wordpress => &Simulated(PlatformId::Wordpress),
        _ => &Simulated(PlatformId::Discord),
    }
}

impl Simulated {
    /// Returns the next call.
    fn ask(&self, state: Option<&Value>) -> CallKind {
        if class(self.0) != RecoveryClass::Handle {
            return CallKind::Post;
        }
        let known = |name: &str| state.and_then(|state| Some(state[name].as_str()?.to_owned()));
        match (known("container"), known("id")) {
            (_, Some(id)) => CallKind::Confirm { id },
            (Some(container), None) => CallKind::Release { container },
            (None, None) => CallKind::CreateContainer,
        }
    }

    async fn call(
        &self,
        session: &Session,
        content: (Uuid, &str),
        ask: CallKind,
    ) -> Result<Option<String>> {
        Network::here().call(self.0, &session.account.remote_id, content, ask).await
    }
}

impl Simulated {
    fn next_step(&self, state: Option<&Value>) -> Step {
        match self.ask(state) {
            CallKind::CreateContainer => Step::prepare("contain"),
            CallKind::Release { .. } => Step::commit("release"),
            CallKind::Post => Step::commit("post"),
            CallKind::Confirm { .. } | CallKind::Find { .. } => Step::confirm("confirm"),
        }
    }

    async fn make(
        &self,
        session: &Session,
        content: (Uuid, &str),
        state: Option<Value>,
    ) -> Result<Progress> {
        let ask = self.ask(state.as_ref());
        let answer = self.call(session, content, ask.clone()).await;
        if let CallKind::Confirm { id } = &ask {
            // It is public whether or not it can be read.
            return Ok(progress(&ask, id.clone()));
        }
        Ok(progress(&ask, answer?.unwrap_or_default()))
    }

    async fn look_for(
        &self,
        session: &Session,
        content: (Uuid, &str),
        state: Option<Value>,
        sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        let asked = self.ask(state.as_ref());
        let container = match &asked {
            CallKind::Release { container } => Some(container.clone()),
            _ => None,
        };
        let find = CallKind::Find { container };
        let found = self.call(session, content, find).await?;
        if class(self.0) == RecoveryClass::Search {
            return Ok(list(self.0, session, content.1, sent_at).into());
        }
        Ok(found.map_or(ReconcileOutcome::NotCommitted, |id| {
            ReconcileOutcome::Committed(progress(&asked, id))
        }))
    }
}

/// Returns the text of a reply.
fn text(change: &RemoteChange) -> &str {
    match change {
        RemoteChange::Message { text: Some(text), .. } => text,
        _ => unreachable!("people answer with text"),
    }
}

#[async_trait]
impl RemoteChanges for Simulated {
    fn class(&self, _: &RemoteChange) -> RecoveryClass {
        class(self.0)
    }

    fn limits(&self, _: &RemoteChange) -> &'static [RateLimit] {
        &[]
    }

    fn step(&self, _: &RemoteChange, state: Option<&Value>) -> Step {
        self.next_step(state)
    }

    async fn apply_change(
        &self,
        session: &Session,
        change: &RemoteChange,
        state: Option<Value>,
    ) -> Result<Progress> {
        self.make(session, (Uuid::nil(), text(change)), state).await
    }

    async fn find_result(
        &self,
        session: &Session,
        change: &RemoteChange,
        state: Option<Value>,
        sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        self.look_for(session, (Uuid::nil(), text(change)), state, sent_at).await
    }
}

#[async_trait]
impl Inbox for Simulated {
    fn rules(&self) -> InboxRules {
        unreachable!("nobody reads an inbox here")
    }

    async fn subscribe(&self, _: &Session) -> Result<()> {
        unreachable!("nobody reads an inbox here")
    }

    async fn recent_posts(&self, _: &Session) -> Result<InboxPage<RemotePost>> {
        unreachable!("nobody reads an inbox here")
    }

    async fn comments(
        &self,
        _: &Session,
        _: &str,
        _: Option<String>,
    ) -> Result<InboxPage<RemoteComment>> {
        unreachable!("nobody reads an inbox here")
    }

    fn read_webhook(&self, _: &Value) -> Vec<InboundEvent> {
        unreachable!("nobody reads an inbox here")
    }
}

/// Returns the progress after a reply.
fn progress(ask: &CallKind, id: String) -> Progress {
    let go_on = |state: Value, after, public| Progress::Continue {
        state,
        after,
        remote_id: Some(id.clone()),
        public,
    };
    match ask {
        // Every other container is not ready at once.
        CallKind::CreateContainer => {
            let seconds = if id.len().is_multiple_of(2) { 0 } else { 4 };
            go_on(json!({ "container": id }), Duration::from_secs(seconds), false)
        }
        CallKind::Release { container } => {
            go_on(json!({ "container": container, "id": id }), Duration::ZERO, true)
        }
        CallKind::Post | CallKind::Confirm { .. } | CallKind::Find { .. } => {
            Progress::Done(PublishedPost {
                warnings: Vec::new(),
                id,
                url: None,
                parts: Vec::new(),
                names: Vec::new(),
            })
        }
    }
}

/// Returns the time for which a list does not show what was just made, in ms: nearly the longest that the connector allows
/// for.
fn lag(platform: PlatformId) -> i64 {
    let longest = platforms::find(platform).spec().list_lag;
    i64::try_from(longest.as_millis()).expect("a short time") - 5_000
}

/// Lists what the account has said with these words, as far as the network shows it.
fn list(platform: PlatformId, session: &Session, text: &str, sent_at: DateTime<Utc>) -> Listing {
    let network = Network::here();
    let inner = network.lock();
    session.http.server_clock().set(date(inner.now), false);
    let since = sent_at.timestamp_millis() - 600_000;
    let is_shown = |entry: &&Entry| {
        entry.account == session.account.remote_id
            && entry.text == text
            && (since..=inner.now - lag(platform)).contains(&entry.at)
    };
    let candidate = |entry: &Entry| Candidate {
        id: entry.id.clone(),
        created_at: date(entry.at),
        is_same: true,
        progress: progress(&CallKind::Post, entry.id.clone()),
    };
    let shown = inner.entries.iter().filter(is_shown);
    Listing { candidates: shown.map(candidate).collect(), is_whole: true }
}

#[async_trait]
impl Platform for Simulated {
    fn spec(&self) -> &'static Spec {
        platforms::find(self.0).spec()
    }

    fn step(&self, _: &Draft, state: Option<&Value>) -> Step {
        self.next_step(state)
    }

    async fn publish(
        &self,
        session: &Session,
        draft: &Draft,
        state: Option<Value>,
    ) -> Result<Progress> {
        self.make(session, (draft.key, &draft.caption), state).await
    }

    async fn reconcile(
        &self,
        session: &Session,
        draft: &Draft,
        state: Option<Value>,
        sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        self.look_for(session, (draft.key, &draft.caption), state, sent_at).await
    }

    fn inbox(&self) -> Option<&dyn Inbox> {
        Some(self)
    }

    async fn verify(&self, _: &Session) -> Result<Identity> {
        Err(Error::misconfigured("accounts of the simulation are not connected"))
    }
}
