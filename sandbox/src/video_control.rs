//! How a network takes videos, as the control API sets it.

use serde::{Deserialize, Serialize};

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
    /// How long processing takes.
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
