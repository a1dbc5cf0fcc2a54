//! Discord: webhooks of guild channels. One whose name ends in `forum` belongs to a forum channel.
//!
//! <https://discord.com/developers/docs/resources/webhook>

mod embeds;
mod form_errors;
mod messages;
mod native_post;
mod payload;
mod poll;
mod representations;
mod state;
mod webhook;

use std::collections::BTreeMap;
use std::sync::Arc;

use salvo::http::Method;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::env::Env;
use crate::facts::Objection;
use crate::native_post::NativePost;
use crate::network::{Identity, Network, NewName, Phase, Post, Refusal, Route};
use crate::random::{self, BASE64URL};
use crate::rate_limit::LimitDecision;
use crate::reply::Reply;
use crate::sim::{Account, Sim};
use form_errors::FormErrors;
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<Discord>;

/// The network.
pub(crate) struct Discord;

/// The epoch of Discord's ids: the start of 2015, in milliseconds.
const EPOCH_MS: u64 = 1_420_070_400_000;
/// The address of Discord's real API; a client with another base address keeps the path.
const REAL: &str = "https://discord.com";
/// The most files of a message, and the most bytes of each in a server without boosts.
const FILES: usize = 10;
const FILE_MAX: usize = 10 << 20;

impl Network for Discord {
    const NAME: &'static str = "discord";
    const BODY_MAX: usize = FILES * FILE_MAX + (4 << 20);
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let username = name.joined(' ', |c| !c.is_control());
        let lower = username.to_lowercase();
        if !(1..=80).contains(&username.chars().count())
            || lower.contains("discord")
            || lower.contains("clyde")
        {
            return Err(format!("{username:?} may not be a webhook's name"));
        }
        let private = BTreeMap::from([
            ("token".to_owned(), random::text(BASE64URL, 68)),
            ("channel_id".to_owned(), snowflake(env.unique_number()).to_string()),
            ("guild_id".to_owned(), snowflake(env.unique_number()).to_string()),
        ]);
        let remote_id = snowflake(env.unique_number()).to_string();
        Ok(Identity { remote_id, username, created_ms: env.now_ms(), private })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        vec![identity.private("channel_id").to_owned()]
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        let url =
            format!("{REAL}/api/webhooks/{}/{}", identity.remote_id, identity.private("token"));
        Map::from_iter([("webhook_url".to_owned(), json!(url))])
    }

    fn route(method: &Method, path: &[&str], _call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Confirm, Read};
        match (method, below_api(path)?) {
            (&Method::GET, ["webhooks", _, _]) => Route::immediate(Read, webhook::get),
            (&Method::POST, ["webhooks", _, _]) => Route::immediate(Commit, messages::execute),
            (&Method::GET, ["webhooks", _, _, "messages", _]) => {
                Route::immediate(Confirm, messages::get)
            }
            (&Method::PATCH, ["webhooks", _, _, "messages", _]) => {
                Route::immediate(Commit, messages::edit)
            }
            (&Method::DELETE, ["webhooks", _, _, "messages", _]) => {
                Route::immediate(Commit, messages::delete)
            }
            _ => None,
        }
    }

    fn caller(sim: &Sim<Self>, call: &Call) -> Option<Arc<Account<Self>>> {
        let segments = call.segments();
        sim.account(below_api(&segments)?.get(1)?)
    }

    fn apply(state: &mut State, _identity: &Identity, change: Change) {
        state.apply(change);
    }

    fn token_change(expired: bool) -> Option<Change> {
        Some(Change::Revoked(expired))
    }

    fn posts(state: &State, identity: &Identity, base: &str) -> Vec<Post> {
        state
            .messages
            .values()
            .map(|message| representations::post(message, identity, base))
            .collect()
    }

    fn native_post(state: &State, _identity: &Identity, new: &NativePost) -> (Vec<Change>, String) {
        native_post::post(state, new)
    }

    fn delete_post(state: &State, id: &str) -> Vec<Change> {
        let id = id.parse().ok().filter(|id| state.messages.contains_key(id));
        id.map(|id| Change::Deleted { id }).into_iter().collect()
    }

    fn refuse(refusal: Refusal) -> Reply {
        match refusal.status {
            400 => failure(400, 50035, "Invalid Form Body"),
            401 => failure(401, 50027, "Invalid Webhook Token"),
            403 => failure(403, 50013, "Missing Permissions"),
            404 => failure(404, 10015, "Unknown Webhook"),
            413 => failure(413, 40005, "Request entity too large"),
            429 => too_many(refusal.retry_ms, refusal.now_ms),
            status => failure(status, 0, &status_line(status)),
        }
    }

    fn no_route(call: &Call) -> Reply {
        match below_api(&call.segments()) {
            Some(["webhooks", _, _, ..]) => failure(405, 0, "405: Method Not Allowed"),
            _ => failure(404, 0, "404: Not Found"),
        }
    }

    fn objection(objection: &Objection) -> Reply {
        let mut errors = FormErrors::default();
        match objection {
            Objection::Permission(_) => return failure(403, 50013, "Missing Permissions"),
            _ => {
                // With files the names are inside of one part, which is not named.
                let (path, why) = (objection.path(), objection.to_string());
                let inner = |text: &str| text.replacen("payload_json.", "", 1);
                errors.add(&inner(&path), "BASE_TYPE_BAD_TYPE", &inner(&why));
            }
        }
        errors.refuse().err().unwrap_or_else(|| failure(400, 50035, "Invalid Form Body"))
    }

    fn secret_in_path(path: &str) -> Option<&str> {
        let segments: Vec<_> = path.split('/').collect();
        let at = segments.iter().position(|segment| *segment == "webhooks")?;
        segments.get(at + 2).copied()
    }

    fn page<'a>(path: &[&'a str]) -> Option<(&'a str, &'a str)> {
        match path {
            ["channels", _guild, channel, message] => Some((channel, message)),
            _ => None,
        }
    }
}

