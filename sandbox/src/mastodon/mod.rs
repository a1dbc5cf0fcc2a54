//! Mastodon: one instance with its statuses, media and polls.
//!
//! <https://docs.joinmastodon.org/client/intro/>

mod access;
mod instance;
mod listing;
mod media;
mod native_post;
mod oauth;
mod poll;
mod representations;
mod state;
mod status;
mod text;

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
use crate::random::{self, BASE64URL};
use crate::reply::Reply;
use crate::sim::{Account, Sim};
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<Mastodon>;

/// The network: one instance, whose users are the accounts.
pub(crate) struct Mastodon;

impl Network for Mastodon {
    const NAME: &'static str = "mastodon";
    const BODY_MAX: usize = 110 << 20;
    const SHOWS: Shows = Shows { author_only: &[("/visibility", "private")], state: "" };
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let username = name.joined('_', allowed).to_ascii_lowercase();
        if username.is_empty() || username.len() > 30 {
            return Err("a user name has 1 to 30 letters, digits and underscores".into());
        }
        Ok(Identity {
            remote_id: random::number(18).to_string(),
            username,
            created_ms: env.now_ms(),
            private: BTreeMap::from([("access_token".to_owned(), random::text(BASE64URL, 43))]),
        })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        vec![
            format!("token:{}", identity.private("access_token")),
            format!("@{}", identity.username),
        ]
    }

    fn credentials(identity: &Identity, base: &str) -> Map<String, Value> {
        Map::from_iter([
            ("instance_url".to_owned(), json!(base)),
            ("access_token".to_owned(), json!(identity.private("access_token"))),
        ])
    }

    /// Clients identify an account by instance and number.
    fn plain_remote_id(remote_id: &str) -> &str {
        remote_id.rsplit(':').next().unwrap_or(remote_id)
    }

    fn route(method: &Method, path: &[&str], _call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Confirm, Prepare, Read};
        match (method, path) {
            (&Method::GET, ["api", "v1" | "v2", "instance"]) => {
                Route::immediate(Read, instance::get)
            }
            (&Method::GET, ["api", "v1", "accounts", "verify_credentials"]) => {
                Route::immediate(Read, access::verify_credentials)
            }
            (&Method::GET, ["api", "v1", "accounts", _, "statuses"]) => {
                Route::immediate(Read, listing::of_account)
            }
            (&Method::POST, ["api", "v1" | "v2", "media"]) => {
                Route::immediate(Prepare, media::create)
            }
            (&Method::GET, ["api", "v1", "media", _]) => Route::immediate(Prepare, media::get),
            (&Method::PUT, ["api", "v1", "media", _]) => Route::immediate(Prepare, media::update),
            (&Method::POST, ["api", "v1", "statuses"]) => Route::immediate(Commit, status::create),
            (&Method::GET, ["api", "v1", "statuses", _]) => Route::immediate(Confirm, listing::get),
            (&Method::GET, ["api", "v1", "statuses", _, "source"]) => {
                Route::immediate(Read, listing::source)
            }
            (&Method::DELETE, ["api", "v1", "statuses", _]) => {
                Route::immediate(Commit, status::delete)
            }
            (&Method::POST, ["api", "v1", "apps"]) => Route::immediate(Read, oauth::register),
            (&Method::GET, ["oauth", "authorize"]) => Route::page(oauth::authorize),
            (&Method::POST, ["oauth", "token"]) => Route::immediate(Read, oauth::token),
            (&Method::POST, ["oauth", "revoke"]) => Route::immediate(Read, access::revoke),
            _ => None,
        }
    }

    fn caller(sim: &Sim<Self>, call: &Call) -> Option<Arc<Account<Self>>> {
        let token = call.bearer().map(str::to_owned).or_else(|| access::token_in_form(call));
        sim.find(&format!("token:{}", token?))
    }

    fn apply(state: &mut State, _identity: &Identity, change: Change) {
        state.apply(change);
    }

    fn token_change(expired: bool) -> Option<Change> {
        Some(Change::Revoked(expired))
    }

    fn posts(state: &State, identity: &Identity, base: &str) -> Vec<Post> {
        state
            .statuses
            .values()
            .map(|status| representations::post(state, status, identity, base))
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
        let id = id.parse().ok().filter(|id| state.statuses.contains_key(id));
        id.map(|id| Change::Deleted { id }).into_iter().collect()
    }

    fn refuse(refusal: Refusal) -> Reply {
        let reply = access::failure(
            refusal.status,
            match refusal.status {
                400 => "There was a problem with the request",
                401 => "The access token is invalid",
                403 => "This action is not allowed",
                404 => "Record not found",
                422 => "Validation failed: Text can't be blank",
                429 => "Too many requests",
                503 => "Remote data could not be fetched",
                _ => "Internal Server Error",
            },
        );
        if refusal.status != 429 {
            return reply;
        }
        let reset = refusal.now_ms + i64::try_from(refusal.retry_ms).unwrap_or(0);
        access::with_limit(reply, access::CALLS.units, 0, reset)
    }

    fn no_route(_call: &Call) -> Reply {
        access::failure(404, "Not Found")
    }

    fn objection(objection: &Objection) -> Reply {
        match objection {
            Objection::Permission(_) => {
                access::failure(403, "This action is outside the authorized scopes")
            }
            _ => access::invalid(&objection.to_string()),
        }
    }

    fn page<'a>(path: &[&'a str]) -> Option<(&'a str, &'a str)> {
        match path {
            [user, id] if user.starts_with('@') => Some((user, id)),
            _ => None,
        }
    }
}
