//! LinkedIn: OAuth, people and pages, uploads and posts, below one address.
//!
//! <https://learn.microsoft.com/en-us/linkedin/>. An account is a member and the one page that the member administers.
//! An account that is created with the name `company/…` is the page, with its administrator's tokens.

mod access;
mod content;
mod failure;
mod little_text;
mod login;
mod media;
mod native_post;
mod people;
mod posts;
mod state;
mod statistics;

use std::collections::BTreeMap;
use std::sync::Arc;

use salvo::http::Method;
use serde_json::{Map, Value, json};

use crate::behaviour::Shows;
use crate::call::Call;
use crate::env::{Env, rfc3339};
use crate::facts::Objection;
use crate::native_post::NativePost;
use crate::network::{Identity, Network, NewName, Phase, Post, Refusal, Route};
use crate::random::{self, BASE62};
use crate::rate_limit::Limit;
use crate::reply::Reply;
use crate::sim::{Account, Sim};
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<Linkedin>;

/// The prefix of a page's name.
const PAGE: &str = "company/";

/// The network.
pub(crate) struct Linkedin;

impl Network for Linkedin {
    const NAME: &'static str = "linkedin";
    const BODY_MAX: usize = 110 << 20;
    const SHOWS: Shows =
        Shows { author_only: &[("/visibility", "CONNECTIONS")], state: "/lifecycleState" };
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let page = match name {
            NewName::Requested(name) => name.strip_prefix(PAGE).map(NewName::Requested),
            NewName::Generated(..) => None,
        };
        let (is_page, name) = page.map_or((false, name), |_| (true, name));
        let fitted = match name {
            NewName::Requested(name) => {
                NewName::Requested(name.trim_start_matches(PAGE)).joined('-', allowed)
            }
            made => made.joined('-', allowed),
        };
        let username = fitted.to_ascii_lowercase();
        if !(3..=90).contains(&username.len()) {
            return Err("a vanity name has 3 to 90 letters, digits and hyphens".into());
        }
        let (sub, organization) = (random::text(BASE62, access::SUB), random::number(8));
        let (vanity, organization_vanity) = if is_page {
            (format!("{username}-admin"), username.clone())
        } else {
            (username.clone(), format!("{username}-co"))
        };
        let private = BTreeMap::from([
            ("access_token".to_owned(), access::new_token(&sub)),
            ("refresh_token".to_owned(), access::new_token(&sub)),
            ("name".to_owned(), vanity.replace('-', " ")),
            ("vanity".to_owned(), vanity),
            ("organization_name".to_owned(), organization_vanity.replace('-', " ")),
            ("organization_vanity".to_owned(), organization_vanity),
            ("organization_id".to_owned(), organization.to_string()),
            ("sub".to_owned(), sub.clone()),
        ]);
        let remote_id = if is_page {
            format!("urn:li:organization:{organization}")
        } else {
            format!("urn:li:person:{sub}")
        };
        Ok(Identity { remote_id, username, created_ms: env.now_ms(), private })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        vec![
            identity.private("sub").to_owned(),
            access::person(identity),
            access::page(identity),
            format!("{PAGE}{}", identity.private("organization_vanity")),
        ]
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        let mut credentials = Map::from_iter([
            ("access_token".to_owned(), json!(identity.private("access_token"))),
            ("refresh_token".to_owned(), json!(identity.private("refresh_token"))),
            ("expires_at".to_owned(), json!(rfc3339(identity.created_ms + access::ACCESS_MS))),
        ]);
        if identity.remote_id == access::page(identity) {
            credentials.insert("organization".to_owned(), json!(identity.remote_id));
        }
        credentials
    }

    fn route(method: &Method, path: &[&str], _call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Confirm, Prepare, Read};
        match (method, path) {
            (&Method::GET, ["oauth", "v2", "authorization"]) => Route::page(login::authorize),
            (&Method::POST, ["oauth", "v2", "accessToken"]) => {
                Route::immediate(Prepare, login::token)
            }
            (&Method::POST, ["oauth", "v2", "revoke"]) => Route::immediate(Prepare, login::revoke),
            (&Method::GET, ["v2", "userinfo"]) => Route::immediate(Read, people::userinfo),
            (&Method::GET, ["v2", "me"]) => Route::immediate(Read, people::me),
            (&Method::GET, ["v2", "organizationalEntityAcls" | "organizations"]) => {
                Route::immediate(Read, people::unversioned)
            }
            (&Method::GET, ["rest", "organizationAcls"]) => Route::immediate(Read, people::acls),
            (&Method::GET, ["rest", "organizations"]) => {
                Route::immediate(Read, people::organizations)
            }
            (&Method::GET, ["rest", "organizationalEntityNotifications"]) => {
                Route::immediate(Read, people::notifications)
            }
            (&Method::POST, ["rest", "images" | "videos" | "documents"]) => {
                Route::immediate(Prepare, media::act)
            }
            (&Method::GET, ["rest", "images" | "videos" | "documents", _]) => {
                Route::immediate(Prepare, media::get)
            }
            (&Method::PUT, ["dms-uploads", _, _]) => Route::immediate(Prepare, media::put),
            (&Method::GET, ["rest", "networkSizes", _]) => Route::immediate(Read, statistics::size),
            (&Method::GET, ["rest", "organizationalEntityShareStatistics"]) => {
                Route::immediate(Read, statistics::shares)
            }
            (&Method::GET, ["rest", "organizationalEntityFollowerStatistics"]) => {
                Route::immediate(Read, statistics::followers)
            }
            (&Method::GET, ["rest", "organizationPageStatistics"]) => {
                Route::immediate(Read, statistics::pages)
            }
            (&Method::GET, ["rest", "memberCreatorPostAnalytics"]) => {
                Route::immediate(Read, statistics::of_member)
            }
            (&Method::POST, ["rest", "posts"]) => Route::immediate(Commit, posts::create),
            (&Method::GET, ["rest", "posts"]) => Route::immediate(Read, posts::list),
            (&Method::GET, ["rest", "posts", _]) => Route::immediate(Confirm, posts::get),
            (&Method::DELETE, ["rest", "posts", _]) => Route::immediate(Commit, posts::delete),
            (&Method::GET, ["feed", "update", _]) => Route::immediate(Read, posts::page),
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

    fn posts(state: &State, _identity: &Identity, base: &str) -> Vec<Post> {
        let shown = state.posts.values().map(|post| Post {
            id: post.urn.clone(),
            text: post.text.clone(),
            media: post.media.clone(),
            created_at: rfc3339(post.at_ms),
            url: format!("{base}/feed/update/{}", post.urn),
            extra: post.extra.clone(),
            page: post.urn.clone(),
        });
        shown.collect()
    }

    /// A page and its administrator have separate posts.
    fn belongs_to(post: &Post, key: &str) -> bool {
        !key.starts_with("urn:li:") || post.extra.get("author").is_none_or(|author| author == key)
    }

    fn native_post(state: &State, identity: &Identity, new: &NativePost) -> (Vec<Change>, String) {
        native_post::post(state, identity, new)
    }

    fn delete_post(state: &State, id: &str) -> Vec<Change> {
        native_post::delete(state, id)
    }

    fn refuse(refusal: Refusal) -> Reply {
        failure::of_status(refusal.status)
    }

    fn no_route(call: &Call) -> Reply {
        failure::missing(&call.path)
    }

    fn objection(objection: &Objection) -> Reply {
        failure::objection(objection)
    }

    fn secret_in_path(path: &str) -> Option<&str> {
        path.strip_prefix("dms-uploads/")?.split('/').next()
    }
}

/// Returns the URN at a position in the path.
fn urn_of(cx: &Cx, place: usize) -> String {
    cx.call.segment(place).replace("%3A", ":").replace("%3a", ":")
}

/// Counts a request of the member.
fn count_request(cx: &Cx, account: &Account<Linkedin>) -> Result<(), Reply> {
    const DAY: Limit = Limit { name: "requests", units: 150, span_ms: 86_400_000 };
    if !cx.sim.env.rate_limits() || account.take_units(DAY, 1, cx.now_ms()).allowed {
        return Ok(());
    }
    let message = "Resource level throttle MEMBER DAY limit for calls to this resource is reached.";
    Err(failure::error(429, "TOO_MANY_REQUESTS", message))
}
