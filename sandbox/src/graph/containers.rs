//! Posts in two calls, as on Instagram and Threads: a container is created, then published.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::native_post::NativePost;
use crate::network::Medium;
use crate::random;

/// The time for which a container can be published, in milliseconds.
const LIFE_MS: i64 = 24 * 3_600_000;
/// The time that a fetch may take; a restart of the sandbox aborts running ones.
const FETCH_MS: i64 = 5 * 60_000;

/// The content of a network's posts.
pub(crate) trait Content: Clone {
    /// The network's error for a failed container.
    type Flaw: Clone;

    /// Returns the error of a download that timed out.
    fn timed_out() -> Self::Flaw;

    /// Returns the parts of a carousel.
    fn children(&self) -> &[u64];

    /// Returns the file of the post.
    fn medium(&mut self) -> &mut Option<Medium>;
}

/// A post that is being prepared.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Container<C, F> {
    pub id: u64,
    pub at_ms: i64,
    /// When processing ends; `None` until its video has arrived.
    pub ready_ms: Option<i64>,
    /// Why it fails.
    pub flaw: Option<F>,
    #[serde(default)]
    pub published: bool,
    pub content: C,
}

impl<C, F> Container<C, F> {
    /// Creates a container of a post that is already public.
    pub fn used(at_ms: i64, content: C) -> Self {
        let id = random::number(17).unsigned_abs();
        Self { id, at_ms, ready_ms: Some(at_ms), flaw: None, published: true, content }
    }
}

/// A post that is public.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Published<C> {
    pub id: u64,
    pub at_ms: i64,
    pub shortcode: String,
    pub content: C,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change<C, F> {
    Container(Box<Container<C, F>>),
    /// A container's video was fetched, or failed.
    Fetched {
        id: u64,
        ready_ms: i64,
        medium: Option<Medium>,
        flaw: Option<F>,
    },
    Published {
        container: u64,
        id: u64,
        at_ms: i64,
        shortcode: String,
    },
    /// A user posted natively.
    Elsewhere(Box<Published<C>>),
    Gone {
        id: u64,
    },
}

/// Returns the changes of a native post, which `wrap` converts to the network's own, and the post's id. `parts` are the
/// files of a carousel, in order.
pub(crate) fn native_post<C, F, W>(
    new: &NativePost,
    parts: Vec<Container<C, F>>,
    content: C,
    wrap: fn(Change<C, F>) -> W,
) -> (Vec<W>, String) {
    let id = 17_000_000_000_000_000 + new.unique;
    let shortcode = random::text(random::BASE64URL, 11);
    let post = Published { id, at_ms: new.at_ms, shortcode, content };
    let parts = parts.into_iter().map(|part| Change::Container(Box::new(part)));
    let changes = parts.chain([Change::Elsewhere(Box::new(post))]);
    (changes.map(wrap).collect(), id.to_string())
}

/// The status of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Status<F> {
    InProgress,
    Finished,
    Published,
    Error(F),
    Expired,
}

impl<F> Status<F> {
    /// Returns its code in the API.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InProgress => "IN_PROGRESS",
            Self::Finished => "FINISHED",
            Self::Published => "PUBLISHED",
            Self::Error(_) => "ERROR",
            Self::Expired => "EXPIRED",
        }
    }
}

/// The containers and posts of an account.
pub(crate) struct ContainerStore<C: Content> {
    pub containers: HashMap<u64, Container<C, C::Flaw>>,
    pub posts: BTreeMap<u64, Published<C>>,
}

impl<C: Content> Default for ContainerStore<C> {
    fn default() -> Self {
        Self { containers: HashMap::new(), posts: BTreeMap::new() }
    }
}

impl<C: Content> ContainerStore<C> {
    pub fn apply(&mut self, change: Change<C, C::Flaw>) {
        match change {
            Change::Container(container) => drop(self.containers.insert(container.id, *container)),
            Change::Fetched { id, ready_ms, medium, flaw } => {
                if let Some(container) = self.containers.get_mut(&id) {
                    container.ready_ms = Some(ready_ms);
                    let known = container.content.medium();
                    *known = medium.or(known.take());
                    container.flaw = flaw;
                }
            }
            Change::Elsewhere(post) => drop(self.posts.insert(post.id, *post)),
            Change::Gone { id } => drop(self.posts.remove(&id)),
            Change::Published { container, id, at_ms, shortcode } => {
                if let Some(container) = self.containers.get_mut(&container) {
                    container.published = true;
                    let content = container.content.clone();
                    self.posts.insert(id, Published { id, at_ms, shortcode, content });
                }
            }
        }
    }

    /// Returns the status of a container. The status of a carousel is that of its slowest part.
    pub fn status(&self, container: &Container<C, C::Flaw>, now_ms: i64) -> Status<C::Flaw> {
        if container.published {
            return Status::Published;
        }
        if let Some(flaw) = &container.flaw {
            return Status::Error(flaw.clone());
        }
        if now_ms >= container.at_ms + LIFE_MS {
            return Status::Expired;
        }
        let children = container.content.children().iter();
        for child in children.filter_map(|child| self.containers.get(child)) {
            let status = self.status(child, now_ms);
            if !matches!(status, Status::Finished | Status::Published) {
                return status;
            }
        }
        match container.ready_ms {
            Some(ready_ms) if now_ms >= ready_ms => Status::Finished,
            None if now_ms >= container.at_ms + FETCH_MS => Status::Error(C::timed_out()),
            _ => Status::InProgress,
        }
    }
}
