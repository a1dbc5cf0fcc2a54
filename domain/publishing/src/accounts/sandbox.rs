//! Accounts and posts on the simulated networks.

use fanfare_core::{
    Act, Reply,
    clock::Time,
    error::{Code, Error, Result},
    json_size::json_size,
    page::Listed,
};
use fanfare_entities::{AccountId, PostId, account, account::AccountStatus, post};
use fanfare_platforms::{Identity, PlatformId, Secrets};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    Account,
    connect::{store, verify},
    find,
    sandbox_control::call_simulator,
    sandbox_kinds::{is_page, page_name},
    sandbox_numbers::{Subject, as_there},
};
use crate::platforms;

/// A request to create an account on a simulated network.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSandboxAccount {
    /// The platform.
    #[schemars(length(max = 50))]
    pub platform: String,
    /// Its name there; the simulator chooses one if left out. The name of an account that must be connected again
    /// connects it.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub username: Option<String>,
    /// The kind of account, where a network has several: `member` (if left out) or `page` on LinkedIn. Instagram has
    /// `facebook`, an account that is linked to a page; `login` (Instagram Login, without a page) is refused, because
    /// this service connects no such accounts.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub kind: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
    /// Brand of the account.
    #[serde(default)]
    pub workspace_client_id: Option<Uuid>,
}

/// An account that was made on a simulated network.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SandboxAccountMade {
    account: Account,
    /// The network's id of it, as its webhooks and its own API name it.
    remote_id: String,
}

/// Numbers that a simulated network reports.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSandboxNumbers {
    /// The account.
    #[serde(deserialize_with = "fanfare_core::input::number_or_text")]
    #[schemars(schema_with = "fanfare_core::input::id_schema")]
    pub account_id: i64,
    /// A public post of the account: its id here, or the network's.
    #[serde(default)]
    #[schemars(schema_with = "post_schema")]
    pub post_id: Option<Value>,
    /// A day, `YYYY-MM-DD` in the network's zone. Without post and day: the account as it is now, and `reach_7`, `reach_28`
    /// and `reach_30` for periods.
    #[serde(default)]
    #[schemars(length(max = 10))]
    pub date: Option<String>,
    /// A number, null (not known), `refused`, `too_few_viewers` or `permission`, by the names that analytics shows. A name
    /// that the network does not have is refused; a sum, such as the clicks of a pin, goes to the first of its parts.
    pub metrics: Map<String, Value>,
}

/// Returns the schema of a post's id: ours are numbers, those of networks are texts.
pub(super) fn post_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["integer", "string", "null"], "maxLength": 500})
}

/// The numbers that were set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SandboxNumbers {
    account_id: AccountId,
    metrics: Map<String, Value>,
}

/// A post that was made outside this service.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExternalPost {
    /// The network's id.
    id: String,
}

/// A post that was deleted outside this service.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExternalPostDeleted {
    /// Always true.
    deleted: bool,
    /// The network's id.
    id: String,
}

/// A request to make a post on a simulated network outside this service.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewExternalPost {
    /// The account.
    #[serde(deserialize_with = "fanfare_core::input::number_or_text")]
    #[schemars(schema_with = "fanfare_core::input::id_schema")]
    pub account_id: i64,
    /// Its text; where posts have a title, its first line is the title, too.
    #[schemars(length(max = 100_000), extend("x-lines" = true))]
    pub text: String,
    /// The time at which it became public; now if left out.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub created_at: Option<String>,
    /// One of the platform's post types. Only Facebook and Instagram use it; on other platforms the files decide.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub post_type: Option<String>,
    /// Addresses of its files, which are not fetched; the ends of their names say what they are.
    #[serde(default)]
    #[schemars(inner(length(max = 2_048)))]
    pub media_urls: Vec<String>,
}

