//! Messages, comments and reviews that simulated users write to accounts on the simulated networks.

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result},
    json_size::json_size,
    page::Listed,
};
use fanfare_entities::AccountId;
use fanfare_platforms::PlatformId;
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    sandbox::{on_sandbox, public_post},
    sandbox_control::call_simulator,
};

/// The author of an item.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxItemAuthor {
    /// The network's id.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub id: Option<String>,
    /// User name.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub username: Option<String>,
}

/// A request to have somebody write a message, comment or review.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSandboxItem {
    /// The account that gets it.
    #[serde(deserialize_with = "fanfare_core::input::number_or_text")]
    #[schemars(schema_with = "fanfare_core::input::id_schema")]
    pub account_id: i64,
    /// `message`, `comment` or `review`.
    #[schemars(length(max = 20))]
    pub kind: String,
    /// Its text.
    #[schemars(length(max = 20_000))]
    pub text: String,
    /// The author; a simulated user if left out.
    #[serde(default)]
    pub author: Option<SandboxItemAuthor>,
    /// The post that a comment is on: its id here or on the network; the latest if left out.
    #[serde(default)]
    #[schemars(schema_with = "super::sandbox::post_schema")]
    pub post_id: Option<Value>,
    /// The network's id of the comment that it answers.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub parent_id: Option<String>,
    /// Stars of a review, 1 to 5.
    #[serde(default)]
    pub rating: Option<i64>,
    /// List of `{"type", "url"}`.
    #[serde(default)]
    pub attachments: Option<Vec<Map<String, Value>>>,
    /// The time at which it was written; now if left out.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub created_at: Option<String>,
}

/// A request to change an item.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxItemChanges {
    /// The account that got it.
    #[serde(deserialize_with = "fanfare_core::input::number_or_text")]
    #[schemars(schema_with = "fanfare_core::input::id_schema")]
    pub account_id: i64,
    /// Its text.
    #[serde(default)]
    #[schemars(length(max = 20_000))]
    pub text: Option<String>,
    /// It is hidden.
    #[serde(default)]
    pub hidden: Option<bool>,
    /// Stars of a review, 1 to 5.
    #[serde(default)]
    pub rating: Option<i64>,
}

/// An item that was created.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SandboxItemCreated {
    /// The network's id.
    id: String,
}

/// An account's items on a simulated network, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SandboxInbox {
    #[schemars(with = "Vec<Map<String, Value>>")]
    inbox: Value,
}

/// An item on a simulated network.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SandboxItem {
    #[schemars(with = "Map<String, Value>")]
    item: Value,
}

/// Has a simulated user write an item to an account.
///
/// # Errors
/// [`fanfare_core::Code::AccountNotFound`], or the simulator's refusal of the item.
pub async fn create_item(
    act: &Act,
    platform: PlatformId,
    new: NewSandboxItem,
) -> Result<Reply<SandboxItemCreated>> {
    let row = on_sandbox(act, platform, AccountId(new.account_id)).await?;
    let author = new.author.map(|author| {
        json!({"id": author.id.unwrap_or_default(), "username": author.username.unwrap_or_default()})
    });
    let post = match &new.post_id {
        Some(id) => Some(public_post(act, row.id, id).await?),
        None => None,
    };
    let body = json!({
        "remote_id": row.remote_id, "kind": new.kind, "text": new.text, "author": author,
        "post_id": post, "parent_id": new.parent_id, "rating": new.rating,
        "attachments": new.attachments.unwrap_or_default(), "created_at": new.created_at,
    });
    let path = [platform.as_str(), "inbound"];
    let made = call_simulator(act, Method::POST, &path, &[], Some(&body)).await?;
    let id = made["id"].as_str().unwrap_or_default().to_owned();
    let tx = act.begin().await?;
    act.finish(tx, Reply::ok(&SandboxItemCreated { id }).with_status(201)).await
}

