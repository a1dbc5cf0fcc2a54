//! Slack: workspaces with one bot and one channel each, through the Web API.
//!
//! <https://docs.slack.dev/apis/web-api/>

mod access;
mod blocks;
mod channel;
mod files;
mod message;
mod native_post;
mod oauth;
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
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::Reply;
use crate::sim::{Account, Sim};
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<Slack>;

/// The network: each account is a channel of a workspace of its own, with a bot that may post there.
pub(crate) struct Slack;

/// The characters of ids.
const ID: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

impl Network for Slack {
    const NAME: &'static str = "slack";
    const BODY_MAX: usize = 64 << 20;
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let asked = match name {
            NewName::Requested(asked) => NewName::Requested(asked.trim_start_matches('#')),
            NewName::Generated(first, second) => NewName::Generated(first, second),
        };
        let channel = asked.joined('-', allowed).to_ascii_lowercase();
        if channel.is_empty() || channel.len() > 80 {
            return Err(
                "a channel's name has 1 to 80 letters, digits, hyphens and underscores".into()
            );
        }
        let id = |start: &str| format!("{start}{}", random::text(ID, 10));
        let token = format!(
            "xoxb-{}-{}-{}",
            random::number(12),
            random::number(13),
            random::text(BASE62, 24)
        );
        let private = BTreeMap::from([
            ("access_token".to_owned(), token),
            ("team_id".to_owned(), id("T0")),
            ("bot_user_id".to_owned(), id("U0")),
            ("bot_id".to_owned(), id("B0")),
        ]);
        Ok(Identity { remote_id: id("C0"), username: channel, created_ms: env.now_ms(), private })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        vec![format!("token:{}", identity.private("access_token"))]
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        Map::from_iter([
            ("access_token".to_owned(), json!(identity.private("access_token"))),
            ("channel_id".to_owned(), json!(identity.remote_id)),
        ])
    }

    /// Clients identify an account by workspace and channel.
    fn plain_remote_id(remote_id: &str) -> &str {
        remote_id.rsplit(':').next().unwrap_or(remote_id)
    }

    fn route(method: &Method, path: &[&str], _call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Confirm, Prepare, Read};
        if !matches!(*method, Method::GET | Method::POST) {
            return None;
        }
        match path {
            ["oauth", "v2", "authorize"] => Route::page(oauth::authorize),
            ["api", "oauth.v2.access"] => Route::immediate(Read, oauth::token),
            ["api", "auth.test"] => Route::immediate(Read, access::test),
            ["api", "auth.revoke"] => Route::immediate(Read, access::revoke),
            ["api", "conversations.list"] => Route::immediate(Read, channel::list),
            ["api", "conversations.info"] => Route::immediate(Read, channel::info),
            ["api", "conversations.join"] => Route::immediate(Prepare, channel::join),
            ["api", "conversations.history"] => Route::immediate(Read, channel::history),
            ["api", "conversations.replies"] => Route::immediate(Read, channel::replies),
            ["api", "chat.postMessage"] => Route::immediate(Commit, message::post),
            ["api", "chat.delete"] => Route::immediate(Commit, message::delete),
            ["api", "chat.getPermalink"] => Route::immediate(Confirm, message::permalink),
            ["api", "files.getUploadURLExternal"] => Route::immediate(Prepare, files::place),
            ["upload", "v1", _] => Route::immediate(Prepare, files::upload),
            ["api", "files.completeUploadExternal"] => Route::immediate(Commit, files::complete),
            ["api", "files.info"] => Route::immediate(Confirm, files::info),
            ["api", _] => Route::immediate(Read, access::unknown_method),
            _ => None,
        }
    }

    fn caller(sim: &Sim<Self>, call: &Call) -> Option<Arc<Account<Self>>> {
        // The upload address is the only credential for a file's bytes.
        if let ["upload", "v1", place] = call.segments().as_slice() {
            return sim.account(place.split('.').next()?);
        }
        if call.segment(1) == "oauth.v2.access" {
            return access::owner(sim, &Params::read(call).ok()?.filled("refresh_token")?);
        }
        access::owner(sim, &access::token(call)?)
    }

    fn apply(state: &mut State, _identity: &Identity, change: Change) {
        state.apply(change);
    }

    fn token_change(expired: bool) -> Option<Change> {
        Some(Change::Expired(expired))
    }

    fn posts(state: &State, identity: &Identity, base: &str) -> Vec<Post> {
        state
            .messages
            .values()
            .map(|message| representations::post(state, message, identity, base))
            .collect()
    }

    fn native_post(state: &State, _identity: &Identity, new: &NativePost) -> (Vec<Change>, String) {
        native_post::post(state, new)
    }

    fn delete_post(state: &State, id: &str) -> Vec<Change> {
        let ts = representations::micros(id).filter(|ts| state.messages.contains_key(ts));
        ts.map(|ts| Change::Deleted { ts }).into_iter().collect()
    }

    fn refuse(refusal: Refusal) -> Reply {
        let code = match refusal.status {
            400 => "invalid_arguments",
            401 => "invalid_auth",
            403 => "restricted_action",
            404 => "channel_not_found",
            409 => "is_archived",
            413 | 422 => "msg_too_long",
            429 => {
                let reply = Reply::json(429, &json!({"ok": false, "error": "ratelimited"}));
                return reply.with("retry-after", refusal.retry_seconds());
            }
            500 => "internal_error",
            503 => "service_unavailable",
            status => return Reply::html(status, "<html><body>Server Error</body></html>".into()),
        };
        access::failure(code)
    }

    fn no_route(call: &Call) -> Reply {
        if let ["api", method] = call.segments().as_slice() {
            return Reply::ok(
                &json!({"ok": false, "error": "unknown_method", "req_method": method}),
            );
        }
        Reply::html(404, "<html><body>There's been a glitch…</body></html>".into())
    }

    fn objection(objection: &Objection) -> Reply {
        match objection {
            Objection::Permission(names) => Reply::ok(
                &json!({"ok": false, "error": "missing_scope", "needed": names.join(",")}),
            ),
            _ if objection.path() == "blocks" => access::failure("invalid_blocks_format"),
            _ if objection.path().starts_with("blocks.") => {
                access::detailed("invalid_blocks", &objection.to_string())
            }
            _ => access::detailed("invalid_arguments", &objection.to_string()),
        }
    }

    fn page<'a>(path: &[&'a str]) -> Option<(&'a str, &'a str)> {
        match path {
            ["archives", channel, message] => Some((channel, message)),
            _ => None,
        }
    }
}
