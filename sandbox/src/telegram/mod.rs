//! Telegram: the Bot API. An account is a bot and a channel that it administers.
//!
//! <https://core.telegram.org/bots/api>

mod album;
mod chat;
mod entities;
mod files;
mod keyboard;
mod media;
mod native_post;
mod poll;
mod representations;
mod send;
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
use crate::random::{self, BASE64URL};
use crate::reply::{HandlerResult, Reply};
use crate::sim::{Account, Sim};
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<Telegram>;

/// The length of the id of a chat that is no supergroup: `-100` and ten digits.
const REMOTE_ID: usize = 14;

/// The network.
pub(crate) struct Telegram;

impl Network for Telegram {
    const NAME: &'static str = "telegram";
    /// The Bot API's own server takes 50 MB.
    const BODY_MAX: usize = 52_500_000;
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let username = name.joined('_', |c| c.is_ascii_alphanumeric() || c == '_');
        if username.is_empty() || username.len() > 32 {
            return Err("a user name has 1 to 32 letters, digits and underscores".into());
        }
        let bot_id = random::number(10);
        let private = BTreeMap::from([
            ("bot_id".to_owned(), bot_id.to_string()),
            ("bot_token".to_owned(), format!("{bot_id}:AA{}", random::text(BASE64URL, 33))),
            ("title".to_owned(), username.replace('_', " ")),
        ]);
        let remote_id = format!("-100{}", random::number(10));
        Ok(Identity { remote_id, username, created_ms: env.now_ms(), private })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        let bare = identity.remote_id.trim_start_matches("-100").to_owned();
        vec![identity.private("bot_token").to_owned(), identity.username.to_ascii_lowercase(), bare]
    }

    /// A supergroup has the digits of the group that it was, and one more.
    fn plain_remote_id(remote_id: &str) -> &str {
        remote_id.get(..REMOTE_ID).unwrap_or(remote_id)
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        Map::from_iter([
            ("bot_token".to_owned(), json!(identity.private("bot_token"))),
            ("chat_id".to_owned(), json!(identity.remote_id)),
        ])
    }

    fn route(_method: &Method, path: &[&str], _call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Read};
        let [bot, method] = path else { return None };
        bot.strip_prefix("bot")?;
        match method.to_ascii_lowercase().as_str() {
            "getme" => Route::immediate(Read, chat::get_me),
            "getchat" => Route::immediate(Read, chat::get_chat),
            "getchatmember" => Route::immediate(Read, chat::get_chat_member),
            "sendmessage" => Route::immediate(Commit, send::message),
            "sendpoll" => Route::immediate(Commit, send::poll),
            "deletemessage" => Route::immediate(Commit, send::delete),
            "sendphoto" => Route::spawned(Commit, |cx| Box::pin(media::photo(cx))),
            "sendvideo" => Route::spawned(Commit, |cx| Box::pin(media::video(cx))),
            "sendanimation" => Route::spawned(Commit, |cx| Box::pin(media::animation(cx))),
            "senddocument" => Route::spawned(Commit, |cx| Box::pin(media::document(cx))),
            "sendaudio" => Route::spawned(Commit, |cx| Box::pin(media::audio(cx))),
            "sendlivephoto" => Route::spawned(Commit, |cx| Box::pin(media::live_photo(cx))),
            "sendmediagroup" => Route::spawned(Commit, |cx| Box::pin(album::send(cx))),
            _ => None,
        }
    }

    fn caller(sim: &Sim<Self>, call: &Call) -> Option<Arc<Account<Self>>> {
        sim.find(Self::secret_in_path(&call.path)?)
    }

    fn apply(state: &mut State, _identity: &Identity, change: Change) {
        state.apply(change);
    }

    fn token_change(expired: bool) -> Option<Change> {
        Some(Change::Revoked(expired))
    }

    fn posts(state: &State, identity: &Identity, base: &str) -> Vec<Post> {
        representations::posts(state, identity, base)
    }

    fn native_post(state: &State, _identity: &Identity, new: &NativePost) -> (Vec<Change>, String) {
        native_post::post(state, new)
    }

    fn delete_post(state: &State, id: &str) -> Vec<Change> {
        native_post::delete(state, id)
    }

    fn refuse(refusal: Refusal) -> Reply {
        match refusal.status {
            429 => too_many(refusal.retry_seconds()),
            400 => bad("chat not found"),
            401 => failure(401, "Unauthorized"),
            403 => failure(403, "Forbidden: bot was kicked from the channel chat"),
            404 => failure(404, "Not Found"),
            413 => failure(413, "Request Entity Too Large"),
            status => {
                let reason = salvo::http::StatusCode::from_u16(status)
                    .ok()
                    .and_then(|s| s.canonical_reason());
                failure(status, reason.unwrap_or("Error"))
            }
        }
    }

    fn no_route(_call: &Call) -> Reply {
        failure(404, "Not Found")
    }

    fn objection(objection: &Objection) -> Reply {
        bad(&objection.to_string())
    }

    fn secret_in_path(path: &str) -> Option<&str> {
        path.strip_prefix("bot")?.split('/').next()
    }

    fn page<'a>(path: &[&'a str]) -> Option<(&'a str, &'a str)> {
        match path {
            ["c", chat, message] => Some((chat, message)),
            [username, message] if message.parse::<i64>().is_ok() => Some((username, message)),
            _ => None,
        }
    }
}

fn failure(status: u16, description: &str) -> Reply {
    Reply::json(status, &json!({"ok": false, "error_code": status, "description": description}))
}

/// Returns 400 with the usual prefix.
fn bad(description: &str) -> Reply {
    failure(400, &format!("Bad Request: {description}"))
}

fn too_many(seconds: u64) -> Reply {
    let description = format!("Too Many Requests: retry after {seconds}");
    let body = json!({"ok": false, "error_code": 429, "description": description, "parameters": {"retry_after": seconds}});
    Reply::json(429, &body).with("retry-after", seconds)
}

fn done(result: Value) -> HandlerResult {
    Ok(Reply::ok(&json!({"ok": true, "result": result})))
}
