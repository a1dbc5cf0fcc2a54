//! The steps of publishing and their outcomes.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::Warning;

/// The kind of remote change that a call makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Repeatable: uploading a file, creating a container, waiting for it. Leaves at most an orphaned object.
    Prepare,
    /// The one irreversible call that makes something public.
    Commit,
    /// Reads back what is already public. If it fails, the post does not.
    Confirm,
}

impl Phase {
    /// Returns its name in the ledger.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Commit => "commit",
            Self::Confirm => "confirm",
        }
    }
}

/// The next call, as the ledger shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its name, for example `upload_image_2` or `publish_segment_3`.
    pub name: String,
    /// Its phase.
    pub phase: Phase,
}

impl Step {
    /// Creates a repeatable step.
    pub fn prepare(name: impl Into<String>) -> Self {
        Self { name: name.into(), phase: Phase::Prepare }
    }

    /// Creates the irreversible step.
    pub fn commit(name: impl Into<String>) -> Self {
        Self { name: name.into(), phase: Phase::Commit }
    }

    /// Creates a step that only reads.
    pub fn confirm(name: impl Into<String>) -> Self {
        Self { name: name.into(), phase: Phase::Confirm }
    }
}

/// The outcome of one call of `publish`.
#[derive(Debug, Clone)]
pub enum Progress {
    /// The post is public.
    Done(PublishedPost),
    /// Call again with `state`, which is stored before that; not before `after` has passed.
    Continue {
        /// Read only by the connector.
        state: Value,
        /// Zero means at once. During the wait no worker is occupied.
        after: Duration,
        /// The id that the network returned in this step, for the ledger.
        remote_id: Option<String>,
        /// True if something is public from this step on (a segment of a thread): the post can no longer be edited.
        public: bool,
    },
}

/// A post that is public.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct PublishedPost {
    /// The network's id; never empty.
    pub id: String,
    /// The address of the post in a browser.
    pub url: Option<String>,
    /// Other public parts (segments, first comment), in order.
    pub parts: Vec<PublishedPart>,
    /// Shortcomings, such as the missing picture of a card.
    pub warnings: Vec<Warning>,
    /// Other names that the network has for the post or for a file in it, by which lists and webhooks may call it.
    pub names: Vec<String>,
}

/// A further public object that belongs to a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedPart {
    /// Its name, for example `segment_2`.
    pub name: String,
    /// The network's id; empty if the network did not tell it.
    pub id: String,
    /// Its address in a browser, if it has one.
    pub url: Option<String>,
}

/// The recovery after the response to a commit was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryClass {
    /// The same call can be repeated with the same idempotency key within `window`; after that the result is looked up.
    Key {
        /// The time for which the network remembers the key. `None`: forever.
        window: Option<Duration>,
    },
    /// The status of a container, session or publish id can be queried.
    Handle,
    /// The account's own posts can be listed and compared.
    Search,
    /// Nothing can be queried: the call is never repeated.
    Blind,
}

impl RecoveryClass {
    /// Returns its name in documents and in `GET /platforms`.
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

/// The result of looking for a commit whose response was lost: what the network shows. What follows from it is decided
/// by the caller, who knows which results are those of other calls.
#[derive(Debug, Clone)]
pub enum ReconcileOutcome {
    /// The change was made, with this result: a key or a handle that nothing else has says so.
    Committed(Progress),
    /// The network shows nothing of it.
    NotCommitted,
    /// The container or upload of the call has ended without it. Nothing was made from this one; after a restore, another one may
    /// have taken its place.
    HandleEnded,
    /// A list of the account's objects was read.
    Listed(Listing),
    /// Neither is certain.
    Unknown,
}

/// What a list shows that may be the result of a lost call.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The objects that may be the result.
    pub candidates: Vec<Candidate>,
    /// True if every object that the call may have created was seen, so that an empty list means that there is none.
    pub is_whole: bool,
}

/// An object that may be the result of a lost call.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The network's id.
    pub id: String,
    /// When it was created, by the network's clock.
    pub created_at: DateTime<Utc>,
    /// True if it has the content of the call; false if it merely resembles it.
    pub is_same: bool,
    /// What follows if it is the result.
    pub progress: Progress,
}

impl Listing {
    /// Marks the list as one that proves no absence: the object is there, and only its id is asked for.
    #[must_use]
    pub fn in_part(mut self) -> Self {
        self.is_whole = false;
        self
    }
}

impl From<Listing> for ReconcileOutcome {
    fn from(listing: Listing) -> Self {
        Self::Listed(listing)
    }
}

