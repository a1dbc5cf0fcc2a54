//! DEV (Forem): articles by API key.
//!
//! <https://developers.forem.com/api/v1>

mod access;
mod article;
mod front_matter;
mod native_post;
mod representations;
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
type Cx = crate::network::Cx<Devto>;

/// The network.
pub(crate) struct Devto;

impl Network for Devto {
    const NAME: &'static str = "devto";
    const BODY_MAX: usize = 4 << 20;
    const SHOWS: Shows = Shows { author_only: &[("/published_at", "null")], state: "" };
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let username = name.joined('_', allowed).to_ascii_lowercase();
        if !(2..=30).contains(&username.len()) {
            return Err("a user name has 2 to 30 letters, digits and underscores".into());
        }
        let key = random::text(BASE62, 24);
        Ok(Identity {
            remote_id: random::number(7).to_string(),
            username,
            created_ms: env.now_ms(),
            private: BTreeMap::from([("api_key".to_owned(), key)]),
        })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        vec![format!("key:{}", identity.private("api_key")), identity.username.clone()]
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        Map::from_iter([("api_key".to_owned(), json!(identity.private("api_key")))])
    }

    fn route(method: &Method, path: &[&str], _call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Confirm, Read};
        match (method, path) {
            (&Method::GET, ["api", "users", "me"]) => Route::immediate(Read, access::me),
            (&Method::POST, ["api", "articles"]) => Route::immediate(Commit, article::create),
            (&Method::GET, ["api", "articles", "me"]) => Route::immediate(Read, article::published),
            (&Method::GET, ["api", "articles", "me", "published"]) => {
                Route::immediate(Read, article::published)
            }
            (&Method::GET, ["api", "articles", "me", "all"]) => {
                Route::immediate(Read, article::all)
            }
            (&Method::GET, ["api", "articles", _]) => Route::immediate(Confirm, article::get),
            (&Method::PUT, ["api", "articles", _]) => Route::immediate(Commit, article::update),
            _ => None,
        }
    }

    fn caller(sim: &Sim<Self>, call: &Call) -> Option<Arc<Account<Self>>> {
        sim.find(&format!("key:{}", call.header("api-key")?))
    }

    fn apply(state: &mut State, _identity: &Identity, change: Change) {
        state.apply(change);
    }

    fn token_change(expired: bool) -> Option<Change> {
        Some(Change::Revoked(expired))
    }

    fn posts(state: &State, identity: &Identity, base: &str) -> Vec<Post> {
        state
            .articles
            .values()
            .map(|article| representations::post(article, identity, base))
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
        let id = id.parse().ok().filter(|id| state.articles.contains_key(id));
        id.map(|id| Change::Deleted { id }).into_iter().collect()
    }

    fn refuse(refusal: Refusal) -> Reply {
        let said = match refusal.status {
            400 => "bad request",
            401 => "unauthorized",
            403 => "forbidden",
            404 => "not found",
            422 => "unprocessable entity",
            429 => return access::too_many(refusal.retry_seconds()),
            _ => "internal server error",
        };
        access::failure(refusal.status, said)
    }

    fn no_route(_call: &Call) -> Reply {
        access::failure(404, "not found")
    }

    fn objection(objection: &Objection) -> Reply {
        match objection {
            Objection::Permission(_) => access::failure(401, "unauthorized"),
            _ if objection.path() == "article" => {
                access::failure(400, "param is missing or the value is empty: article")
            }
            _ => access::failure(422, &objection.to_string()),
        }
    }

    fn page<'a>(path: &[&'a str]) -> Option<(&'a str, &'a str)> {
        match path {
            [user, slug] if *user != "api" && *user != "ui" => Some((user, slug)),
            _ => None,
        }
    }
}
