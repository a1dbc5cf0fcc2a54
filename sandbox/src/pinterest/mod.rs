//! Pinterest: OAuth, boards, pins and video uploads, below one address.
//!
//! <https://developers.pinterest.com/docs/api/v5/>

mod access;
mod analytics;
mod boards;
mod failure;
mod login;
mod media;
mod native_post;
mod pins;
mod source;
mod state;

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
use crate::reply::Reply;
use crate::sim::{Account, Sim};
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<Pinterest>;

/// The network.
pub(crate) struct Pinterest;

impl Network for Pinterest {
    const NAME: &'static str = "pinterest";
    const BODY_MAX: usize = 256 << 20;
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let username = name.joined('_', allowed).to_ascii_lowercase();
        if !(3..=30).contains(&username.len()) {
            return Err("a user name has 3 to 30 letters, digits and underscores".into());
        }
        let user = random::number(18).to_string();
        let private = BTreeMap::from([
            ("access_token".to_owned(), access::new_token("pina", &user)),
            ("refresh_token".to_owned(), access::new_token("pinr", &user)),
        ]);
        Ok(Identity { remote_id: user, username, created_ms: env.now_ms(), private })
    }

    fn keys(_identity: &Identity) -> Vec<String> {
        Vec::new()
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        Map::from_iter([
            ("access_token".to_owned(), json!(identity.private("access_token"))),
            ("refresh_token".to_owned(), json!(identity.private("refresh_token"))),
            ("expires_at".to_owned(), json!(rfc3339(identity.created_ms + access::ACCESS_MS))),
        ])
    }

    fn route(method: &Method, path: &[&str], _call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Confirm, Prepare, Read};
        match (method, path) {
            (&Method::GET, ["oauth"]) => Route::page(login::authorize),
            (&Method::POST, ["v5", "oauth", "token"]) => Route::immediate(Prepare, login::token),
            (&Method::GET, ["v5", "user_account"]) => Route::immediate(Read, boards::user),
            (&Method::GET, ["v5", "user_account", "analytics"]) => {
                Route::immediate(Read, analytics::of_account)
            }
            (&Method::GET, ["v5", "pins", _, "analytics"]) => {
                Route::immediate(Read, analytics::of_pin)
            }
            (&Method::GET, ["v5", "boards"]) => Route::immediate(Read, boards::list),
            (&Method::GET, ["v5", "boards", _]) => Route::immediate(Read, boards::get),
            (&Method::GET, ["v5", "boards", _, "pins"] | ["v5", "pins"]) => {
                Route::immediate(Read, pins::list)
            }
            (&Method::POST, ["v5", "media"]) => Route::immediate(Prepare, media::register),
            (&Method::GET, ["v5", "media", _]) => Route::immediate(Prepare, media::get),
            (&Method::POST, ["upload", _, _]) => Route::immediate(Prepare, media::receive),
            (&Method::POST, ["v5", "pins"]) => {
                Route::spawned(Commit, |cx| Box::pin(pins::create(cx)))
            }
            (&Method::GET, ["v5", "pins", _]) => Route::immediate(Confirm, pins::get),
            (&Method::DELETE, ["v5", "pins", _]) => Route::immediate(Commit, pins::delete),
            (&Method::GET, ["pin", _]) => Route::immediate(Read, pins::page),
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

    fn posts(state: &State, _identity: &Identity, base: &str) -> Vec<Post> {
        let shown = state.pins.values().map(|pin| {
            let text = |name: &str| pin.fields.get(name).and_then(Value::as_str);
            let id = pin.id.to_string();
            Post {
                text: text("description").unwrap_or_default().to_owned(),
                media: pin.media.clone(),
                created_at: rfc3339(pin.at_ms),
                url: format!("{base}/pin/{id}"),
                extra: pin.fields.clone(),
                page: id.clone(),
                id,
            }
        });
        shown.collect()
    }

    fn native_post(
        _state: &State,
        _identity: &Identity,
        new: &NativePost,
    ) -> (Vec<Change>, String) {
        native_post::post(new)
    }

    fn delete_post(state: &State, id: &str) -> Vec<Change> {
        let id = id.parse().ok().filter(|id| state.pins.contains_key(id));
        id.map(|id| Change::Deleted { id }).into_iter().collect()
    }

    fn refuse(refusal: Refusal) -> Reply {
        failure::of_status(refusal)
    }

    fn no_route(call: &Call) -> Reply {
        failure::error(404, 4, &format!("No route for {} /{}", call.method, call.path))
    }

    fn objection(objection: &Objection) -> Reply {
        failure::objection(objection)
    }
}

/// Returns a new id of 18 digits.
fn id(cx: &Cx) -> u64 {
    800_000_000_000_000_000 + cx.sim.env.unique_number()
}
