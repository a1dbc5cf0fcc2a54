//! The parts of a simulator that differ between networks.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use salvo::http::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::behaviour::{Ids, Shows};
use crate::call::Call;
use crate::env::Env;
use crate::facts::Objection;
pub(crate) use crate::faults::{Phase, Refusal};
use crate::mailbox::{self, Item, ItemEvent, Mailbox, NewItem};
use crate::native_post::NativePost;
use crate::reply::{HandlerResult, Reply};
use crate::sim::{Account, Sim};
use crate::video_control::VideoControl;

/// A simulated network. Each folder has one implementation.
pub(crate) trait Network: Sized + Send + Sync + 'static {
    /// The name of the network, which is also the first segment of its paths.
    const NAME: &'static str;
    /// The largest request body it reads, in bytes.
    const BODY_MAX: usize;
    /// True if all accounts share one state, as the users of one site do.
    const SHARES_STATE: bool = false;
    /// The places where it shows a post's audience, and that it was accepted.
    const SHOWS: Shows = Shows::NOTHING;
    /// The state of an account (or of the whole site).
    type State: Default + Send;
    /// An accepted change of the state, as it is written to the journal.
    type Change: Serialize + DeserializeOwned;

    /// Creates a new account's identity; `Err` says why the requested name is invalid.
    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String>;
    /// Returns further unique strings, besides the remote id, by which a request may name the account.
    fn keys(identity: &Identity) -> Vec<String>;
    /// Returns the credentials that a client needs to connect the account.
    fn credentials(identity: &Identity, base: &str) -> Map<String, Value>;
    /// Returns the route of a request.
    fn route(method: &Method, path: &[&str], call: &Call) -> Option<Route<Self>>;
    /// Returns the account that a request belongs to. The account's faults and call log apply to the request, whether
    /// it is valid or not.
    fn caller(sim: &Sim<Self>, call: &Call) -> Option<Arc<Account<Self>>>;
    /// Applies an accepted change. It cannot fail, because it also replays the journal.
    fn apply(state: &mut Self::State, identity: &Identity, change: Self::Change);
    /// Returns the change that expires the account's token (`true`), or makes it valid again once the faults are
    /// replaced.
    fn token_change(expired: bool) -> Option<Self::Change>;
    /// Returns the change that makes the account's first tokens valid again, whatever ended them.
    fn revival() -> Option<Self::Change> {
        Self::token_change(false)
    }
    /// Returns the account's public posts, oldest first. `base` is the network's own address.
    fn posts(state: &Self::State, identity: &Identity, base: &str) -> Vec<Post>;
    /// Returns true if a post belongs to `key`, the name by which the account was requested, on networks where one
    /// login posts under several names.
    fn belongs_to(_post: &Post, _key: &str) -> bool {
        true
    }
    /// Returns the changes that create a post as a user does on the network itself, and its id.
    fn native_post(
        state: &Self::State,
        identity: &Identity,
        new: &NativePost,
    ) -> (Vec<Self::Change>, String);
    /// Returns the changes that delete the post that [`Network::posts`] shows under this id, as a user does.
    fn delete_post(state: &Self::State, id: &str) -> Vec<Self::Change>;
    /// Returns the changes of an edit by a user that gives the post another id; none if edits do not.
    fn another_id(_state: &Self::State, _id: &str, _unique: u64, _at_ms: i64) -> Vec<Self::Change> {
        Vec::new()
    }
    /// Returns the name by which webhooks and lists know a post, of the kind that [`Ids::post`] names.
    fn other_name(_state: &Self::State, _identity: &Identity, _ids: &Ids, name: String) -> String {
        name
    }
    /// Returns a refusal in the network's own format.
    fn refuse(refusal: Refusal) -> Reply;
    /// Returns the response to a request without a route.
    fn no_route(call: &Call) -> Reply;
    /// Returns the refusal of a request that the network's description does not allow, in the network's own words.
    fn objection(objection: &Objection) -> Reply;
    /// Returns the part of the path that must not appear in the call log.
    fn secret_in_path(_path: &str) -> Option<&str> {
        None
    }
    /// Returns the account (as in [`Sim::find`]) and post of a public page, from a path in the network's own format.
    fn page<'a>(_path: &[&'a str]) -> Option<(&'a str, &'a str)> {
        None
    }
    /// Returns the messages, comments and reviews of an account; `None` if they are not simulated.
    fn mailbox(_state: &Self::State) -> Option<&Mailbox> {
        None
    }
    /// Wraps a change of the mailbox.
    fn mailbox_change(_change: mailbox::Change) -> Option<Self::Change> {
        None
    }
    /// Returns the id of a new item of another user, made from a unique number, and the post that it is on; `Err` says
    /// why it cannot be created.
    fn new_item_id(
        _unique: u64,
        _state: &Self::State,
        _identity: &Identity,
        _new: &NewItem,
    ) -> Result<(String, Option<String>), String> {
        Err("this network has no inbox here".into())
    }
    /// Returns the account's own items that are stored outside [`Network::mailbox`].
    fn own_items(_state: &Self::State, _identity: &Identity) -> Vec<Item> {
        Vec::new()
    }
    /// Sets the network's review decisions on replies and videos from now on; `None` if it has no reviews.
    fn decide(
        _rejects: Option<bool>,
        _video_ms: Option<i64>,
        _state: &Self::State,
    ) -> Option<Self::Change> {
        None
    }
    /// Returns the change that sets how videos are taken from now on; `None` if that cannot be set here.
    fn video_change(_control: VideoControl) -> Option<Self::Change> {
        None
    }
    /// Returns the webhook that reports an event of an item, if there is one.
    fn webhook(
        _identity: &Identity,
        _item: &Item,
        _verb: ItemEvent,
        _now_ms: i64,
    ) -> Option<Value> {
        None
    }
    /// Returns the remote id within a client's name of the account, if that contains more.
    fn plain_remote_id(remote_id: &str) -> &str {
        remote_id
    }
}

