//! Hashnode: one GraphQL endpoint over users, publications and their articles.
//!
//! <https://docs.hashnode.com/api>

mod arguments;
mod graphql;
mod native_post;
mod operation;
mod publish;
mod representations;
mod state;

use std::collections::BTreeMap;
use std::sync::Arc;

use salvo::http::Method;
use serde_json::{Map, Value, json};

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
type Cx = crate::network::Cx<Hashnode>;

/// The network.
pub(crate) struct Hashnode;

/// The digits of ids.
const HEX: &[u8] = b"0123456789abcdef";

impl Network for Hashnode {
    const NAME: &'static str = "hashnode";
    /// "Request body is limited to 100 KB".
    const BODY_MAX: usize = 100 << 10;
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let username = name.joined('-', |c| c.is_ascii_alphanumeric()).to_ascii_lowercase();
        if !(2..=40).contains(&username.len()) {
            return Err("a user name has 2 to 40 letters and digits".into());
        }
        let private = BTreeMap::from([
            ("token".to_owned(), random::text(BASE62, 36)),
            ("publication_id".to_owned(), random::text(HEX, 24)),
        ]);
        let remote_id = random::text(HEX, 24);
        Ok(Identity { remote_id, username, created_ms: env.now_ms(), private })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        vec![
            format!("token:{}", identity.private("token")),
            format!("publication:{}", identity.private("publication_id")),
            identity.username.clone(),
        ]
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        Map::from_iter([
            ("personal_access_token".to_owned(), json!(identity.private("token"))),
            ("publication_id".to_owned(), json!(identity.private("publication_id"))),
        ])
    }

    /// Clients identify an account by user and publication.
    fn plain_remote_id(remote_id: &str) -> &str {
        remote_id.split(':').next().unwrap_or(remote_id)
    }

    fn route(method: &Method, path: &[&str], call: &Call) -> Option<Route<Self>> {
        if !path.is_empty() || *method != Method::POST {
            return None;
        }
        let phase = if operation::is_mutation(call) { Phase::Commit } else { Phase::Read };
        Route::immediate(phase, operation::run)
    }

    fn caller(sim: &Sim<Self>, call: &Call) -> Option<Arc<Account<Self>>> {
        sim.find(&format!("token:{}", call.bearer()?))
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
            .iter()
            .map(|article| representations::post(article, identity, base))
            .collect()
    }

    fn native_post(state: &State, _identity: &Identity, new: &NativePost) -> (Vec<Change>, String) {
        native_post::post(state, new)
    }

    fn delete_post(state: &State, id: &str) -> Vec<Change> {
        let is_there = state.articles.iter().any(|article| article.id == id);
        is_there.then(|| Change::Deleted { id: id.to_owned() }).into_iter().collect()
    }

    fn refuse(refusal: Refusal) -> Reply {
        match refusal.status {
            401 => operation::failure(200, "UNAUTHENTICATED", "You must be authenticated."),
            403 => operation::failure(200, "FORBIDDEN", "You are not allowed to do this."),
            404 => operation::failure(200, "NOT_FOUND", "Publication not found"),
            400 | 422 => operation::failure(200, "BAD_USER_INPUT", "The input is not valid."),
            429 => Reply::json(429, &json!({"message": "Too many requests"}))
                .with("retry-after", refusal.retry_seconds()),
            500 => operation::failure(200, "INTERNAL_SERVER_ERROR", "Internal server error"),
            status => Reply::html(status, format!("<html><body>{status}</body></html>")),
        }
    }

    fn no_route(_call: &Call) -> Reply {
        Reply::json(404, &json!({"message": "Not found"}))
    }

    fn objection(objection: &Objection) -> Reply {
        match objection {
            Objection::Permission(_) => {
                operation::failure(200, "FORBIDDEN", &objection.to_string())
            }
            _ => operation::failure(400, "GRAPHQL_VALIDATION_FAILED", &objection.to_string()),
        }
    }

    fn page<'a>(path: &[&'a str]) -> Option<(&'a str, &'a str)> {
        match path {
            [user, slug] if *user != "ui" => Some((user, slug)),
            _ => None,
        }
    }
}
