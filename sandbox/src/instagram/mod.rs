//! Instagram: the Graph API of professional accounts that are linked to pages, below one address with the login and the
//! host that takes videos.
//!
//! <https://developers.facebook.com/docs/instagram-platform>

mod comments;
mod container;
mod content;
mod create;
mod inbox;
mod insights;
mod native_post;
mod publish;
mod reads;
mod representations;
mod state;

use std::collections::BTreeMap;
use std::sync::Arc;

use salvo::http::Method;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::env::Env;
use crate::facts::Objection;
use crate::graph::{self, Graph, access, below_version, containers, failure, login, person};
use crate::mailbox::{self, Item, ItemEvent, Mailbox, NewItem};
use crate::native_post::NativePost;
use crate::network::{Identity, Network, NewName, Phase, Post, Refusal, Route};
use crate::params::Params;
use crate::random;
use crate::reply::Reply;
use crate::sim::{Account, Sim};
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<Instagram>;

/// The network.
pub(crate) struct Instagram;

/// The private value of an identity that holds the linked page's id.
const PAGE: &str = "page_id";

impl Network for Instagram {
    const NAME: &'static str = "instagram";
    const BODY_MAX: usize = 16 << 20;
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
        let username = name.joined('.', allowed).to_ascii_lowercase();
        if username.is_empty() || username.len() > 30 {
            return Err("a user name has 1 to 30 letters, digits, periods and underscores".into());
        }
        let user_id = format!("1784{}", random::number(13));
        let private = BTreeMap::from([
            (access::PAGE_TOKEN.to_owned(), access::page_token(&user_id)),
            (PAGE.to_owned(), random::number(15).to_string()),
        ]);
        Ok(Identity { remote_id: user_id, username, created_ms: env.now_ms(), private })
    }

    fn keys(_identity: &Identity) -> Vec<String> {
        Vec::new()
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        Map::from_iter([
            ("access_token".to_owned(), json!(identity.private(access::PAGE_TOKEN))),
            ("page_id".to_owned(), json!(identity.private(PAGE))),
            ("user_id".to_owned(), json!(identity.remote_id)),
        ])
    }

    fn route(method: &Method, path: &[&str], _call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Confirm, Prepare, Read};
        match (method, below_version(path)) {
            (&Method::GET, ["dialog", "oauth"]) => Route::page(login::authorize),
            (&Method::GET | &Method::POST, ["oauth", "access_token"]) => {
                Route::immediate(Prepare, login::token)
            }
            (&Method::GET, ["me"]) => Route::immediate(Read, person::me),
            (&Method::GET, ["me", "accounts"]) => Route::immediate(Read, person::accounts),
            (&Method::GET, ["me", "businesses"]) => Route::immediate(Read, person::businesses),
            (&Method::GET, ["me", "permissions"]) => Route::immediate(Read, person::permissions),
            (&Method::DELETE, ["me", "permissions"]) => Route::immediate(Prepare, person::revoke),
            (&Method::GET, ["ig_audio"]) => Route::immediate(Read, reads::audio),
            (&Method::POST, ["ig-api-upload", _, _]) => {
                Route::spawned(Prepare, |cx| Box::pin(create::upload(cx)))
            }
            (&Method::POST, [_, "media"]) => {
                Route::spawned(Prepare, |cx| Box::pin(create::create(cx)))
            }
            (&Method::POST, [_, "media_publish"]) => Route::immediate(Commit, publish::publish),
            (&Method::POST, [_, "comments"]) => Route::immediate(Commit, comments::post),
            (&Method::POST, [_, "replies"]) => Route::immediate(Commit, inbox::reply),
            (&Method::POST, [_, "messages"]) => {
                Route::spawned(Commit, |cx| Box::pin(graph::inbox::send(cx)))
            }
            (&Method::POST, [_, "subscribed_apps"]) => {
                Route::immediate(Prepare, graph::inbox::subscribe)
            }
            (&Method::POST, [_]) => Route::immediate(Commit, inbox::hide),
            (&Method::DELETE, [_]) => Route::immediate(Commit, graph::inbox::delete),
            (&Method::GET, [_, "conversations"]) => {
                Route::immediate(Read, graph::inbox::conversations)
            }
            (&Method::GET, [_, "replies"]) => Route::immediate(Read, inbox::replies),
            (&Method::GET, [_, "content_publishing_limit"]) => {
                Route::immediate(Read, publish::limit)
            }
            (&Method::GET, [_, "poll_attachment" | "prompt_response"]) => {
                Route::immediate(Confirm, reads::addon)
            }
            (&Method::GET, [_, "media"]) => Route::immediate(Read, reads::media),
            (&Method::GET, [_, "insights"]) => Route::immediate(Read, insights::read),
            (&Method::GET, [_, "stories"]) => Route::immediate(Read, reads::stories),
            (&Method::GET, [_, "comments"]) => Route::immediate(Read, comments::list),
            (&Method::GET, [_]) => Route::immediate(Confirm, reads::node),
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
        Some(Change::Login(login::Change::Expired(expired)))
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
        id.map(|id| Change::Made(containers::Change::Gone { id })).into_iter().collect()
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

    fn webhook(identity: &Identity, item: &Item, verb: ItemEvent, now_ms: i64) -> Option<Value> {
        inbox::webhook(identity, item, verb, now_ms)
    }

    fn refuse(refusal: Refusal) -> Reply {
        let message = "(#80002) There have been too many calls to this Instagram account.";
        match refusal.status {
            429 => graph::throttled(80_002, message, "instagram", refusal.retry_ms),
            status => failure::of_status(status),
        }
    }

    fn no_route(call: &Call) -> Reply {
        failure::unknown_path(&call.method, &call.path)
    }

    fn objection(objection: &Objection) -> Reply {
        failure::objection(objection)
    }
}

impl Graph for Instagram {
    fn logins(state: &State) -> &login::Logins {
        &state.logins
    }

    fn login(change: login::Change) -> Change {
        Change::Login(change)
    }

    fn page_id(identity: &Identity) -> &str {
        identity.private(PAGE)
    }

    fn page_extra(identity: &Identity, picture: &str) -> Value {
        json!({"instagram_business_account": {
            "id": identity.remote_id,
            "username": identity.username,
            "name": identity.username.replace(['.', '_'], " "),
            "profile_picture_url": picture,
        }})
    }
}

/// Returns a new id of 17 digits.
fn id(cx: &Cx) -> u64 {
    17_000_000_000_000_000 + cx.sim.env.unique_number()
}

/// Returns the first segment of the path below the version.
fn first(cx: &Cx) -> String {
    let segments = cx.call.segments();
    below_version(&segments).first().copied().unwrap_or_default().to_owned()
}

/// Returns the account in the path, which the token's page must be linked to.
fn user(cx: &Cx) -> Result<Arc<Account<Instagram>>, Reply> {
    let (named, account) = (first(cx), access::page(cx)?);
    if named == account.identity.remote_id { Ok(account) } else { Err(failure::missing(&named)) }
}

/// Returns the parameters of the request.
fn params(cx: &Cx) -> Result<Params, Reply> {
    Params::read(&cx.call)
        .map_err(|_| failure::graph(400, 100, 0, "(#100) The body cannot be read"))
}