/// Returns the items that a simulated network holds for an account.
///
/// # Errors
/// [`fanfare_core::Code::AccountNotFound`].
pub async fn sandbox_inbox(
    act: &Act,
    platform: PlatformId,
    id: AccountId,
) -> Result<Reply<Listed<SandboxInbox>>> {
    let row = on_sandbox(act, platform, id).await?;
    let remote = [("remote_id", row.remote_id.as_str())];
    let path = [platform.as_str(), "inbox"];
    let mut held = call_simulator(act, Method::GET, &path, &remote, None).await?;
    let bytes = json_size(&held);
    let is_empty = held["inbox"].as_array().is_none_or(Vec::is_empty);
    let listed = move || Listed::whole(is_empty, SandboxInbox { inbox: held["inbox"].take() });
    Reply::large(bytes, listed).await
}

/// Returns the id of an item, if it is one: ids of simulated items are made of these characters.
fn item_id(id: &str) -> Result<&str> {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:=@~".contains(&byte);
    if (1..=200).contains(&id.len()) && id.bytes().all(is_usual) && !id.starts_with('.') {
        return Ok(id);
    }
    let message = "id is no id of a simulated item.";
    let remedy = "Take an id from the list of items.";
    Err(Error::field(Code::InvalidField, "id", message, remedy))
}

/// Has a simulated user change an item.
///
/// # Errors
/// [`fanfare_core::Code::AccountNotFound`], or the simulator's refusal.
pub async fn change_item(
    act: &Act,
    platform: PlatformId,
    id: &str,
    changes: SandboxItemChanges,
) -> Result<Reply<SandboxItem>> {
    let row = on_sandbox(act, platform, AccountId(changes.account_id)).await?;
    let body = json!({
        "remote_id": row.remote_id, "text": changes.text, "hidden": changes.hidden,
        "rating": changes.rating,
    });
    let path = [platform.as_str(), "inbox", item_id(id)?];
    let item = call_simulator(act, Method::PATCH, &path, &[], Some(&body)).await?["item"].take();
    let tx = act.begin().await?;
    act.finish(tx, Reply::ok(&SandboxItem { item })).await
}

/// Has a simulated user delete an item.
///
/// # Errors
/// [`fanfare_core::Code::AccountNotFound`], or the simulator's refusal.
pub async fn delete_item(
    act: &Act,
    platform: PlatformId,
    id: &str,
    account: AccountId,
) -> Result<Reply<SandboxItem>> {
    let row = on_sandbox(act, platform, account).await?;
    let remote = [("remote_id", row.remote_id.as_str())];
    let path = [platform.as_str(), "inbox", item_id(id)?];
    let item = call_simulator(act, Method::DELETE, &path, &remote, None).await?["item"].take();
    let tx = act.begin().await?;
    act.finish(tx, Reply::ok(&SandboxItem { item })).await
}

/// The decisions that a simulated network makes from now on.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewDecisions {
    /// The account.
    #[serde(deserialize_with = "fanfare_core::input::number_or_text")]
    #[schemars(schema_with = "fanfare_core::input::id_schema")]
    pub account_id: i64,
    /// `approve` or `reject` answers to reviews.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub reply: Option<String>,
    /// The number of days that the review of a video takes.
    #[serde(default)]
    pub video_days: Option<i64>,
}

/// The decisions that were set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SandboxDecisions {
    account_id: AccountId,
}

/// Sets how a simulated network decides about replies to reviews and about videos.
///
/// # Errors
/// [`fanfare_core::Code::AccountNotFound`], or the simulator's refusal of the decisions.
pub async fn set_decisions(
    act: &Act,
    platform: PlatformId,
    new: ReviewDecisions,
) -> Result<Reply<SandboxDecisions>> {
    let row = on_sandbox(act, platform, AccountId(new.account_id)).await?;
    let body = json!({
        "remote_id": row.remote_id, "reply": new.reply, "video_days": new.video_days,
    });
    let path = [platform.as_str(), "reviews"];
    call_simulator(act, Method::PUT, &path, &[], Some(&body)).await?;
    let tx = act.begin().await?;
    act.finish(tx, Reply::ok(&SandboxDecisions { account_id: row.id })).await
}
