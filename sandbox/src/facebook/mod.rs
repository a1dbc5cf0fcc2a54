//! Facebook: the Graph API of pages, below one address with the login and the host that takes videos.
//!
//! <https://developers.facebook.com/docs/pages-api>

mod content;
mod feed;
mod inbox;
mod insights;
mod native_post;
mod photos;
mod reads;
mod representations;
mod state;
mod stories;
mod videos;

use std::collections::BTreeMap;
use std::sync::Arc;

use salvo::http::Method;
use serde_json::{Map, Value, json};

use crate::behaviour::Ids;
use crate::call::Call;
use crate::env::Env;
use crate::facts::Objection;
use crate::graph::{self, Graph, access, below_version, failure, login, person};
use crate::mailbox::{self, Item, ItemEvent, Mailbox, NewItem};
use crate::native_post::NativePost;
use crate::network::{Identity, Network, NewName, Phase, Post, Refusal, Route};
use crate::params::Params;
use crate::random;
use crate::reply::Reply;
use crate::sim::{Account, Sim};
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<Facebook>;

/// The network.
pub(crate) struct Facebook;

impl Network for Facebook {
    const NAME: &'static str = "facebook";
    const BODY_MAX: usize = 16 << 20;
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let username = name.joined('.', allowed);
        if username.is_empty() || username.len() > 50 {
            return Err("a page's name has 1 to 50 letters, digits and periods".into());
        }
        let page_id = random::number(15).to_string();
        let token = access::page_token(&page_id);
        let private = BTreeMap::from([(access::PAGE_TOKEN.to_owned(), token)]);
        Ok(Identity { remote_id: page_id, username, created_ms: env.now_ms(), private })
    }

    fn keys(_identity: &Identity) -> Vec<String> {
        Vec::new()
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        Map::from_iter([
            ("access_token".to_owned(), json!(identity.private(access::PAGE_TOKEN))),
            ("page_id".to_owned(), json!(identity.remote_id)),
        ])
    }

    fn route(method: &Method, path: &[&str], call: &Call) -> Option<Route<Self>> {
        use Phase::{Prepare, Read};
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
            (&Method::POST, ["video-upload", _, _]) => {
                Route::spawned(Prepare, |cx| Box::pin(videos::upload(cx)))
            }
            (&Method::POST, rest) => posting(rest, call),
            (&Method::GET, rest) => reading(rest),
            (&Method::DELETE, [_]) => Route::immediate(Phase::Commit, reads::delete),
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
            .posts
            .values()
            .filter(|post| state.is_for_people(post))
            .map(|post| representations::post(state, post, identity, base))
            .collect()
    }

    fn native_post(_state: &State, identity: &Identity, new: &NativePost) -> (Vec<Change>, String) {
        native_post::post(identity, new)
    }

    fn delete_post(state: &State, id: &str) -> Vec<Change> {
        native_post::delete(state, id)
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
        identity: &Identity,
        new: &NewItem,
    ) -> Result<(String, Option<String>), String> {
        inbox::new_id(unique, state, identity, new)
    }

    fn other_name(state: &State, identity: &Identity, ids: &Ids, name: String) -> String {
        inbox::other_name(state, identity, ids, name)
    }

    fn webhook(identity: &Identity, item: &Item, verb: ItemEvent, now_ms: i64) -> Option<Value> {
        inbox::webhook(identity, item, verb, now_ms)
    }

    fn refuse(refusal: Refusal) -> Reply {
        match refusal.status {
            429 => {
                graph::throttled(32, "(#32) Page request limit reached", "page", refusal.retry_ms)
            }
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

impl Graph for Facebook {
    fn logins(state: &State) -> &login::Logins {
        &state.logins
    }

    fn login(change: login::Change) -> Change {
        Change::Login(change)
    }

    fn page_id(identity: &Identity) -> &str {
        &identity.remote_id
    }

    fn page_extra(_identity: &Identity, _picture: &str) -> Value {
        json!({})
    }
}

fn posting(path: &[&str], call: &Call) -> Option<Route<Facebook>> {
    use Phase::{Commit, Prepare};
    let params = || Params::read(call).ok();
    let finishes = || {
        let phase = params().and_then(|params| params.filled("upload_phase"));
        phase.as_deref() == Some("finish")
    };
    // A post is public unless the request keeps it unpublished.
    let public =
        || params().and_then(|params| params.filled("published")).as_deref() != Some("false");
    let phase = |commits: bool| if commits { Commit } else { Prepare };
    match path {
        [_, "feed"] => Route::immediate(phase(public()), feed::post),
        [_, "photos"] => Route::spawned(phase(public()), |cx| Box::pin(photos::post(cx))),
        [_, "videos"] => Route::immediate(phase(public()), videos::post),
        [_, "video_reels" | "video_stories"] => Route::immediate(phase(finishes()), stories::phase),
        [_, "photo_stories"] => Route::immediate(Commit, stories::photo),
        [_, "thumbnails"] => Route::immediate(Prepare, videos::thumbnail),
        [_, "comments"] => Route::immediate(Commit, inbox::comment),
        [_, "messages"] => Route::spawned(Commit, |cx| Box::pin(graph::inbox::send(cx))),
        [_, "subscribed_apps"] => Route::immediate(Prepare, graph::inbox::subscribe),
        [_] if params().is_some_and(|params| params.has("is_hidden")) => {
            Route::immediate(Commit, inbox::hide)
        }
        [_] => Route::immediate(Commit, photos::cover),
        _ => None,
    }
}

fn reading(path: &[&str]) -> Option<Route<Facebook>> {
    use Phase::{Confirm, Read};
    match path {
        [_, "insights"] => Route::immediate(Read, insights::read),
        [_, "video_insights"] => Route::immediate(Read, insights::of_video),
        [_, "published_posts" | "feed" | "posts"] => Route::immediate(Read, reads::posts),
        [_, "videos"] => Route::immediate(Read, reads::videos),
        [_, "stories"] => Route::immediate(Read, reads::stories),
        [_, "comments"] => Route::immediate(Read, inbox::comments),
        [_, "conversations"] => Route::immediate(Read, graph::inbox::conversations),
        [_] => Route::immediate(Confirm, reads::node),
        _ => None,
    }
}

/// Returns a new id of 16 digits.
fn id(cx: &Cx) -> u64 {
    cx.sim.env.unique_number()
}

/// Returns the first segment of the path below the version.
fn first(cx: &Cx) -> String {
    let segments = cx.call.segments();
    below_version(&segments).first().copied().unwrap_or_default().to_owned()
}

/// Returns the page in the path, which the token must belong to.
fn page(cx: &Cx) -> Result<Arc<Account<Facebook>>, Reply> {
    access::named(cx, &first(cx))
}

/// Returns the parameters of the request.
fn params(cx: &Cx) -> Result<Params, Reply> {
    Params::read(&cx.call).map_err(|_| content::invalid_parameter("The body cannot be read"))
}