/// Creates an account on a simulated network and connects it. With the name of an account that must be connected again,
/// that one is.
///
/// # Errors
/// [`Code::PlatformNotFound`], or the simulator's refusal, such as for a name that is taken.
pub async fn create_sandbox(
    act: &Act,
    new: NewSandboxAccount,
) -> Result<Reply<SandboxAccountMade>> {
    let platform = platforms::parse_with_fix("platform", &new.platform)?;
    let brand = new.workspace_client_id.map(fanfare_entities::BrandId);
    let lost = find_lost(act, platform).await?;
    let is_page = is_page(platform, new.kind.as_deref())?;
    let username = new.username.as_deref();
    let shown = lost.iter().filter(|row| username == Some(row.username.as_str()));
    // Where the network adds its address to the name, the one that replies show is not the one that was asked for.
    let shown: Vec<_> = shown.map(|row| row.remote_id.as_str()).collect();
    let lost: Vec<_> = lost.iter().map(|row| row.remote_id.as_str()).collect();
    let name = if is_page { Some(page_name(username)) } else { new.username.clone() };
    let identity = match (shown.as_slice(), name.as_deref()) {
        ([_, ..], _) => create_or_revive(act, platform, None, &shown).await?,
        ([], Some(name)) => create_or_revive(act, platform, Some(name), &lost).await?,
        ([], None) => create_and_verify(act, platform, None).await?,
    };
    let mut tx = act.begin().await?;
    let row = store(act, &mut tx, (platform, true, brand), identity, None).await?;
    let account = Account::of(&act.cx, &row);
    let made = SandboxAccountMade { account, remote_id: row.remote_id };
    act.finish(tx, Reply::ok(&made).with_status(201)).await
}

/// Creates an account on a simulated network, and reads its identity.
pub(super) async fn create_and_verify(
    act: &Act,
    platform: PlatformId,
    username: Option<&str>,
) -> Result<Identity> {
    create_or_revive(act, platform, username, &[]).await
}

/// Creates an account on a simulated network, or makes one of `lost` usable again, and reads its identity.
async fn create_or_revive(
    act: &Act,
    platform: PlatformId,
    username: Option<&str>,
    lost: &[&str],
) -> Result<Identity> {
    let path = [platform.as_str(), "accounts"];
    let body = json!({ "username": username, "revive": lost });
    let made = call_simulator(act, http::Method::POST, &path, &[], Some(&body)).await?;
    let credentials = made["credentials"].as_object().cloned().unwrap_or_default();
    let pairs =
        credentials.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| {
            (name, value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        });
    verify(act, platform, true, Secrets::from_pairs(pairs)).await
}

/// Returns the simulated accounts that are not connected any more.
async fn find_lost(act: &Act, platform: PlatformId) -> Result<Vec<account::Model>> {
    let lost = account::Entity::find()
        .filter(account::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(account::Column::Platform.eq(platform.as_str()))
        .filter(account::Column::Sandbox.eq(true))
        .filter(account::Column::Status.ne(AccountStatus::Connected));
    Ok(lost.all(&act.cx.db.read).await?)
}

/// Returns the posts of an account on a simulated network.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn sandbox_posts(
    act: &Act,
    platform: PlatformId,
    id: AccountId,
) -> Result<Reply<Listed<SandboxPosts>>> {
    let row = on_sandbox(act, platform, id).await?;
    let path = [platform.as_str(), "posts"];
    let remote = [("remote_id", row.remote_id.as_str())];
    let mut held = call_simulator(act, http::Method::GET, &path, &remote, None).await?;
    let bytes = json_size(&held);
    let is_empty = held["posts"].as_array().is_none_or(Vec::is_empty);
    let listed = move || Listed::whole(is_empty, SandboxPosts { posts: held["posts"].take() });
    Reply::large(bytes, listed).await
}

/// The posts of an account on a simulated network.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SandboxPosts {
    #[schemars(with = "Vec<SandboxPost>")]
    posts: Value,
}

/// A post on a simulated network, with all fields that the network shows.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
#[expect(dead_code, reason = "it describes JSON that the simulator answers with")]
struct SandboxPost {
    id: String,
    text: String,
    created_at: Time,
}

/// Sets the numbers that a simulated network reports.
///
/// # Errors
/// [`Code::AccountNotFound`], or the simulator's refusal of the numbers.
pub async fn set_numbers(
    act: &Act,
    platform: PlatformId,
    new: NewSandboxNumbers,
) -> Result<Reply<SandboxNumbers>> {
    let row = on_sandbox(act, platform, AccountId(new.account_id)).await?;
    let post = match &new.post_id {
        Some(id) => Some(public_post(act, row.id, id).await?),
        None => None,
    };
    let subject = subject(&new)?;
    let there = as_there(platform, subject, &new.metrics)?;
    let body = json!({
        "remote_id": row.remote_id, "date": new.date, "post": post, "metrics": there,
    });
    call_simulator(act, http::Method::PUT, &[platform.as_str(), "metrics"], &[], Some(&body))
        .await?;
    let tx = act.begin().await?;
    let set = SandboxNumbers { account_id: row.id, metrics: new.metrics };
    act.finish(tx, Reply::ok(&set)).await
}