/// Returns the path below `api` and its version.
fn below_api<'a, 'b>(path: &'a [&'b str]) -> Option<&'a [&'b str]> {
    let rest = path.strip_prefix(&["api"])?;
    let version =
        rest.first().and_then(|v| v.strip_prefix('v')).is_some_and(|v| v.parse::<u8>().is_ok());
    if version { rest.get(1..) } else { Some(rest) }
}

/// Returns true for a webhook of a forum channel, whose messages are threads or in threads.
fn is_forum(identity: &Identity) -> bool {
    identity.username.to_lowercase().ends_with("forum")
}

/// Returns Discord's kind of id for a unique number of microseconds.
fn snowflake(us: u64) -> u64 {
    ((us / 1_000).saturating_sub(EPOCH_MS) << 22) | (us % 1_000)
}

fn failure(status: u16, code: u32, message: &str) -> Reply {
    Reply::json(status, &json!({"message": message, "code": code}))
}

fn status_line(status: u16) -> String {
    let reason = salvo::http::StatusCode::from_u16(status).ok().and_then(|s| s.canonical_reason());
    format!("{status}: {}", reason.unwrap_or("Error"))
}

/// Returns 429 with the time to wait, in body and headers.
fn too_many(retry_ms: u64, now_ms: i64) -> Reply {
    let seconds = retry_ms as f64 / 1_000.0;
    let body =
        json!({"message": "You are being rate limited.", "retry_after": seconds, "global": false});
    Reply::json(429, &body)
        .with("retry-after", retry_ms.div_ceil(1_000).max(1))
        .with("x-ratelimit-limit", 5)
        .with("x-ratelimit-remaining", 0)
        .with("x-ratelimit-reset", now_ms as f64 / 1_000.0 + seconds)
        .with("x-ratelimit-reset-after", seconds)
        .with("x-ratelimit-scope", "user")
}

/// Adds the headers that report the state of a rate limit.
fn with_bucket(reply: Reply, paced: LimitDecision, units: u32, now_ms: i64) -> Reply {
    reply
        .with("x-ratelimit-limit", units)
        .with("x-ratelimit-remaining", paced.remaining)
        .with("x-ratelimit-reset", paced.reset_ms as f64 / 1_000.0)
        .with("x-ratelimit-reset-after", (paced.reset_ms - now_ms) as f64 / 1_000.0)
        .with("x-ratelimit-bucket", "execute-webhook")
}
