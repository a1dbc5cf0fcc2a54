//! Threads: the Graph API with its containers, below one address with its token endpoints.
//!
//! <https://developers.facebook.com/docs/threads>

mod access;
mod content;
mod create;
mod inbox;
mod insights;
mod lists;
mod login;
mod media;
mod native_post;
mod publish;
mod representations;
mod state;
mod text;
mod user;

use std::collections::BTreeMap;
use std::sync::Arc;

use salvo::http::Method;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::env::{Env, rfc3339};
use crate::facts::Objection;
use crate::graph::{self, below_version, failure};
use crate::mailbox::{self, Item, ItemEvent, Mailbox, NewItem};
use crate::native_post::NativePost;
use crate::network::{Identity, Network, NewName, Phase, Post, Refusal, Route};
use crate::random;
use crate::reply::Reply;
use crate::sim::{Account, Sim};
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<Threads>;

/// The network.
pub(crate) struct Threads;

impl Network for Threads {
    const NAME: &'static str = "threads";
    const BODY_MAX: usize = 1 << 20;
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
        let username = name.joined('.', allowed).to_ascii_lowercase();
        if username.is_empty() || username.len() > 30 {
            return Err("a user name has 1 to 30 letters, digits, periods and underscores".into());
        }
        let user_id = random::number(17).to_string();
        let private = BTreeMap::from([("access_token".to_owned(), access::new_token(&user_id))]);
        Ok(Identity { remote_id: user_id, username, created_ms: env.now_ms(), private })
    }

    fn keys(_identity: &Identity) -> Vec<String> {
        Vec::new()
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        Map::from_iter([
            ("access_token".to_owned(), json!(identity.private("access_token"))),
            ("user_id".to_owned(), json!(identity.remote_id)),
            ("expires_at".to_owned(), json!(rfc3339(identity.created_ms + access::LONG_MS))),
        ])
    }

    fn route(method: &Method, path: &[&str], call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Confirm, Prepare, Read};
        match (method, below_version(path)) {
            (&Method::GET, ["oauth", "authorize"]) => Route::page(login::authorize),
            (&Method::POST, ["oauth", "access_token"]) => {
                Route::immediate(Prepare, login::exchange_code)
            }
            (&Method::GET, ["access_token"]) => Route::immediate(Prepare, login::exchange_token),
            (&Method::GET, ["refresh_access_token"]) => Route::immediate(Prepare, login::refresh),
            (&Method::POST, [_, "threads"]) => {
                let phase = if create::publishes_at_once(call) { Commit } else { Prepare };
                Route::spawned(phase, |cx| Box::pin(create::create(cx)))
            }
            (&Method::POST, [_, "threads_publish"]) => Route::immediate(Commit, publish::publish),
            (&Method::GET, [_, "threads"]) => Route::immediate(Read, lists::posts),
            (&Method::GET, [_, "threads_publishing_limit"]) => {
                Route::immediate(Read, publish::limit)
            }
            (&Method::GET, [_, "threads_insights"]) => Route::immediate(Read, insights::of_user),
            (&Method::GET, [_, "insights"]) => Route::immediate(Read, insights::of_media),
            (&Method::POST, [_, "manage_reply"]) => Route::immediate(Commit, inbox::manage),
            (&Method::GET, [_, "replies"]) => Route::immediate(Read, lists::replies),
            (&Method::GET, [_, "conversation"]) => Route::immediate(Read, lists::conversation),
            (&Method::GET, ["me"]) => Route::immediate(Read, user::me),
            (&Method::GET, [_]) => Route::immediate(Confirm, media::get),
            (&Method::DELETE, [_]) => Route::immediate(Commit, media::delete),
            _ => None,
        }
    }

    fn caller(sim: &Sim<Self>, call: &Call) -> Option<Arc<Account<Self>>> {
        access::caller(sim, call)
    }

    fn apply(state: &mut State, _identity: &Identity, change: Change) {
        state.apply(change);
    }

    fn token_change(expired: bool) -> Option<Change> {
        Some(Change::Expired(expired))
    }

    fn posts(state: &State, identity: &Identity, base: &str) -> Vec<Post> {
        state
            .made
            .posts
            .values()
            .map(|post| representations::post(state, post, identity, base))
            .collect()
    }

    fn native_post(
        _state: &State,
        _identity: &Identity,
        new: &NativePost,
    ) -> (Vec<Change>, String) {
        native_post::post(new)
    }

    fn delete_post(state: &State, id: &str) -> Vec<Change> {
        let id = id.parse().ok().filter(|id| state.made.posts.contains_key(id));
        id.map(|id| Change::Deleted { id }).into_iter().collect()
    }

    fn mailbox(state: &State) -> Option<&Mailbox> {
        Some(&state.mail)
    }

    fn mailbox_change(change: mailbox::Change) -> Option<Change> {
        Some(Change::Mail(change))
    }

    fn new_item_id(
        unique: u64,
        state: &State,
        _identity: &Identity,
        new: &NewItem,
    ) -> Result<(String, Option<String>), String> {
        inbox::new_id(unique, state, new)
    }

    fn own_items(state: &State, identity: &Identity) -> Vec<Item> {
        inbox::own(state, identity)
    }

    fn webhook(identity: &Identity, item: &Item, verb: ItemEvent, now_ms: i64) -> Option<Value> {
        inbox::webhook(identity, item, verb, now_ms)
    }

    fn refuse(refusal: Refusal) -> Reply {
        let reply = failure::of_status(refusal.status);
        match refusal.status {
            429 => graph::with_wait(reply, "threads", refusal.retry_ms),
            _ => reply,
        }
    }

    fn no_route(call: &Call) -> Reply {
        failure::unknown_path(&call.method, &call.path)
    }

    fn objection(objection: &Objection) -> Reply {
        failure::objection(objection)
    }
}
