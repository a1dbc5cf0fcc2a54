//! TikTok: OAuth, creators, videos uploaded in chunks and slideshows by URL, below one address.
//!
//! <https://developers.tiktok.com/doc/content-posting-api-reference-direct-post>

mod access;
mod begin;
mod creator;
mod failure;
mod login;
mod native_post;
mod progress;
mod state;

use std::collections::BTreeMap;
use std::sync::Arc;

use salvo::http::Method;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::env::{Env, rfc3339};
use crate::facts::Objection;
use crate::native_post::NativePost;
use crate::network::{Identity, Network, NewName, Phase, Refusal, Route};
use crate::random::{self, BASE62};
use crate::rate_limit::Limit;
use crate::reply::Reply;
use crate::sim::{Account, Sim};
use state::{Change, Post, State};

/// A request to this network.
type Cx = crate::network::Cx<Tiktok>;

/// The network.
pub(crate) struct Tiktok;

impl Network for Tiktok {
    const NAME: &'static str = "tiktok";
    const BODY_MAX: usize = 130 << 20;
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
        let username = name.joined('.', allowed).to_ascii_lowercase();
        if !(2..=24).contains(&username.len()) {
            return Err("a user name has 2 to 24 letters, digits, periods and underscores".into());
        }
        let open_id = format!("-000{}", random::text(BASE62, 24));
        let private = BTreeMap::from([
            ("access_token".to_owned(), access::new_token("act", &open_id)),
            ("refresh_token".to_owned(), access::new_token("rft", &open_id)),
        ]);
        Ok(Identity { remote_id: open_id, username, created_ms: env.now_ms(), private })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        vec![format!("@{}", identity.username)]
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        Map::from_iter([
            ("access_token".to_owned(), json!(identity.private("access_token"))),
            ("refresh_token".to_owned(), json!(identity.private("refresh_token"))),
            ("expires_at".to_owned(), json!(rfc3339(identity.created_ms + access::ACCESS_MS))),
        ])
    }

    fn route(method: &Method, path: &[&str], call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Confirm, Prepare, Read};
        match (method, path) {
            (&Method::GET, ["v2", "auth", "authorize"]) => Route::page(login::authorize),
            (&Method::POST, ["v2", "oauth", "token"]) => Route::immediate(Prepare, login::token),
            (&Method::POST, ["v2", "oauth", "revoke"]) => Route::immediate(Prepare, login::revoke),
            (&Method::GET, ["v2", "user", "info"]) => Route::immediate(Read, creator::info),
            (&Method::POST, ["v2", "video", "query"]) => Route::immediate(Read, creator::counts),
            (&Method::POST, ["v2", "video", "list"]) => Route::immediate(Read, creator::list),
            (&Method::POST, ["v2", "post", "publish", "creator_info", "query"]) => {
                Route::immediate(Read, creator::query)
            }
            (&Method::POST, ["v2", "post", "publish", "video", "init"]) => {
                Route::immediate(Prepare, begin::video)
            }
            (&Method::POST, ["v2", "post", "publish", "content", "init"]) => {
                Route::spawned(Commit, |cx| Box::pin(begin::photos(cx)))
            }
            (&Method::PUT, ["video"]) => {
                let phase = if progress::is_last(call) { Commit } else { Prepare };
                Route::immediate(phase, progress::put)
            }
            (&Method::POST, ["v2", "post", "publish", "status", "fetch"]) => {
                Route::immediate(Confirm, progress::status)
            }
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

    fn revival() -> Option<Change> {
        Some(Change::Revived)
    }

    fn posts(state: &State, identity: &Identity, base: &str) -> Vec<crate::network::Post> {
        let shown = state.posts.values().map(|post| {
            let text = |name: &str| post.info.get(name).and_then(Value::as_str).unwrap_or_default();
            let id = post.id.to_string();
            crate::network::Post {
                text: text(if post.is_photo { "description" } else { "title" }).to_owned(),
                media: post.media.clone(),
                created_at: rfc3339(post.at_ms),
                url: address(base, &identity.username, post),
                extra: post.info.clone(),
                page: id.clone(),
                id,
            }
        });
        shown.collect()
    }

    fn native_post(state: &State, _identity: &Identity, new: &NativePost) -> (Vec<Change>, String) {
        native_post::post(state, new)
    }

    fn delete_post(state: &State, id: &str) -> Vec<Change> {
        let id = id.parse().ok().filter(|id| state.posts.contains_key(id));
        id.map(|id| Change::Deleted { id }).into_iter().collect()
    }

    fn refuse(refusal: Refusal) -> Reply {
        failure::of_status(refusal.status)
    }

    fn no_route(call: &Call) -> Reply {
        let message = format!("The API path /{} does not exist", call.path);
        failure::error(404, "unsupported_path", &message)
    }

    fn objection(objection: &Objection) -> Reply {
        failure::objection(objection)
    }

    fn page<'a>(path: &[&'a str]) -> Option<(&'a str, &'a str)> {
        match path {
            [name, "video" | "photo", id] if name.starts_with('@') => Some((name, id)),
            _ => None,
        }
    }
}

/// Returns the public address of a post.
fn address(base: &str, username: &str, post: &Post) -> String {
    let kind = if post.is_photo { "photo" } else { "video" };
    format!("{base}/@{username}/{kind}/{}", post.id)
}

/// Counts a call of the creator, if limits are enforced.
fn count_call(cx: &Cx, account: &Account<Tiktok>, limit: Limit) -> Result<(), Reply> {
    if !cx.sim.env.rate_limits() || account.take_units(limit, 1, cx.now_ms()).allowed {
        return Ok(());
    }
    Err(failure::of_status(429))
}
