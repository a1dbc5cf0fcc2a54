//! The parts of a simulator that differ by network. Everything else about it is the same for all.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use salvo::http::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::Call;
use crate::elsewhere::Elsewhere;
use crate::env::Env;
pub(crate) use crate::faults::{Phase, Refusal};
use crate::mailbox::{self, Item, Mailbox, NewItem, Verb};
use crate::reply::{Answer, Reply};
use crate::sim::{Account, Sim};

/// A simulated network: one implementation a folder.
pub(crate) trait Network: Sized + Send + Sync + 'static {
    /// The first segment of its paths, and its name everywhere.
    const NAME: &'static str;
    /// The largest request body it reads, in bytes.
    const BODY_MAX: usize;
    /// True if all accounts share one state, as the users of one site do.
    const SHARED_HOME: bool = false;
    /// State of an account (or of the whole site).
    type State: Default + Send;
    /// An accepted change of the state, as it is written to the journal.
    type Change: Serialize + DeserializeOwned;

    /// Makes a new account's identity; `Err` says why the asked name cannot be one.
    fn birth(env: &Env, name: &Name<'_>) -> Result<Identity, String>;
    /// Strings besides the remote id by which a request may name the account. Two accounts never share one.
    fn keys(identity: &Identity) -> Vec<String>;
    /// Returns the credentials that a client needs to connect the account.
    fn credentials(identity: &Identity, base: &str) -> Map<String, Value>;
    /// Returns the work that a request asks for.
    fn route(method: &Method, path: &[&str], call: &Call) -> Option<Route<Self>>;
    /// Returns the account that a request belongs to. Faults and the call log of that account see it, valid or not.
    fn caller(sim: &Sim<Self>, call: &Call) -> Option<Arc<Account<Self>>>;
    /// Makes an accepted change. It cannot fail, for it also replays the journal.
    fn apply(state: &mut Self::State, identity: &Identity, change: Self::Change);
    /// The change by which the account's token expires (`true`), or is good again once the faults are replaced.
    fn token_change(expired: bool) -> Option<Self::Change>;
    /// Returns the account's public posts, oldest first. `base` is the network's own address.
    fn posts(state: &Self::State, identity: &Identity, base: &str) -> Vec<Post>;
    /// Returns true if a post is one of `key`'s, where one login posts under several names. `key` is what the account
    /// was asked for by.
    fn is_of(_post: &Post, _key: &str) -> bool {
        true
    }
    /// Returns the changes by which a person posts on the network itself, and the id of the post.
    fn elsewhere(
        state: &Self::State,
        identity: &Identity,
        new: &Elsewhere,
    ) -> (Vec<Self::Change>, String);
    /// Returns the changes by which a person deletes the post that [`Network::posts`] shows under this id.
    fn delete(state: &Self::State, id: &str) -> Vec<Self::Change>;
    /// A refusal in the network's own words.
    fn refuse(refusal: Refusal) -> Reply;
    /// The answer to a request for something that does not exist.
    fn no_route(call: &Call) -> Reply;
    /// The part of the path that must not be shown in the call log.
    fn secret_in_path(_path: &str) -> Option<&str> {
        None
    }
    /// The account (as [`Sim::find`] knows it) and post of a public page at the network's own kind of address.
    fn page<'a>(_path: &[&'a str]) -> Option<(&'a str, &'a str)> {
        None
    }
    /// The messages, comments and reviews of an account; `None`: they are not simulated.
    fn mailbox(_state: &Self::State) -> Option<&Mailbox> {
        None
    }
    /// A change of them.
    fn mail(_change: mailbox::Change) -> Option<Self::Change> {
        None
    }
    /// The id of a new item of somebody else's, made from a unique number, and the post that it stands below; `Err` says
    /// why there cannot be one.
    fn mail_id(
        _unique: u64,
        _state: &Self::State,
        _identity: &Identity,
        _new: &NewItem,
    ) -> Result<(String, Option<String>), String> {
        Err("this network has no inbox here".into())
    }
    /// Returns mail of the account's own that stands elsewhere than in [`Network::mailbox`].
    fn own_mail(_state: &Self::State, _identity: &Identity) -> Vec<Item> {
        Vec::new()
    }
    /// Sets the network's decisions on answers and films from now on; `None`: it decides nothing.
    fn decide(
        _rejects: Option<bool>,
        _video_ms: Option<i64>,
        _state: &Self::State,
    ) -> Option<Self::Change> {
        None
    }
    /// The webhook that tells what happened to an item, if there is one.
    fn webhook(_identity: &Identity, _item: &Item, _verb: Verb, _now_ms: i64) -> Option<Value> {
        None
    }
    /// The remote id in what a client calls the account, where that is more than the id.
    fn bare_id(remote_id: &str) -> &str {
        remote_id
    }
}

