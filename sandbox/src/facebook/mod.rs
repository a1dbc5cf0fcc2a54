//! Facebook: the Graph API of pages, below one address with the login and the host that takes videos.
//!
//! <https://developers.facebook.com/docs/pages-api>

mod content;
mod elsewhere;
mod feed;
mod inbox;
mod insights;
mod photos;
mod reads;
mod shown;
mod state;
mod stories;
mod videos;

use std::collections::BTreeMap;
use std::sync::Arc;

use salvo::http::Method;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::elsewhere::Elsewhere;
use crate::env::Env;
use crate::graph::{self, Graph, access, below_version, failure, login, person};
use crate::mailbox::{self, Item, Mailbox, NewItem, Verb};
use crate::network::{Identity, Name, Network, Phase, Post, Refusal, Route};
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

    fn birth(env: &Env, name: &Name<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let username = name.fitted('.', allowed);
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
                Route::now(Prepare, login::token)
            }
            (&Method::GET, ["me"]) => Route::now(Read, person::me),
            (&Method::GET, ["me", "accounts"]) => Route::now(Read, person::accounts),
            (&Method::GET, ["me", "businesses"]) => Route::now(Read, person::businesses),
            (&Method::GET, ["me", "permissions"]) => Route::now(Read, person::permissions),
            (&Method::DELETE, ["me", "permissions"]) => Route::now(Prepare, person::revoke),
            (&Method::POST, ["video-upload", _, _]) => {
                Route::later(Prepare, |cx| Box::pin(videos::upload(cx)))
            }
            (&Method::POST, rest) => posting(rest, call),
            (&Method::GET, rest) => reading(rest),
            (&Method::DELETE, [_]) => Route::now(Phase::Commit, reads::delete),
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
        state.posts.values().map(|post| shown::post(state, post, identity, base)).collect()
    }

    fn elsewhere(_state: &State, identity: &Identity, new: &Elsewhere) -> (Vec<Change>, String) {
        elsewhere::post(identity, new)
    }

    fn delete(state: &State, id: &str) -> Vec<Change> {
        elsewhere::delete(state, id)
    }

    fn mailbox(state: &State) -> Option<&Mailbox> {
        Some(&state.mail)
    }

    fn mail(change: mailbox::Change) -> Option<Change> {
        Some(Change::Mail(change))
    }

    fn mail_id(
        unique: u64,
        state: &State,
        identity: &Identity,
        new: &NewItem,
    ) -> Result<(String, Option<String>), String> {
        inbox::new_id(unique, state, identity, new)
    }

    fn webhook(identity: &Identity, item: &Item, verb: Verb, now_ms: i64) -> Option<Value> {
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
        [_, "feed"] => Route::now(phase(public()), feed::post),
        [_, "photos"] => Route::later(phase(public()), |cx| Box::pin(photos::post(cx))),
        [_, "videos"] => Route::now(phase(public()), videos::post),
        [_, "video_reels" | "video_stories"] => Route::now(phase(finishes()), stories::phase),
        [_, "photo_stories"] => Route::now(Commit, stories::photo),
        [_, "thumbnails"] => Route::now(Prepare, videos::thumbnail),
        [_, "comments"] => Route::now(Commit, inbox::comment),
        [_, "messages"] => Route::later(Commit, |cx| Box::pin(graph::inbox::send(cx))),
        [_, "subscribed_apps"] => Route::now(Prepare, graph::inbox::subscribe),
        [_] if params().is_some_and(|params| params.has("is_hidden")) => {
            Route::now(Commit, inbox::hide)
        }
        [_] => Route::now(Commit, photos::cover),
        _ => None,
    }
}

fn reading(path: &[&str]) -> Option<Route<Facebook>> {
    use Phase::{Confirm, Read};
    match path {
        [_, "insights"] => Route::now(Read, insights::read),
        [_, "video_insights"] => Route::now(Read, insights::of_reel),
        [_, "published_posts" | "feed" | "posts"] => Route::now(Read, reads::posts),
        [_, "videos"] => Route::now(Read, reads::videos),
        [_, "stories"] => Route::now(Read, reads::stories),
        [_, "comments"] => Route::now(Read, inbox::comments),
        [_, "conversations"] => Route::now(Read, graph::inbox::conversations),
        [_] => Route::now(Confirm, reads::node),
        _ => None,
    }
}

/// Returns a new id of 16 digits.
fn id(cx: &Cx) -> u64 {
    cx.sim.env.unique()
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
    Params::read(&cx.call).map_err(|_| content::wrong("The body cannot be read"))
}
