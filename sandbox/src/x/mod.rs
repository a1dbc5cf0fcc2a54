//! X: version 2 of its API and OAuth, below one address.
//!
//! <https://docs.x.com/x-api>

mod access;
mod failure;
mod limits;
mod login;
mod media;
mod native_post;
mod representations;
mod schema;
mod state;
mod text;
mod tweets;

use std::collections::BTreeMap;
use std::sync::Arc;

use salvo::http::Method;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::env::{Env, rfc3339};
use crate::facts::Objection;
use crate::native_post::NativePost;
use crate::network::{Identity, Network, NewName, Phase, Post, Refusal, Route};
use crate::random;
use crate::reply::{HandlerResult, Reply};
use crate::sim::{Account, Sim};
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<X>;

/// The network.
pub(crate) struct X;

impl Network for X {
    const NAME: &'static str = "x";
    const BODY_MAX: usize = 20 << 20;
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut username = name.joined('_', allowed);
        if matches!(name, NewName::Generated(..)) {
            // Two words may be longer than a name allows; their ends make them unique.
            username = username.replace('_', "");
            username = username.split_off(username.len().saturating_sub(15));
        }
        if username.is_empty() || username.len() > 15 {
            return Err("a user name has 1 to 15 letters, digits and underscores".into());
        }
        let user_id = random::number(18).to_string();
        let token = |name: &str| (name.to_owned(), access::new_token(&user_id));
        let private = BTreeMap::from([token(access::ACCESS), token(access::REFRESH)]);
        Ok(Identity { remote_id: user_id, username, created_ms: env.now_ms(), private })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        vec![identity.username.clone()]
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        Map::from_iter([
            ("access_token".to_owned(), json!(identity.private(access::ACCESS))),
            ("refresh_token".to_owned(), json!(identity.private(access::REFRESH))),
            ("expires_at".to_owned(), json!(rfc3339(identity.created_ms + access::LIFE_MS))),
            ("user_id".to_owned(), json!(identity.remote_id)),
        ])
    }

    fn route(method: &Method, path: &[&str], _call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Prepare, Read};
        match (method, path) {
            (&Method::GET, ["i", "oauth2", "authorize"]) => Route::page(login::authorize),
            (&Method::POST, ["2", "oauth2", "token"]) => Route::immediate(Prepare, login::token),
            (&Method::POST, ["2", "oauth2", "revoke"]) => Route::immediate(Prepare, login::revoke),
            (&Method::GET, ["2", "users", "me"]) => Route::immediate(Read, me),
            (&Method::GET, ["2", "users", _, "tweets"]) => Route::immediate(Read, tweets::list),
            (&Method::POST, ["2", "tweets"]) => Route::immediate(Commit, tweets::create),
            (&Method::GET, ["2", "tweets"]) => Route::immediate(Read, tweets::get_many),
            (&Method::GET, ["2", "tweets", _]) => Route::immediate(Read, tweets::one),
            (&Method::DELETE, ["2", "tweets", _]) => Route::immediate(Commit, tweets::delete),
            (&Method::POST, ["2", "media", "upload"]) => Route::immediate(Prepare, media::upload),
            (&Method::GET, ["2", "media", "upload"]) => Route::immediate(Prepare, media::status),
            (&Method::POST, ["2", "media", "metadata"]) => {
                Route::immediate(Prepare, media::metadata)
            }
            (&Method::POST, ["2", "media", "upload", "initialize"]) => {
                Route::immediate(Prepare, media::initialize)
            }
            (&Method::POST, ["2", "media", "upload", _, "append"]) => {
                Route::immediate(Prepare, media::append)
            }
            (&Method::POST, ["2", "media", "upload", _, "finalize"]) => {
                Route::immediate(Prepare, media::finalize)
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

    fn posts(state: &State, identity: &Identity, base: &str) -> Vec<Post> {
        let replaced = state.replaced();
        state
            .posts
            .values()
            .filter(|tweet| !replaced.contains(&tweet.id))
            .map(|tweet| representations::post(state, tweet, identity, base))
            .collect()
    }

    fn native_post(state: &State, _identity: &Identity, new: &NativePost) -> (Vec<Change>, String) {
        native_post::post(state, new)
    }

    fn another_id(state: &State, id: &str, unique: u64, at_ms: i64) -> Vec<Change> {
        native_post::edit(state, id, unique, at_ms)
    }

    fn delete_post(state: &State, id: &str) -> Vec<Change> {
        let id = id.parse().ok().filter(|id| state.posts.contains_key(id));
        id.map(|id| Change::Deleted { id }).into_iter().collect()
    }

    fn refuse(refusal: Refusal) -> Reply {
        let wait_ms = i64::try_from(refusal.retry_ms).unwrap_or(i64::MAX / 2);
        match refusal.status {
            429 => failure::too_many(refusal.now_ms + wait_ms),
            status => failure::of_status(status),
        }
    }

    fn no_route(_call: &Call) -> Reply {
        failure::problem(404, "Not Found", "Not Found")
    }

    fn objection(objection: &Objection) -> Reply {
        failure::objection(objection)
    }

    fn page<'a>(path: &[&'a str]) -> Option<(&'a str, &'a str)> {
        match path {
            [name, "status", id] => Some((name, id)),
            _ => None,
        }
    }
}

/// `GET /2/users/me`
fn me(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    limits::limited(cx, &account, limits::ME, || {
        let identity = &account.identity;
        let asked = schema::user_fields(&cx.call)?;
        let mut user = json!({
            "id": identity.remote_id,
            "name": identity.username,
            "username": identity.username,
        });
        for (name, value) in [
            ("verified", json!(false)),
            ("verified_type", json!("none")),
            ("subscription_type", json!("None")),
            ("profile_image_url", json!(cx.sim.picture(&identity.remote_id))),
        ] {
            if asked.iter().any(|field| field == name) {
                user[name] = value;
            }
        }
        Ok(Reply::ok(&json!({ "data": user })))
    })
}

/// Returns a new id of 16 digits.
fn id(cx: &Cx) -> u64 {
    cx.sim.env.unique_number()
}