/// The name of a new account.
pub(crate) enum Name<'a> {
    /// As somebody asked.
    Asked(&'a str),
    /// After two words, to be joined as the network's rules allow.
    Made(&'a str, &'a str),
}

impl Name<'_> {
    /// The asked name, or the two words with `glue` between them; `glue` also stands for what the network's names
    /// cannot hold.
    pub fn fitted(&self, glue: char, allowed: impl Fn(char) -> bool) -> String {
        let whole = match self {
            Self::Asked(name) => name.trim_start_matches('@').to_owned(),
            Self::Made(first, second) => format!("{first}{glue}{second}"),
        };
        let fitted: String = whole.chars().map(|c| if allowed(c) { c } else { glue }).collect();
        fitted.trim_matches(glue).to_owned()
    }
}

/// The identity of an account; fixed at its birth. Has no `Debug`, for it holds the credentials.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub remote_id: String,
    pub username: String,
    pub created_ms: i64,
    /// Tokens, passwords and further ids, by names of the network's choice.
    pub private: BTreeMap<String, String>,
}

impl Identity {
    /// A private value; empty if there is none of that name.
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
    /// Facts that only this network has.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
    /// The last part of its page's address.
    #[serde(skip)]
    pub page: String,
}

/// A picture, video or file of a post. Its bytes are not kept.
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

    /// The last part of its address.
    pub fn file_name(&self) -> String {
        let path = self.url.as_deref().and_then(|url| url.split(['?', '#']).next());
        path.and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned()
    }
}

/// The handler of a request, with its phase.
pub(crate) struct Route<N: Network> {
    pub phase: Phase,
    pub work: Work<N>,
    /// A page for a person, which is reached by other ways than what programs ask.
    pub is_page: bool,
}

/// The code behind a route.
pub(crate) enum Work<N: Network> {
    /// Needs nothing but memory.
    Now(fn(&Cx<N>) -> Answer),
    /// Fetches something first. Runs to its end even if the client leaves, as a server would.
    Later(fn(Arc<Cx<N>>) -> BoxFuture<'static, Answer>),
}

impl<N: Network> Route<N> {
    pub fn now(phase: Phase, work: fn(&Cx<N>) -> Answer) -> Option<Self> {
        Some(Self { phase, work: Work::Now(work), is_page: false })
    }

    pub fn page(work: fn(&Cx<N>) -> Answer) -> Option<Self> {
        Some(Self { phase: Phase::Read, work: Work::Now(work), is_page: true })
    }

    pub fn later(phase: Phase, work: fn(Arc<Cx<N>>) -> BoxFuture<'static, Answer>) -> Option<Self> {
        Some(Self { phase, work: Work::Later(work), is_page: false })
    }
}

/// One request with everything a handler may look at.
pub(crate) struct Cx<N: Network> {
    pub sim: Arc<Sim<N>>,
    pub call: Call,
    /// The account that [`Network::caller`] named; the handler checks whether the request proves it.
    pub account: Option<Arc<Account<N>>>,
}

impl<N: Network> Cx<N> {
    /// The sandbox's time in milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.sim.env.now_ms()
    }
}
