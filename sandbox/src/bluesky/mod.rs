//! Bluesky: one PDS with its accounts, the app view's reads and the video service, all below one address.
//!
//! <https://docs.bsky.app/docs/api> and <https://atproto.com/specs/xrpc>

mod blobs;
mod cid;
mod embed;
mod lexicon;
mod native_post;
mod reads;
mod representations;
mod session;
mod state;
mod syntax;
mod token;
mod video;
mod video_parts;
mod views;
mod writes;

use std::collections::BTreeMap;
use std::sync::Arc;

use salvo::http::Method;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::env::Env;
use crate::facts::Objection;
use crate::native_post::NativePost;
use crate::network::{Identity, Network, NewName, Phase, Post, Refusal, Route};
use crate::random::{self, BASE32, BASE62};
use crate::reply::Reply;
use crate::sim::{Account, Sim};
use crate::video_control::VideoControl;
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<Bluesky>;

/// The network.
pub(crate) struct Bluesky;

/// The collection of posts.
const POST: &str = "app.bsky.feed.post";

impl Network for Bluesky {
    const NAME: &'static str = "bluesky";
    /// Videos are sent to the video service in one request.
    const BODY_MAX: usize = 310_000_000;
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        let mut handle = name.joined('-', allowed).to_ascii_lowercase();
        if !handle.contains('.') {
            handle.push_str(".test");
        }
        if !syntax::is_handle(&handle) {
            return Err(format!("{handle:?} is no handle"));
        }
        let group = || random::text(BASE32, 4);
        let private = BTreeMap::from([
            ("app_password".to_owned(), [group(), group(), group(), group()].join("-")),
            ("signing_key".to_owned(), random::text(BASE62, 32)),
            ("email".to_owned(), format!("{}@example.test", handle.replace('.', "-"))),
        ]);
        let did = format!("did:plc:{}", random::text(BASE32, 24));
        Ok(Identity { remote_id: did, username: handle, created_ms: env.now_ms(), private })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        vec![identity.username.clone(), identity.private("email").to_owned()]
    }

    fn credentials(identity: &Identity, base: &str) -> Map<String, Value> {
        let password = identity.private("app_password");
        let fields =
            json!({"identifier": identity.username, "app_password": password, "service": base});
        fields.as_object().cloned().unwrap_or_default()
    }

    fn route(method: &Method, path: &[&str], _call: &Call) -> Option<Route<Self>> {
        let ["xrpc", nsid] = path else { return None };
        match (method, *nsid) {
            (&Method::POST, nsid) => procedure(nsid),
            (&Method::GET, nsid) => query(nsid),
            _ => None,
        }
    }

    fn caller(sim: &Sim<Self>, call: &Call) -> Option<Arc<Account<Self>>> {
        if let Some(claims) = call.bearer().and_then(token::read) {
            return sim.account(claims.did());
        }
        if call.path.ends_with("createSession") {
            return sim.find(&session::identifier(call)?);
        }
        let named = call.query_pairs().find_map(|(name, value)| match name.as_str() {
            "repo" | "handle" | "actor" | "did" => Some(value),
            "uris" | "uris[]" | "uri" => Some(syntax::AtUri::parse(&value)?.repo.to_owned()),
            "jobId" => Some(value.split('.').next()?.to_owned()),
            _ => None,
        });
        sim.find(&named?.to_ascii_lowercase())
    }

    fn apply(state: &mut State, _identity: &Identity, change: Change) {
        state.apply(change);
    }

    fn token_change(expired: bool) -> Option<Change> {
        expired.then_some(Change::Expired)
    }

    fn posts(state: &State, identity: &Identity, base: &str) -> Vec<Post> {
        representations::posts(state, identity, base)
    }

    fn native_post(state: &State, identity: &Identity, new: &NativePost) -> (Vec<Change>, String) {
        native_post::post(state, identity, new)
    }

    fn delete_post(state: &State, id: &str) -> Vec<Change> {
        native_post::delete(state, id)
    }

    fn video_change(control: VideoControl) -> Option<Change> {
        Some(Change::Video(control))
    }

    fn refuse(refusal: Refusal) -> Reply {
        match refusal.status {
            429 => too_many(
                refusal.now_ms,
                refusal.now_ms + i64::try_from(refusal.retry_ms).unwrap_or(i64::MAX),
            ),
            400 => failure(400, "InvalidRequest", "Invalid Request"),
            401 => failure(401, "AuthenticationRequired", "Authentication Required"),
            403 => failure(403, "Forbidden", "Forbidden"),
            404 => failure(404, "XRPCNotSupported", "XRPCNotSupported"),
            413 => failure(413, "PayloadTooLarge", "request entity too large"),
            502 => failure(502, "UpstreamFailure", "Upstream Failure"),
            503 => failure(503, "NotEnoughResources", "Not Enough Resources"),
            504 => failure(504, "UpstreamTimeout", "Upstream Timeout"),
            status if status >= 500 => {
                failure(status, "InternalServerError", "Internal Server Error")
            }
            status => failure(status, "InvalidRequest", "Invalid Request"),
        }
    }

    fn no_route(call: &Call) -> Reply {
        match call.segments().as_slice() {
            ["xrpc", _] => failure(501, "MethodNotImplemented", "Method Not Implemented"),
            _ => failure(404, "XRPCNotSupported", "XRPCNotSupported"),
        }
    }

    fn objection(objection: &Objection) -> Reply {
        match objection {
            Objection::Permission(_) => failure(403, "Forbidden", &objection.to_string()),
            _ => invalid(&objection.to_string()),
        }
    }

    fn page<'a>(path: &[&'a str]) -> Option<(&'a str, &'a str)> {
        match path {
            ["profile", who, "post", rkey] => Some((who, rkey)),
            _ => None,
        }
    }
}

