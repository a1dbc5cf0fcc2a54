//! The steps of publishing and their outcomes.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::Warning;

/// Kind of remote change a call makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Repeatable: an upload, a container, waiting for one. Leaves at most an orphan.
    Prepare,
    /// The one irreversible call that makes something public.
    Commit,
    /// Reading back what is already public. Its failure never fails the post.
    Confirm,
}

impl Phase {
    /// Name in the ledger.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Commit => "commit",
            Self::Confirm => "confirm",
        }
    }
}

/// The next call, as the ledger will show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its name, for example `upload_image_2` or `publish_segment_3`.
    pub name: String,
    /// Its phase.
    pub phase: Phase,
}

impl Step {
    /// A repeatable step.
    pub fn prepare(name: impl Into<String>) -> Self {
        Self { name: name.into(), phase: Phase::Prepare }
    }

    /// The irreversible step.
    pub fn commit(name: impl Into<String>) -> Self {
        Self { name: name.into(), phase: Phase::Commit }
    }

    /// A step that only reads back.
    pub fn confirm(name: impl Into<String>) -> Self {
        Self { name: name.into(), phase: Phase::Confirm }
    }
}

/// The outcome of one call of `publish`.
#[derive(Debug, Clone)]
pub enum Progress {
    /// The post is public.
    Done(Published),
    /// Call again with `state`, which is stored before that; not before `after` has passed.
    Continue {
        /// Never read outside the connector.
        state: Value,
        /// Zero: at once. Otherwise the row waits, and no worker does.
        after: Duration,
        /// Id that the network gave in this step, for the ledger.
        remote_id: Option<String>,
        /// Something is public from this step on (a segment of a thread): the post can no longer be edited.
        public: bool,
    },
}

/// Something public, with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The network's id; never empty.
    pub id: String,
    /// Address a person can open.
    pub url: Option<String>,
    /// Further public parts (segments, first comment), in order.
    pub parts: Vec<Part>,
    /// Shortcomings, such as the missing picture of a card.
    pub warnings: Vec<Warning>,
}

/// One more public thing that belongs to a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name, for example `segment_2`.
    pub name: String,
    /// The network's id.
    pub id: String,
}

/// The recovery after a commit without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The same call may be sent again with the same key while `window` lasts; afterwards it is looked up.
    Key {
        /// The time the network remembers the key. `None`: for ever.
        window: Option<Duration>,
    },
    /// A container, session or publish id can be asked.
    Handle,
    /// The account's own posts can be listed and compared.
    Search,
    /// Nothing can be asked: never sent again.
    Blind,
}

impl Class {
    /// Name in documents and in `GET /platforms`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Key { .. } => "key",
            Self::Handle => "handle",
            Self::Search => "search",
            Self::Blind => "blind",
        }
    }
}

/// The result of a reconcile.
#[derive(Debug, Clone)]
pub enum Found {
    /// The change was made; this is what the lost answer would have said.
    There(Progress),
    /// The change was certainly not made: it may be sent again.
    Absent,
    /// Neither is certain.
    Unknown,
}

/// The account that credentials belong to.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The network's id of the account; what makes reconnecting an update.
    pub remote_id: String,
    /// Name shown to people.
    pub username: String,
    /// Longer name, if there is one.
    pub display_name: Option<String>,
    /// Public facts kept beside the account, for example `did` or `guild_id`. Never a secret.
    pub meta: Map<String, Value>,
    /// Secrets to store in place of the ones given (tokens of a fresh session beside them).
    pub secrets: crate::Secrets,
    /// The time at which the stored tokens end and must have been refreshed, if they do.
    pub expires_at: Option<chrono::DateTime<chrono::Utc>>,
}

/// Name of the public fact that is the address of an account's picture at its network.
pub const PICTURE: &str = "picture_url";

impl Identity {
    /// The same with the address of the account's picture, if the network gives one.
    #[must_use]
    pub fn pictured(mut self, address: Option<String>) -> Self {
        if let Some(address) = address.filter(|address| address.starts_with("http")) {
            self.meta.insert(PICTURE.to_owned(), Value::String(address));
        }
        self
    }
}

/// Fresh tokens of an account.
#[derive(Debug, Clone)]
pub struct Refreshed {
    /// All secrets of the account, the unchanged ones included; stored in place of the old ones.
    pub secrets: crate::Secrets,
    /// The time at which the fresh tokens end, if they do.
    pub expires_at: Option<chrono::DateTime<chrono::Utc>>,
}

/// Returns what a connector stored between two calls; the default before the first of them.
///
/// # Errors
/// [`crate::Kind::Misconfigured`] for a state that cannot be read. It never means to start over: something may be public
/// already.
pub fn read_state<T: Default + serde::de::DeserializeOwned>(
    state: Option<&Value>,
) -> crate::Result<T> {
    let Some(state) = state else { return Ok(T::default()) };
    // serde reads a struct out of a list too, field by field.
    if state.is_array() {
        return Err(unreadable());
    }
    T::deserialize(state).map_err(|_| unreadable())
}

/// Checks that a connector which publishes in one call, and so never stores anything, has nothing stored.
///
/// # Errors
/// [`crate::Kind::Misconfigured`] for any state, as in [`read_state`].
pub fn no_state(state: Option<&Value>) -> crate::Result<()> {
    if state.is_some() { Err(unreadable()) } else { Ok(()) }
}

fn unreadable() -> crate::Error {
    crate::Error::misconfigured("The stored progress of the post cannot be read.").with_remedy(
        "Look on the platform whether a part of the post is public; if not, make the post again.",
    )
}

impl Progress {
    /// Call again at once, with this state.
    ///
    /// # Errors
    /// [`crate::Kind::Misconfigured`] for a state that is no JSON.
    pub fn go_on<T: serde::Serialize>(state: &T) -> crate::Result<Self> {
        let state = serde_json::to_value(state).map_err(|error| {
            crate::Error::misconfigured(format!("The progress cannot be stored: {error}."))
        })?;
        Ok(Self::Continue { state, after: Duration::ZERO, remote_id: None, public: false })
    }

    /// The same, but not before this time has passed.
    #[must_use]
    pub fn after(mut self, time: Duration) -> Self {
        if let Self::Continue { after, .. } = &mut self {
            *after = time;
        }
        self
    }

    /// The same with the id that the network gave, for the ledger.
    #[must_use]
    pub fn naming(mut self, id: Option<String>) -> Self {
        if let Self::Continue { remote_id, .. } = &mut self {
            *remote_id = id;
        }
        self
    }

    /// The same once the network has it: from here on the post cannot be edited.
    #[must_use]
    pub fn in_public(mut self) -> Self {
        if let Self::Continue { public, .. } = &mut self {
            *public = true;
        }
        self
    }

    /// The post is public under this id and address.
    #[must_use]
    pub fn done(id: impl Into<String>, url: Option<String>) -> Self {
        Self::Done(Published { id: id.into(), url, parts: Vec::new(), warnings: Vec::new() })
    }

    /// The same, of a post that lacks this.
    #[must_use]
    pub fn lacking(mut self, warnings: Vec<Warning>) -> Self {
        if let Self::Done(published) = &mut self {
            published.warnings = warnings;
        }
        self
    }
}