/// The name of a new account.
pub(crate) enum NewName<'a> {
    /// A requested name.
    Requested(&'a str),
    /// A generated name of two words, to be joined as the network's rules allow.
    Generated(&'a str, &'a str),
}

impl NewName<'_> {
    /// Returns the requested name, or the two words joined by `glue`; `glue` also replaces characters that the
    /// network's names cannot contain.
    pub fn joined(&self, glue: char, allowed: impl Fn(char) -> bool) -> String {
        let whole = match self {
            Self::Requested(name) => name.trim_start_matches('@').to_owned(),
            Self::Generated(first, second) => format!("{first}{glue}{second}"),
        };
        let fitted: String = whole.chars().map(|c| if allowed(c) { c } else { glue }).collect();
        fitted.trim_matches(glue).to_owned()
    }
}

/// The identity of an account, which never changes. Has no `Debug`, because it contains the credentials.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub remote_id: String,
    pub username: String,
    pub created_ms: i64,
    /// Tokens, passwords and further ids, by network-specific names.
    pub private: BTreeMap<String, String>,
}

impl Identity {
    /// Returns a private value; empty if there is none.
    pub fn private(&self, name: &str) -> &str {
        self.private.get(name).map(String::as_str).unwrap_or_default()
    }
}

/// One post as the control API and the pages show it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Post {
    pub id: String,
    pub text: String,
    pub media: Vec<Medium>,
    pub created_at: String,
    pub url: String,
    /// Further fields of this network.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
    /// The last part of its page's address.
    #[serde(skip)]
    pub page: String,
}

/// A picture, video or file of a post. Its bytes are not stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Medium {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    pub mime: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
    /// SHA-256 of its bytes, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl Medium {
    pub fn is_video(&self) -> bool {
        self.mime.starts_with("video/")
    }

    /// Returns the last part of its address.
    pub fn file_name(&self) -> String {
        let path = self.url.as_deref().and_then(|url| url.split(['?', '#']).next());
        path.and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned()
    }
}

/// The handler of a request, with its phase.
pub(crate) struct Route<N: Network> {
    pub phase: Phase,
    pub handler: HandlerFn<N>,
    /// True for a page for people, which has other access rules than the API.
    pub is_page: bool,
}

/// The function that handles a route.
pub(crate) enum HandlerFn<N: Network> {
    /// Runs at once, in memory.
    Immediate(fn(&Cx<N>) -> HandlerResult),
    /// Fetches something first. Runs to its end even if the client disconnects, as a real server would.
    Spawned(fn(Arc<Cx<N>>) -> BoxFuture<'static, HandlerResult>),
}

impl<N: Network> Route<N> {
    pub fn immediate(phase: Phase, work: fn(&Cx<N>) -> HandlerResult) -> Option<Self> {
        Some(Self { phase, handler: HandlerFn::Immediate(work), is_page: false })
    }

    pub fn page(work: fn(&Cx<N>) -> HandlerResult) -> Option<Self> {
        Some(Self { phase: Phase::Read, handler: HandlerFn::Immediate(work), is_page: true })
    }

    pub fn spawned(
        phase: Phase,
        work: fn(Arc<Cx<N>>) -> BoxFuture<'static, HandlerResult>,
    ) -> Option<Self> {
        Some(Self { phase, handler: HandlerFn::Spawned(work), is_page: false })
    }
}

/// A request with everything that a handler needs.
pub(crate) struct Cx<N: Network> {
    pub sim: Arc<Sim<N>>,
    pub call: Call,
    /// The account that [`Network::caller`] returned; the handler checks the request's credentials.
    pub account: Option<Arc<Account<N>>>,
}

impl<N: Network> Cx<N> {
    /// Returns the network's time in milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.sim.now_ms() + self.ahead_ms()
    }

    /// Returns how far the account's network is ahead of its realm, in milliseconds.
    fn ahead_ms(&self) -> i64 {
        self.account.as_ref().map_or(0, |account| account.behaviour().clock_ms)
    }

    /// Returns a number that no other call gets, and that is the network's time in microseconds.
    pub fn unique_time(&self) -> u64 {
        let ahead_ms = self.ahead_ms() + self.sim.env.ahead_ms(self.sim.realm());
        self.sim.env.unique_number().saturating_add_signed(ahead_ms * 1_000)
    }
}