/// The account that credentials belong to.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The network's id of the account. Connecting an account with a known id updates it.
    pub remote_id: String,
    /// Name shown to people.
    pub username: String,
    /// Longer name, if there is one.
    pub display_name: Option<String>,
    /// Public facts stored with the account, for example `did` or `guild_id`. Never a secret.
    pub meta: Map<String, Value>,
    /// Secrets to store instead of the given ones (including tokens of a new session).
    pub secrets: crate::Secrets,
    /// When the stored tokens expire, if they do.
    pub expires_at: Option<chrono::DateTime<chrono::Utc>>,
}

/// The name of the public fact that holds the address of an account's picture.
pub const PICTURE_URL: &str = "picture_url";

impl Identity {
    /// Adds the address of the account's picture, if the network gives one.
    #[must_use]
    pub fn with_picture_url(mut self, address: Option<String>) -> Self {
        if let Some(address) = address.filter(|address| address.starts_with("http")) {
            self.meta.insert(PICTURE_URL.to_owned(), Value::String(address));
        }
        self
    }
}

impl PublishedPart {
    /// Returns the segments of a chain with these ids, the first one included.
    pub(crate) fn segments(ids: &[String]) -> Vec<Self> {
        let part = |(number, id): (usize, &String)| Self {
            name: format!("segment_{number}"),
            id: id.clone(),
            url: None,
        };
        (1..).zip(ids).map(part).collect()
    }
}

/// Fresh tokens of an account.
#[derive(Debug, Clone)]
pub struct RefreshedTokens {
    /// All secrets of the account, including unchanged ones; they replace the stored ones.
    pub secrets: crate::Secrets,
    /// When the fresh tokens expire, if they do.
    pub expires_at: Option<chrono::DateTime<chrono::Utc>>,
    /// The network's id of the account, if it has another one by now.
    pub remote_id: Option<String>,
}

/// Returns the state that a connector stored after the previous call; the default before the first one.
///
/// # Errors
/// [`crate::ErrorKind::Defect`] for a state that cannot be read. The post must not start over then: something may
/// already be public.
pub fn read_state<T: Default + serde::de::DeserializeOwned>(
    state: Option<&Value>,
) -> crate::Result<T> {
    let Some(state) = state else { return Ok(T::default()) };
    // serde also reads a struct from a list, field by field.
    if state.is_array() {
        return Err(unreadable_state());
    }
    T::deserialize(state).map_err(|_| unreadable_state())
}

/// Checks that there is no stored state, for a connector that publishes in one call and never stores any.
///
/// # Errors
/// [`crate::ErrorKind::Defect`] for any state, as in [`read_state`].
pub fn expect_no_state(state: Option<&Value>) -> crate::Result<()> {
    if state.is_some() { Err(unreadable_state()) } else { Ok(()) }
}

fn unreadable_state() -> crate::Error {
    crate::Error::defect("The stored progress of the post cannot be read.").with_remedy(
        "Look on the platform whether a part of the post is public; if not, make the post again.",
    )
}

impl Progress {
    /// Continues at once with this state.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Defect`] for a state that cannot be serialized as JSON.
    pub fn continue_with<T: serde::Serialize>(state: &T) -> crate::Result<Self> {
        let state = serde_json::to_value(state).map_err(|error| {
            crate::Error::defect(format!("The progress cannot be stored: {error}."))
        })?;
        Ok(Self::Continue { state, after: Duration::ZERO, remote_id: None, public: false })
    }

    /// Delays the next call by this time.
    #[must_use]
    pub fn after(mut self, time: Duration) -> Self {
        if let Self::Continue { after, .. } = &mut self {
            *after = time;
        }
        self
    }

    /// Adds the id that the network returned, for the ledger.
    #[must_use]
    pub fn with_remote_id(mut self, id: Option<String>) -> Self {
        if let Self::Continue { remote_id, .. } = &mut self {
            *remote_id = id;
        }
        self
    }

    /// Marks the post as public: from here on it cannot be edited.
    #[must_use]
    pub fn mark_public(mut self) -> Self {
        if let Self::Continue { public, .. } = &mut self {
            *public = true;
        }
        self
    }

    /// Finishes with a post that is public under this id and address.
    #[must_use]
    pub fn done(id: impl Into<String>, url: Option<String>) -> Self {
        Self::Done(PublishedPost { id: id.into(), url, ..PublishedPost::default() })
    }

    /// Adds warnings about what the post lacks.
    #[must_use]
    pub fn with_warnings(mut self, warnings: Vec<Warning>) -> Self {
        if let Self::Done(published) = &mut self {
            published.warnings = warnings;
        }
        self
    }

    /// Adds other names of the post.
    #[must_use]
    pub fn with_names(mut self, names: Vec<String>) -> Self {
        if let Self::Done(published) = &mut self {
            published.names = names;
        }
        self
    }
}
