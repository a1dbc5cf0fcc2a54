//! Lemmy: one instance with its communities, its users, and an image store (pict-rs) beside it.
//!
//! <https://join-lemmy.org/api/>, version 0.19.

mod access;
mod community;
mod image;
mod listing;
mod native_post;
mod posting;
mod representations;
mod site;
mod state;

use std::collections::BTreeMap;
use std::sync::Arc;

use salvo::http::Method;
use serde_json::{Map, Value, json};

use crate::behaviour::Shows;
use crate::call::Call;
use crate::env::Env;
use crate::facts::Objection;
use crate::native_post::NativePost;
use crate::network::{Identity, Network, NewName, Phase, Post, Refusal, Route};
use crate::random::{self, BASE62};
use crate::reply::Reply;
use crate::sim::{Account, Sim};
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<Lemmy>;

/// The network: one instance, whose users are the accounts.
pub(crate) struct Lemmy;

/// The name by which other instances know this one.
const HOST: &str = "lemmy.example";
/// The number of digits of a user id.
const AUTHOR_DIGITS: usize = 7;

impl Network for Lemmy {
    const NAME: &'static str = "lemmy";
    const BODY_MAX: usize = 40 << 20;
    const SHOWS: Shows = Shows { author_only: &[("/removed", "true")], state: "" };
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let username = name.joined('_', allowed).to_ascii_lowercase();
        if !(3..=20).contains(&username.len()) {
            return Err("a user name has 3 to 20 letters, digits and underscores".into());
        }
        let private = BTreeMap::from([
            ("password".to_owned(), random::text(BASE62, 20)),
            ("email".to_owned(), format!("{username}@example.test")),
        ]);
        let remote_id = random::number(7).to_string();
        Ok(Identity { remote_id, username, created_ms: env.now_ms(), private })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        vec![identity.username.clone(), identity.private("email").to_owned()]
    }

    fn credentials(identity: &Identity, base: &str) -> Map<String, Value> {
        Map::from_iter([
            ("instance_url".to_owned(), json!(base)),
            ("username".to_owned(), json!(identity.username)),
            ("password".to_owned(), json!(identity.private("password"))),
        ])
    }

    /// Clients identify an account by instance and person.
    fn plain_remote_id(remote_id: &str) -> &str {
        remote_id.rsplit(':').next().unwrap_or(remote_id)
    }

    fn route(method: &Method, path: &[&str], _call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Confirm, Prepare, Read};
        match (method, path) {
            (&Method::POST, ["api", "v3", "user", "login"]) => {
                Route::immediate(Read, access::login)
            }
            (&Method::GET, ["api", "v3", "site"]) => Route::immediate(Read, site::get),
            (&Method::GET, ["api", "v3", "community"]) => Route::immediate(Read, community::get),
            (&Method::GET, ["api", "v3", "community", "list"]) => {
                Route::immediate(Read, community::list)
            }
            (&Method::GET, ["api", "v3", "resolve_object"]) => {
                Route::immediate(Read, community::resolve)
            }
            (&Method::GET, ["api", "v3", "user"]) => Route::immediate(Read, listing::user),
            (&Method::GET, ["api", "v3", "post"]) => Route::immediate(Confirm, listing::post),
            (&Method::POST, ["api", "v3", "post"]) => Route::immediate(Commit, posting::create),
            (&Method::POST, ["api", "v3", "post", "delete"]) => {
                Route::immediate(Commit, posting::delete)
            }
            (&Method::POST, ["pictrs", "image"]) => Route::immediate(Prepare, image::upload),
            (&Method::GET, ["pictrs", "image", _]) => Route::immediate(Read, image::get),
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
        expired.then_some(Change::LoggedOut)
    }

    fn posts(state: &State, _identity: &Identity, base: &str) -> Vec<Post> {
        state
            .posts
            .values()
            .filter(|post| !post.deleted)
            .map(|post| representations::post(state, post, base))
            .collect()
    }

    fn native_post(state: &State, identity: &Identity, new: &NativePost) -> (Vec<Change>, String) {
        native_post::post(state, identity, new)
    }

    fn delete_post(state: &State, id: &str) -> Vec<Change> {
        native_post::delete(state, id)
    }

    fn refuse(refusal: Refusal) -> Reply {
        match refusal.status {
            400 => access::failure(400, "invalid_post_title"),
            401 => access::failure(401, "not_logged_in"),
            403 => access::failure(400, "only_mods_can_post_in_community"),
            404 => access::failure(404, "couldnt_find_post"),
            // An instance of version 0.19 returns neither 429 nor a time to wait.
            429 => access::failure(400, "rate_limit_error"),
            409 | 422 => access::failure(400, "couldnt_create_post"),
            500 => access::failure(500, "unknown"),
            status => Reply::html(status, format!("<html><body><h1>{status}</h1></body></html>")),
        }
    }

    fn no_route(_call: &Call) -> Reply {
        Reply::html(404, "<html><body><h1>404 Not Found</h1></body></html>".into())
    }

    fn objection(objection: &Objection) -> Reply {
        let message = format!("Json deserialize error: {objection}");
        Reply::json(400, &json!({"error": "unknown", "message": message}))
    }

    fn page<'a>(path: &[&'a str]) -> Option<(&'a str, &'a str)> {
        match path {
            // A post's id starts with the author's.
            ["post", id] => Some((id.get(..AUTHOR_DIGITS)?, id)),
            _ => None,
        }
    }
}