/// Returns what a request's numbers are about.
fn subject(new: &NewSandboxNumbers) -> Result<Subject> {
    match (&new.post_id, &new.date) {
        (Some(_), Some(_)) => {
            let message = "Numbers are those of a post or those of a day.";
            Err(Error::field(Code::InvalidField, "date", message, "Leave date or post_id out."))
        }
        (Some(_), None) => Ok(Subject::Post),
        (None, Some(date)) => fanfare_core::input::day("date", date).map(|_| Subject::Day),
        (None, None) => Ok(Subject::Now),
    }
}

/// Returns the network's id of a public post, given its id here or there.
///
/// # Errors
/// [`Code::InvalidField`] for a post of ours that is not public.
pub(super) async fn public_post(act: &Act, account: AccountId, id: &Value) -> Result<String> {
    let text = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    match own_post(act, account, &text).await? {
        Some(own) => own.platform_post_id.ok_or_else(|| {
            let message = format!("Post {text} is not public, so the network does not know it.");
            let remedy = "Wait until its status is `published`.";
            Error::field(Code::InvalidField, "post_id", message, remedy)
        }),
        None => Ok(text),
    }
}

/// Returns the post of ours with this id, if there is one.
async fn own_post(act: &Act, account: AccountId, id: &str) -> Result<Option<post::Model>> {
    let Ok(number) = id.parse::<i64>() else { return Ok(None) };
    let own = post::Entity::find_by_id(PostId(number))
        .filter(post::Column::AccountId.eq(account))
        .one(&act.cx.db.read)
        .await?;
    Ok(own)
}

/// Makes a post on a simulated network outside this service, as a user could there.
///
/// # Errors
/// [`Code::AccountNotFound`], an invalid `created_at`, or a text that is too long for the network.
pub async fn create_external_post(
    act: &Act,
    platform: PlatformId,
    new: NewExternalPost,
) -> Result<Reply<ExternalPost>> {
    let row = on_sandbox(act, platform, AccountId(new.account_id)).await?;
    require_fitting_text(platform, &new.text)?;
    let created = new.created_at.as_deref();
    let created =
        created.map(|at| fanfare_core::input::time("created_at", at, None)).transpose()?;
    let body = json!({
        "remote_id": row.remote_id, "text": new.text,
        "created_ms": created.unwrap_or_else(|| act.cx.clock.now()),
        "post_type": new.post_type, "media_urls": new.media_urls,
    });
    let path = [platform.as_str(), "posts"];
    let made = call_simulator(act, http::Method::POST, &path, &[], Some(&body)).await?;
    let tx = act.begin().await?;
    let id = made["id"].as_str().unwrap_or_default().to_owned();
    act.finish(tx, Reply::ok(&ExternalPost { id }).with_status(201)).await
}

/// Refuses a text that is too long for the network.
fn require_fitting_text(platform: PlatformId, text: &str) -> Result<()> {
    let rules = &fanfare_platforms::find(platform).spec().caption;
    let (length, limit, unit) = ((rules.count)(text), rules.max, rules.unit);
    if length <= limit {
        return Ok(());
    }
    let message = format!("text is {length} {unit}; {platform} allows {limit}.");
    let remedy = format!("Shorten it to {limit} {unit}.");
    Err(Error::field(Code::CaptionTooLong, "text", message, remedy))
}

/// Deletes a post on a simulated network outside this service, as a user could there. `post` is its id here or there.
///
/// # Errors
/// [`Code::AccountNotFound`], or the account has no such post on the network.
pub async fn delete_external_post(
    act: &Act,
    platform: PlatformId,
    (id, post): (AccountId, &str),
) -> Result<Reply<ExternalPostDeleted>> {
    let row = on_sandbox(act, platform, id).await?;
    let own = own_post(act, row.id, post).await?;
    let remote = own.and_then(|own| own.platform_post_id).unwrap_or_else(|| post.to_owned());
    let query = [("remote_id", row.remote_id.as_str()), ("id", remote.as_str())];
    call_simulator(act, http::Method::DELETE, &[platform.as_str(), "posts"], &query, None).await?;
    let tx = act.begin().await?;
    act.finish(tx, Reply::ok(&ExternalPostDeleted { deleted: true, id: remote })).await
}

pub(super) async fn on_sandbox(
    act: &Act,
    platform: PlatformId,
    id: AccountId,
) -> Result<account::Model> {
    let row = find(act, id).await?;
    if row.sandbox && row.platform == platform.as_str() {
        return Ok(row);
    }
    let message = format!("Account {id} is not on the simulated {platform}.");
    Err(Error::new(Code::AccountNotFound, message))
}
