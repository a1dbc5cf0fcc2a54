//! YouTube: OAuth, channels, resumable uploads, thumbnails and playlists, below one address.
//!
//! <https://developers.google.com/youtube/v3/guides/using_resumable_upload_protocol>

mod access;
mod channel;
mod failure;
mod native_post;
mod state;
mod upload;

use std::sync::Arc;

use salvo::http::Method;
use serde_json::{Map, Value};

use crate::behaviour::Shows;
use crate::call::Call;
use crate::env::{Env, rfc3339};
use crate::facts::Objection;
use crate::google::{self, Google, login};
use crate::native_post::NativePost;
use crate::network::{Identity, Network, NewName, Phase, Refusal, Route};
use crate::random::{self, BASE62};
use crate::reply::Reply;
use crate::sim::{Account, Sim};
use state::{Change, State};

/// A request to this network.
type Cx = crate::network::Cx<Youtube>;

/// The network.
pub(crate) struct Youtube;

impl Network for Youtube {
    const NAME: &'static str = "youtube";
    const BODY_MAX: usize = 64 << 20;
    const SHOWS: Shows = Shows {
        author_only: &[("/status/privacyStatus", "private")],
        state: "/status/uploadStatus",
    };
    type State = State;
    type Change = Change;

    fn new_identity(env: &Env, name: &NewName<'_>) -> Result<Identity, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let username = name.joined('-', allowed);
        if !(3..=30).contains(&username.len()) {
            return Err(
                "a handle has 3 to 30 letters, digits, periods, hyphens and underscores".into()
            );
        }
        let channel = format!("UC{}", random::text(BASE62, 22));
        let mut private = google::access::initial_tokens(&channel);
        private.insert("playlist".to_owned(), format!("PL{}", random::text(BASE62, 32)));
        Ok(Identity { remote_id: channel, username, created_ms: env.now_ms(), private })
    }

    fn keys(identity: &Identity) -> Vec<String> {
        vec![format!("@{}", identity.username)]
    }

    fn credentials(identity: &Identity, _base: &str) -> Map<String, Value> {
        google::access::credentials(identity)
    }

    fn route(method: &Method, path: &[&str], call: &Call) -> Option<Route<Self>> {
        use Phase::{Commit, Confirm, Prepare, Read};
        match (method, path) {
            (&Method::GET, ["o", "oauth2", "v2", "auth"]) => Route::page(login::authorize),
            (&Method::POST, ["token"]) => Route::immediate(Prepare, login::token),
            (&Method::POST, ["revoke"]) => Route::immediate(Prepare, login::revoke),
            (
                &Method::POST,
                ["upload", "youtube", "v3", "videos"]
                | ["resumable", "upload", "youtube", "v3", "videos"],
            ) => Route::immediate(Prepare, upload::begin),
            (
                &Method::PUT,
                ["upload", "youtube", "v3", "videos"]
                | ["resumable", "upload", "youtube", "v3", "videos"],
            ) => {
                let phase = match () {
                    () if upload::is_last(call) => Commit,
                    () if upload::is_question(call) => Read,
                    () => Prepare,
                };
                Route::immediate(phase, upload::put)
            }
            (&Method::POST, ["upload", "youtube", "v3", "thumbnails", "set"]) => {
                Route::immediate(Confirm, channel::thumbnail)
            }
            (&Method::GET, ["youtube", "v3", "channels"]) => Route::immediate(Read, channel::mine),
            (&Method::GET, ["youtube", "v3", "videos"]) => {
                Route::immediate(Confirm, channel::videos)
            }
            (&Method::GET, ["youtube", "v3", "videos:batchGetStats"]) => {
                Route::immediate(Read, channel::batch)
            }
            (&Method::GET, ["youtube", "v3", "playlists"]) => {
                Route::immediate(Read, channel::playlists)
            }
            (&Method::GET, ["youtube", "v3", "playlistItems"]) => {
                Route::immediate(Read, channel::items)
            }
            (&Method::POST, ["youtube", "v3", "playlistItems"]) => {
                Route::immediate(Confirm, channel::put_into)
            }
            (&Method::GET, ["v2", "reports"]) => Route::immediate(Read, channel::report),
            (&Method::GET, ["watch"]) => Route::immediate(Read, channel::watch),
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
        Some(Change::Login(login::Change::Expired(expired)))
    }

    fn revival() -> Option<Change> {
        Some(Change::Login(login::Change::Revived))
    }

    fn posts(state: &State, _identity: &Identity, base: &str) -> Vec<crate::network::Post> {
        let shown = state.videos.values().map(|video| {
            let places = state.places.iter().filter(|(.., placed)| *placed == video.id);
            let text = video.resource["snippet"]["description"].as_str().unwrap_or_default();
            crate::network::Post {
                id: video.id.clone(),
                text: text.to_owned(),
                media: vec![video.media.clone()],
                created_at: rfc3339(video.at_ms),
                url: format!("{base}/watch?v={}", video.id),
                extra: channel::extra(video, places.map(|(_, playlist, _)| playlist).collect()),
                page: video.id.clone(),
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
        let video = state.video(id);
        video.map(|video| Change::Gone { number: video.number }).into_iter().collect()
    }

    fn refuse(refusal: Refusal) -> Reply {
        failure::of_status(refusal.status)
    }

    fn no_route(_call: &Call) -> Reply {
        failure::error(404, "notFound", "Not Found")
    }

    fn objection(objection: &Objection) -> Reply {
        failure::objection(objection)
    }
}

impl Google for Youtube {
    const SCOPES: &'static [&'static str] = &[
        "youtube.upload",
        "youtube",
        "youtube.readonly",
        "youtube.force-ssl",
        "yt-analytics.readonly",
        "userinfo.profile",
    ];

    fn logins(state: &State) -> &login::Logins {
        &state.logins
    }

    fn login(change: login::Change) -> Change {
        Change::Login(change)
    }
}
