//! WordPress: one self-hosted site with its REST API, with and without pretty permalinks.
//!
//! <https://developer.wordpress.org/rest-api/reference/>

mod articles;
mod listing;
mod media;
mod native_post;
mod representations;
mod rest;
mod slug;
mod state;
mod terms;
mod users;

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
type Cx = crate::network::Cx<WordPress>;

/// The network: one site, whose users are the accounts.
pub(crate) struct WordPress;

impl Network for WordPress {
    const NAME: &'static str = "wordpress";
    /// The largest body that the site's web server takes.
    const BODY_MAX: usize = 32 << 20;
    const SHOWS: Shows = Shows { author_only: &[("/status", "pending")], state: "/status" };
    const SHARES_STATE: bool = true;
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let username = name
            .joined('-', |c| c.is_ascii_alphanumeric() || "-_.".contains(c))
            .to_ascii_lowercase();
        if username.is_empty() || username.len() > 60 {
            return Err(
                "a user name has 1 to 60 letters, digits, periods, dashes and underscores".into()
            );
        }
        let group = || random::text(BASE62, 4);
        let password = [group(), group(), group(), group(), group(), group()].join(" ");
        let private = BTreeMap::from([
            ("application_password".to_owned(), password),
            ("email".to_owned(), format!("{username}@example.test")),
        ]);
        Ok(Identity {
            remote_id: random::number(7).to_string(),
            username,
            created_ms: env.now_ms(),
            private,
        })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        vec![identity.username.clone(), identity.private("email").to_owned()]
    }

    fn credentials(identity: &Identity, base: &str) -> Map<String, Value> {
        Map::from_iter([
            ("site_url".to_owned(), json!(base)),
            ("username".to_owned(), json!(identity.username)),
            ("application_password".to_owned(), json!(identity.private("application_password"))),
        ])
    }

    /// Clients identify an account by host and user.
    fn plain_remote_id(remote_id: &str) -> &str {
        remote_id.rsplit(':').next().unwrap_or(remote_id)
    }

    fn route(method: &Method, _path: &[&str], call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Confirm, Prepare, Read};
        let path = rest::path(call)?;
        let changes = matches!(*method, Method::POST | Method::PUT | Method::PATCH);
        match (method, path.split('/').collect::<Vec<_>>().as_slice()) {
            (&Method::GET, [""]) => Route::immediate(Read, users::index),
            (&Method::GET, ["users", "me"]) => Route::immediate(Read, users::me),
            (&Method::GET, ["posts"]) => Route::immediate(Read, listing::posts),
            (&Method::POST, ["posts"]) => Route::immediate(Commit, articles::create),
            (&Method::GET, ["posts", _]) => Route::immediate(Confirm, articles::get),
            (_, ["posts", _]) if changes => Route::immediate(Commit, articles::update),
            (&Method::DELETE, ["posts", _]) => Route::immediate(Commit, articles::delete),
            (&Method::GET, ["media"]) => Route::immediate(Read, media::list),
            (&Method::POST, ["media"]) => Route::immediate(Prepare, media::create),
            (&Method::GET, ["media", _]) => Route::immediate(Read, media::get),
            (_, ["media", _]) if changes => Route::immediate(Prepare, media::update),
            (&Method::GET, ["categories" | "tags"]) => Route::immediate(Read, terms::list),
            (&Method::POST, ["categories" | "tags"]) => Route::immediate(Prepare, terms::create),
            (&Method::GET, ["categories" | "tags", _]) => Route::immediate(Read, terms::get),
            _ => None,
        }
    }

    fn caller(sim: &Sim<Self>, call: &Call) -> Option<Arc<Account<Self>>> {
        sim.find(&call.basic()?.0.to_ascii_lowercase())
    }

    fn apply(state: &mut State, identity: &Identity, change: Change) {
        state.apply(identity, change);
    }

    fn token_change(expired: bool) -> Option<Change> {
        Some(Change::Revoked(expired))
    }

    fn posts(state: &State, identity: &Identity, base: &str) -> Vec<Post> {
        let user = rest::user_id(identity);
        state
            .articles
            .values()
            .filter(|article| article.author == user)
            .map(|article| representations::post(state, article, base))
            .collect()
    }

    fn native_post(state: &State, identity: &Identity, new: &NativePost) -> (Vec<Change>, String) {
        native_post::post(state, identity, new)
    }

    fn delete_post(state: &State, id: &str) -> Vec<Change> {
        let id = id.parse().ok().filter(|id| state.articles.contains_key(id));
        id.map(|id| Change::Deleted { id }).into_iter().collect()
    }

    fn refuse(refusal: Refusal) -> Reply {
        match refusal.status {
            400 => rest::failure(400, "rest_invalid_param", "Invalid parameter(s)"),
            401 => rest::failure(401, "rest_not_logged_in", "You are not currently logged in."),
            403 => rest::failure(403, "rest_forbidden", "Sorry, you are not allowed to do that."),
            404 => rest::no_route(),
            429 => rest::web_server(429).with("retry-after", refusal.retry_seconds()),
            500 => rest::failure(
                500,
                "internal_server_error",
                "<p>There has been a critical error on this website.</p>",
            ),
            status => rest::web_server(status),
        }
    }

    fn no_route(call: &Call) -> Reply {
        if rest::path(call).is_some() { rest::no_route() } else { rest::web_server(404) }
    }

    fn objection(objection: &Objection) -> Reply {
        match objection {
            Objection::Permission(_) => {
                rest::failure(403, "rest_forbidden", "Sorry, you are not allowed to do that.")
            }
            _ => rest::invalid(&objection.path(), &objection.to_string()),
        }
    }
}
