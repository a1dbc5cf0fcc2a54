//! The way in which a network takes videos, as the control API sets it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::any_network::AnyNetwork;
use crate::call::Call;
use crate::control::{body, invalid_field, no_account};
use crate::reply::{HandlerResult, Reply};

/// The codes of jobs that fail (lexicon `app.bsky.video.defs`).
const FAILURES: [&str; 5] = [
    "validation_failure",
    "encoding_failure",
    "pds_upload_failure",
    "pds_upload_unsupported_blob_size",
    "generic_failure",
];
/// The longest processing, in seconds: a week.
const SECONDS_MAX: u64 = 7 * 86_400;

/// The settings; what is left out is as usual.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct VideoControl {
    /// False if no video may be sent.
    pub can_upload: bool,
    /// The number of videos that may still be sent, in place of the usual daily number.
    pub remaining_daily_videos: Option<u64>,
    /// False if the account's e-mail address is not confirmed.
    pub email_confirmed: bool,
    /// The code with which processing fails; empty: it fails without a code.
    pub fail: Option<String>,
    /// The time that processing takes.
    pub seconds: Option<u64>,
}

impl Default for VideoControl {
    fn default() -> Self {
        Self {
            can_upload: true,
            remaining_daily_videos: None,
            email_confirmed: true,
            fail: None,
            seconds: None,
        }
    }
}

impl VideoControl {
    /// Returns a field with an invalid value, and the reason.
    pub fn invalid_field(&self) -> Option<(&'static str, String)> {
        let fail = self.fail.as_deref().filter(|fail| !fail.is_empty());
        if fail.is_some_and(|fail| !FAILURES.contains(&fail)) {
            return Some(("fail", format!("it is one of {}", FAILURES.join(", "))));
        }
        let long = self.seconds.is_some_and(|seconds| seconds > SECONDS_MAX);
        long.then(|| ("seconds", format!("it is at most {SECONDS_MAX}")))
    }
}

/// A request to set how videos of an account are taken.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewVideo {
    remote_id: String,
    video: VideoControl,
}

/// `PUT /_control/{platform}/video`
pub(crate) fn set(networks: &[Arc<dyn AnyNetwork>], call: &Call) -> HandlerResult {
    let NewVideo { remote_id, video } = body(call)?;
    if let Some((field, reason)) = video.invalid_field() {
        return Err(invalid_field("invalid_body", field, &reason));
    }
    let set = |network: &Arc<dyn AnyNetwork>| network.set_video(&remote_id, video.clone());
    if networks.iter().find_map(set).ok_or_else(no_account)? {
        return Ok(Reply::ok(&json!({ "remote_id": remote_id, "video": video })));
    }
    Err(invalid_field("invalid_body", "video", "this network has no such settings"))
}