fn procedure(nsid: &str) -> Option<Route<Bluesky>> {
    use Phase::{Commit, Prepare};
    match nsid {
        "com.atproto.server.createSession" => Route::immediate(Prepare, session::create),
        "com.atproto.server.refreshSession" => Route::immediate(Prepare, session::refresh),
        "com.atproto.server.deleteSession" => Route::immediate(Prepare, session::delete),
        "com.atproto.repo.uploadBlob" => Route::immediate(Prepare, blobs::upload),
        "app.bsky.video.uploadVideo" => Route::immediate(Prepare, video::upload),
        "app.bsky.video.startUpload" => Route::immediate(Prepare, video_parts::start),
        "app.bsky.video.uploadPart" => Route::immediate(Prepare, video_parts::part),
        "app.bsky.video.finishUpload" => Route::immediate(Prepare, video_parts::finish),
        "app.bsky.video.abortUpload" => Route::immediate(Prepare, video_parts::abort),
        "com.atproto.repo.createRecord" => Route::immediate(Commit, writes::create_record),
        "com.atproto.repo.putRecord" => Route::immediate(Commit, writes::put_record),
        "com.atproto.repo.deleteRecord" => Route::immediate(Commit, writes::delete_record),
        "com.atproto.repo.applyWrites" => Route::immediate(Commit, writes::apply_writes),
        _ => None,
    }
}

fn query(nsid: &str) -> Option<Route<Bluesky>> {
    use Phase::{Confirm, Prepare, Read};
    match nsid {
        "com.atproto.server.getServiceAuth" => Route::immediate(Prepare, session::service_auth),
        "app.bsky.video.getJobStatus" => Route::immediate(Confirm, video::job_status),
        "app.bsky.video.getUploadLimits" => Route::immediate(Read, video::upload_limits),
        "app.bsky.video.getUploadStatus" => Route::immediate(Read, video_parts::upload_status),
        "com.atproto.server.getSession" => Route::immediate(Read, session::get),
        "com.atproto.server.describeServer" => Route::immediate(Read, session::describe_server),
        "com.atproto.identity.resolveHandle" => Route::immediate(Read, reads::resolve_handle),
        "com.atproto.repo.getRecord" => Route::immediate(Read, reads::get_record),
        "com.atproto.repo.listRecords" => Route::immediate(Read, reads::list_records),
        "com.atproto.repo.describeRepo" => Route::immediate(Read, reads::describe_repo),
        "app.bsky.feed.getPosts" => Route::immediate(Read, views::get_posts),
        "app.bsky.feed.getAuthorFeed" => Route::immediate(Read, views::author_feed),
        "app.bsky.actor.getProfile" => Route::immediate(Read, views::get_profile),
        _ => None,
    }
}

/// Returns an XRPC error.
fn failure(status: u16, error: &str, message: &str) -> Reply {
    Reply::json(status, &json!({"error": error, "message": message}))
}

fn invalid(message: &str) -> Reply {
    failure(400, "InvalidRequest", message)
}

/// Returns 429 as the PDS does; times in milliseconds.
fn too_many(now_ms: i64, reset_ms: i64) -> Reply {
    failure(429, "RateLimitExceeded", "Rate Limit Exceeded")
        .with("ratelimit-remaining", 0)
        .with("ratelimit-reset", (reset_ms + 999) / 1_000)
        .with("retry-after", ((reset_ms - now_ms + 999) / 1_000).max(1))
}

/// Returns the request's body as a JSON object.
fn input(call: &Call) -> Result<Map<String, Value>, Reply> {
    if call.media_type() != "application/json" {
        return Err(invalid("Request encoding (Content-Type) required but not provided, or wrong"));
    }
    match call.json() {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(invalid("Input must be an object")),
        Err(_) => Err(invalid("Unable to parse the request body as JSON")),
    }
}

/// Returns a required string of the input.
fn text<'a>(input: &'a Map<String, Value>, name: &str) -> Result<&'a str, Reply> {
    match input.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(invalid(&format!("Input/{name} must be a string"))),
        None => Err(invalid(&format!("Input must have the property \"{name}\""))),
    }
}

/// Returns a required parameter of the query.
fn param(call: &Call, name: &str) -> Result<String, Reply> {
    call.query_value(name)
        .ok_or_else(|| invalid(&format!("Params must have the property \"{name}\"")))
}
