//! Google Business Profile: OAuth, locations and their posts, below one address.
//!
//! <https://developers.google.com/my-business/reference/rest>. An account is a user with two locations; it can be found
//! by the number of either.

mod access;
mod failure;
mod locations;
mod media;
mod native_post;
mod performance;
mod posts;
mod reviews;
mod rules;
mod state;

use std::sync::Arc;

use salvo::http::Method;
use serde_json::{Map, Value, json};

use crate::behaviour::Shows;
use crate::call::Call;
use crate::env::Env;
use crate::facts::Objection;
use crate::google::{self, Google, login};
use crate::mailbox::{self, Item, ItemKind, Mailbox, NewItem};
use crate::native_post::NativePost;
use crate::network::{Identity, Network, NewName, Phase, Post, Refusal, Route};
use crate::random;
use crate::reply::Reply;
use crate::sim::{Account, Sim};
use locations::LOCATIONS;
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<GoogleBusiness>;

/// The network.
pub(crate) struct GoogleBusiness;

impl Network for GoogleBusiness {
    const NAME: &'static str = "google_business";
    const BODY_MAX: usize = 1 << 20;
    const SHOWS: Shows = Shows { author_only: &[], state: "/state" };
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '&');
        let username = name.joined(' ', allowed);
        if !(1..=80).contains(&username.chars().count()) {
            return Err("a business is called something of 1 to 80 characters".into());
        }
        let account = random::number(18).to_string();
        let mut private = google::access::initial_tokens(&account);
        for (which, ..) in LOCATIONS {
            private.insert(which.to_owned(), random::number(17).to_string());
        }
        Ok(Identity { remote_id: account, username, created_ms: env.now_ms(), private })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        LOCATIONS.iter().map(|(which, ..)| identity.private(which).to_owned()).collect()
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        let mut credentials = google::access::credentials(identity);
        let location = locations::location(identity, LOCATIONS[0].0);
        credentials.insert("location".to_owned(), json!(location));
        credentials
    }

    fn route(method: &Method, path: &[&str], _call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Confirm, Prepare, Read};
        match (method, path) {
            (&Method::GET, ["o", "oauth2", "v2", "auth"]) => Route::page(login::authorize),
            (&Method::POST, ["token"]) => Route::immediate(Prepare, login::token),
            (&Method::POST, ["revoke"]) => Route::immediate(Prepare, login::revoke),
            (&Method::GET, ["v1", "accounts"]) => Route::immediate(Read, locations::accounts),
            (&Method::GET, ["v1", "accounts", _, "locations"]) => {
                Route::immediate(Read, locations::locations)
            }
            (&Method::GET, ["v1", "locations", name]) if name.contains(':') => {
                Route::immediate(Read, performance::read)
            }
            (&Method::GET, ["v1", "locations", _]) => {
                Route::immediate(Read, locations::location_record)
            }
            (&Method::GET, ["v1", "locations", _, "VoiceOfMerchantState"]) => {
                Route::immediate(Read, locations::voice)
            }
            (method, ["v4", "accounts", _, "locations", _, "reviews", rest @ ..]) => {
                match (method, rest) {
                    (&Method::GET, []) => Route::immediate(Read, reviews::list),
                    (&Method::GET, [_]) => Route::immediate(Read, reviews::get),
                    (&Method::PUT, [_, "reply"]) => Route::immediate(Commit, reviews::reply),
                    (&Method::DELETE, [_, "reply"]) => Route::immediate(Commit, reviews::delete),
                    _ => None,
                }
            }
            (method, ["v4", "accounts", _, "locations", _, "media", rest @ ..]) => {
                match (method, rest) {
                    (&Method::POST, []) => Route::spawned(Commit, |cx| Box::pin(media::create(cx))),
                    (&Method::GET, []) => Route::immediate(Read, media::list),
                    (&Method::GET, [_]) => Route::immediate(Read, media::get),
                    (&Method::DELETE, [_]) => Route::immediate(Commit, media::delete),
                    _ => None,
                }
            }
            (&Method::GET, ["local", _]) => Route::immediate(Read, posts::public),
            (method, ["v4", "accounts", _, "locations", _, "localPosts", rest @ ..]) => {
                match (method, rest) {
                    (&Method::POST, []) => Route::spawned(Commit, |cx| Box::pin(posts::create(cx))),
                    (&Method::GET, []) => Route::immediate(Read, posts::list),
                    (&Method::GET, [_]) => Route::immediate(Confirm, posts::get),
                    (&Method::DELETE, [_]) => Route::immediate(Commit, posts::delete),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn caller(sim: &Sim<Self>, call: &Call) -> Option<Arc<Account<Self>>> {
        google::access::caller(sim, call)
    }

    fn apply(state: &mut State, _identity: &Identity, change: Change) {
        state.apply(change);
    }

    fn token_change(expired: bool) -> Option<Change> {
        Some(Change::Login(login::Change::Expired(expired)))
    }

    fn revival() -> Option<Change> {
        Some(Change::Login(login::Change::Revived))
    }

    fn posts(state: &State, _identity: &Identity, base: &str) -> Vec<Post> {
        state.posts.values().map(|post| posts::shown(post, base)).collect()
    }

    /// Each location has its own posts; the account has those of both.
    fn belongs_to(post: &Post, key: &str) -> bool {
        let parent = post.extra.get("location").and_then(Value::as_str).unwrap_or_default();
        parent.split('/').any(|part| part == key)
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
        _state: &State,
        identity: &Identity,
        new: &NewItem,
    ) -> Result<(String, Option<String>), String> {
        reviews::new_id(unique, identity, new)
    }

    fn own_items(state: &State, identity: &Identity) -> Vec<Item> {
        let own = |(id, answered): (&String, &reviews::Answered)| Item {
            id: format!("{id}/reply"),
            kind: ItemKind::Review,
            at_ms: answered.at_ms,
            author: mailbox::Author {
                id: identity.remote_id.clone(),
                username: identity.username.clone(),
            },
            own: true,
            text: answered.text.clone(),
            with: None,
            post: None,
            parent: Some(id.clone()),
            attachments: Vec::new(),
            rating: None,
            hidden: false,
            deleted: false,
            private_reply: false,
            metadata: None,
        };
        state.replies.iter().map(own).collect()
    }

    fn decide(rejects: Option<bool>, video_ms: Option<i64>, state: &State) -> Option<Change> {
        let mut decisions = state.decisions.clone();
        decisions.rejects = rejects.unwrap_or(decisions.rejects);
        decisions.video_ms = video_ms.unwrap_or(decisions.video_ms);
        Some(Change::Decides(decisions))
    }

    fn refuse(refusal: Refusal) -> Reply {
        failure::of_status(refusal.status)
    }

    fn no_route(_call: &Call) -> Reply {
        failure::missing()
    }

    fn objection(objection: &Objection) -> Reply {
        failure::objection(objection)
    }
}

impl Google for GoogleBusiness {
    const SCOPES: &'static [&'static str] = &[access::MANAGE, "userinfo.profile"];

    fn logins(state: &State) -> &login::Logins {
        &state.logins
    }

    fn login(change: login::Change) -> Change {
        Change::Login(change)
    }
}
