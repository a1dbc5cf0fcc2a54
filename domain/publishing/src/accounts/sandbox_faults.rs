//! Faults that simulated networks simulate.

use fanfare_core::{
    Act, Reply,
    error::{Error, Result},
    page::Listed,
};
use fanfare_entities::AccountId;
use fanfare_platforms::PlatformId;
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{sandbox::on_sandbox, sandbox_control::call_simulator};

/// Faults that a simulated network simulates for one account. They replace those that were set before.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSandboxFaults {
    /// The account.
    #[serde(deserialize_with = "fanfare_core::input::number_or_text")]
    #[schemars(schema_with = "fanfare_core::input::id_schema")]
    pub account_id: i64,
    /// `{"on": "prepare|commit|confirm|read", "kind": "status|reset|hang|drop_after_change|error_after_change|delay|nonsense|huge|token_expired",
    /// "status", "ms", "times"}`. `/docs/guides/testing` says what each does.
    pub faults: Vec<Map<String, Value>>,
}

/// The faults that the next calls of an account will meet.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SandboxFaults {
    account_id: AccountId,
    /// The faults in their order; `times` is the number of calls that each will still meet.
    faults: Vec<Map<String, Value>>,
}

/// Sets the faults of an account.
///
/// # Errors
/// [`fanfare_core::Code::AccountNotFound`], or the simulator's refusal of the faults.
pub async fn set_faults(
    act: &Act,
    platform: PlatformId,
    faults: NewSandboxFaults,
) -> Result<Reply<SandboxFaults>> {
    replace(act, platform, AccountId(faults.account_id), faults.faults).await
}

/// Removes the faults of an account, an ended token included.
///
/// # Errors
/// [`fanfare_core::Code::AccountNotFound`].
pub async fn reset_faults(
    act: &Act,
    platform: PlatformId,
    id: AccountId,
) -> Result<Reply<SandboxFaults>> {
    replace(act, platform, id, Vec::new()).await
}

async fn replace(
    act: &Act,
    platform: PlatformId,
    id: AccountId,
    faults: Vec<Map<String, Value>>,
) -> Result<Reply<SandboxFaults>> {
    let row = on_sandbox(act, platform, id).await?;
    let path = [platform.as_str(), "faults"];
    let body = json!({"remote_id": row.remote_id, "faults": faults});
    call_simulator(act, Method::PUT, &path, &[], Some(&body)).await?;
    let tx = act.begin().await?;
    act.finish(tx, Reply::ok(&SandboxFaults { account_id: row.id, faults })).await
}

/// Returns the faults of an account that no call has met yet.
///
/// # Errors
/// [`fanfare_core::Code::AccountNotFound`].
pub async fn list_faults(
    act: &Act,
    platform: PlatformId,
    id: AccountId,
) -> Result<Reply<Listed<SandboxFaults>>> {
    let row = on_sandbox(act, platform, id).await?;
    let path = [platform.as_str(), "faults"];
    let remote = [("remote_id", row.remote_id.as_str())];
    let mut left = call_simulator(act, Method::GET, &path, &remote, None).await?;
    let faults = left["faults"].take();
    let faults: Vec<_> = serde_json::from_value(faults).map_err(Error::internal)?;
    let (is_empty, faults) = (faults.is_empty(), SandboxFaults { account_id: row.id, faults });
    Ok(Reply::ok(&Listed::whole(is_empty, faults)))
}
