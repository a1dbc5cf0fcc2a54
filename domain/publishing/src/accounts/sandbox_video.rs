//! The way in which a simulated network takes videos.

use fanfare_core::{Act, Reply, error::Result};
use fanfare_entities::AccountId;
use fanfare_platforms::PlatformId;
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{sandbox::on_sandbox, sandbox_control::call_simulator};

/// The way in which videos of an account are taken from now on; anything left out is as usual.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxVideo {
    /// The account.
    #[serde(deserialize_with = "fanfare_core::input::number_or_text")]
    #[schemars(schema_with = "fanfare_core::input::id_schema")]
    pub account_id: i64,
    /// False if the account may send no video.
    #[serde(default)]
    pub can_upload: Option<bool>,
    /// The number of videos that it may still send.
    #[serde(default)]
    pub remaining_daily_videos: Option<u32>,
    /// False if its e-mail address is not confirmed.
    #[serde(default)]
    pub email_confirmed: Option<bool>,
    /// The code with which the processing of videos fails: `validation_failure`, `encoding_failure`, `pds_upload_failure`,
    /// `pds_upload_unsupported_blob_size`, `generic_failure`; an empty text for a failure without a code.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub fail: Option<String>,
    /// The time that the processing of a video takes, in seconds.
    #[serde(default)]
    pub seconds: Option<u32>,
}

/// The account whose videos were set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SandboxVideoSet {
    account_id: AccountId,
}

/// Sets the way in which a simulated network takes videos.
///
/// # Errors
/// [`fanfare_core::Code::AccountNotFound`], or the simulator's refusal.
pub async fn set_video(
    act: &Act,
    platform: PlatformId,
    new: SandboxVideo,
) -> Result<Reply<SandboxVideoSet>> {
    let row = on_sandbox(act, platform, AccountId(new.account_id)).await?;
    let video = json!({
        "can_upload": new.can_upload.unwrap_or(true),
        "remaining_daily_videos": new.remaining_daily_videos,
        "email_confirmed": new.email_confirmed.unwrap_or(true),
        "fail": new.fail,
        "seconds": new.seconds,
    });
    let body = json!({"remote_id": row.remote_id, "video": video});
    let path = [platform.as_str(), "video"];
    call_simulator(act, Method::PUT, &path, &[], Some(&body)).await?;
    let tx = act.begin().await?;
    act.finish(tx, Reply::ok(&SandboxVideoSet { account_id: row.id })).await
}
