//! Connected social accounts.

pub mod by_name;
mod connect;
mod disconnect;
mod ending;
mod facts;
mod hooks;
pub mod oauth_connect;
mod options;
mod pictures;
pub mod profile_picture;
pub(crate) mod quota;
mod refresh;
mod refresh_schedule;
mod revocation;
mod sandbox;
mod sandbox_clock;
mod sandbox_control;
mod sandbox_faults;
mod sandbox_inbox;
mod sandbox_kinds;
mod sandbox_numbers;
mod sandbox_video;
mod session;
mod shared_credentials;
pub mod upkeep;

use fanfare_core::{
    Act, Domain, Reply,
    clock::Time,
    error::{Code, Error, Result},
    events::NewEvent,
    input::{self, ListQuery},
    json_size::json_size,
    page::{self, EmptyBecause, Listed},
};
use fanfare_entities::{AccountId, BrandId, WorkspaceId, account, account::AccountStatus};
use fanfare_people::room::{self, PlanRoom};
use fanfare_platforms::{ContentLimits, MediaLimits, PostTypeDescription};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use connect::{ConnectRequest, ConnectResponse, connect};
pub(crate) use connect::{connect_error, timed_out};
pub use disconnect::{FEW, newly_disconnected};
pub use disconnect::{disconnect, mark_needs_reconnect};
pub use ending::is_ending;
pub use facts::renew;
pub use hooks::{AccountHook, AccountHooks};
pub use options::{
    ConnectOptionMethod, ConnectOptions, ConnectOptionsList, OneConnectOptions, all_options,
    list_options, platform_options, show_options,
};
pub use refresh::{RefreshOutcome, refresh};
pub use revocation::{Revocation, forget_credentials, revoke};
pub use sandbox::{
    ExternalPost, ExternalPostDeleted, NewExternalPost, NewSandboxAccount, NewSandboxNumbers,
    SandboxAccountMade, SandboxNumbers, SandboxPosts, create_external_post, create_sandbox,
    delete_external_post, sandbox_posts, set_numbers,
};
pub use sandbox_clock::{NewSandboxClock, SandboxClock, set_clock, show_clock};
pub use sandbox_control::browser_url;
pub use sandbox_faults::{NewSandboxFaults, SandboxFaults, list_faults, reset_faults, set_faults};
pub use sandbox_inbox::{
    NewSandboxItem, ReviewDecisions, SandboxDecisions, SandboxInbox, SandboxItem,
    SandboxItemAuthor, SandboxItemChanges, SandboxItemCreated, change_item, create_item,
    delete_item, sandbox_inbox, set_decisions,
};
pub use sandbox_video::{SandboxVideo, SandboxVideoSet, set_video};
pub use session::{facts, session, session_with};

/// Name of the table, to which secrets are bound.
const TABLE: &str = "accounts";

/// Selects the accounts that the membership can see, without disconnected ones.
pub fn visible(act: &Act) -> sea_orm::Select<account::Entity> {
    let query = account::Entity::find()
        .filter(account::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(account::Column::Status.ne(AccountStatus::Disconnected));
    match &act.membership.brands {
        Some(brands) => query.filter(account::Column::BrandId.is_in(brands.iter().copied())),
        None => query,
    }
}

/// Returns an event about an account, of this type; without `is_streamed` it is in the activity list alone.
#[must_use]
pub fn account_event(
    row: &account::Model,
    (event_type, is_streamed): (&'static str, bool),
    data: &Value,
    message: String,
) -> NewEvent {
    NewEvent {
        workspace_id: row.workspace_id,
        event_type,
        streamed: is_streamed,
        data: data.to_string(),
        post_id: None,
        account_id: Some(row.id),
        brand_id: row.brand_id,
        platform: Some(row.platform.clone()),
        status: None,
        message,
        request_id: None,
    }
}

/// Returns an event that shows an account.
fn event(
    cx: &Domain,
    row: &account::Model,
    event_type: &'static str,
    message: String,
    request_id: Option<String>,
) -> NewEvent {
    let data = json!({ "account": Account::of(cx, row) });
    NewEvent { request_id, ..account_event(row, (event_type, true), &data, message) }
}

/// Returns all accounts that the caller can see, oldest first.
///
/// # Errors
/// The database's.
pub async fn all(act: &Act) -> Result<Vec<account::Model>> {
    Ok(visible(act).order_by_asc(account::Column::Id).all(&act.cx.db.read).await?)
}

/// Returns one account; the one that the request names was read with the membership.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn find(act: &Act, id: AccountId) -> Result<account::Model> {
    if let Some(account) = act.membership.account.as_ref().filter(|account| account.id == id) {
        return Ok(account::Model::clone(account));
    }
    let found = visible(act).filter(account::Column::Id.eq(id)).one(&act.cx.db.read).await?;
    found.ok_or_else(|| Error::new(Code::AccountNotFound, format!("There is no account {id}.")))
}

/// Returns an account by its id alone, for the workers.
///
/// # Errors
/// The database's.
pub async fn row(cx: &Domain, id: AccountId) -> Result<Option<account::Model>> {
    Ok(account::Entity::find_by_id(id).one(&cx.db.write).await?)
}

/// Lists the accounts of the membership's workspace, oldest first.
///
/// # Errors
/// An invalid cursor.
pub async fn list(act: &Act, list: ListQuery) -> Result<Reply<Listed<AccountPage>>> {
    page(act, visible(act), list.cursor.as_deref()).await
}

/// Returns a page of the accounts that the query selects, oldest first.
///
/// # Errors
/// An invalid cursor.
pub(crate) async fn page(
    act: &Act,
    accounts: sea_orm::Select<account::Entity>,
    cursor: Option<&str>,
) -> Result<Reply<Listed<AccountPage>>> {
    let after: Option<i64> = input::cursor(cursor)?;
    let from = |last: Option<&account::Model>| {
        let query = accounts.clone().order_by_asc(account::Column::Id);
        let after = last.map(|row| row.id).or(after.map(AccountId));
        after.map_or(query.clone(), |after| query.filter(account::Column::Id.gt(after)))
    };
    let size = |row: &account::Model| json_size(&Account::of(&act.cx, row));
    let page = page::read(&act.cx.db.read, page::ALL, from, size).await?;
    let next_cursor = page.next(|row| row.id.to_string());
    let accounts = page.rows.iter().map(|row| Account::of(&act.cx, row)).collect();
    let limits = room::of(&act.cx, &act.membership).await?;
    let is_empty = page.rows.is_empty();
    let why = page::why_empty(&act.cx.db.read, (is_empty, after.is_some()), visible(act)).await?;
    let why = why.map(|why| match why {
        EmptyBecause::NothingYet => EmptyBecause::NoAccounts,
        why => why,
    });
    let listed = move || Listed::new(AccountPage { accounts, next_cursor, limits }, why);
    Reply::large(page.bytes, listed).await
}

/// A connected account. Never holds a credential.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Account {
    pub id: AccountId,
    pub platform: String,
    /// Name on the platform.
    pub username: String,
    /// Longer name.
    pub display_name: Option<String>,
    pub workspace_id: WorkspaceId,
    /// Its brand; null if it belongs to the whole workspace.
    pub workspace_client_id: Option<BrandId>,
    pub status: AccountStatus,
    /// `ok`, or `needs_reconnect` when the platform no longer accepts its credentials.
    connection_status: ConnectionStatus,
    /// The platform's kind of account, for example `organization`; null if the platform has one kind or does not report
    /// it.
    pub account_type: Option<String>,
    /// Our copy of its picture, made when the account was connected; null until it is copied, and if the network has
    /// none.
    #[schemars(extend("format" = "uri"))]
    pub profile_picture_url: Option<String>,
    /// True on a simulated network.
    pub sandbox: bool,
    /// The time at which its access expires, if that is known.
    pub token_expires_at: Option<Time>,
    pub created_at: Time,
    /// On Bluesky: the account's permanent id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    did: Option<Value>,
    /// On a simulated network: the page that shows what was posted.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox_page_url: Option<String>,
}

/// One account.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneAccount {
    account: Account,
}

/// A page of accounts.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct AccountPage {
    pub accounts: Vec<Account>,
    /// The cursor of the next page; null on the last one. All accounts are on one page, unless they are very many.
    pub next_cursor: Option<String>,
    /// The room of the workspace's plan; null for a membership that is locked to brands.
    pub limits: Option<PlanRoom>,
}

impl Account {
    /// Converts a row to an account as replies show it.
    #[must_use]
    pub fn of(cx: &Domain, row: &account::Model) -> Self {
        Self {
            id: row.id,
            platform: row.platform.clone(),
            username: row.username.clone(),
            display_name: row.display_name.clone(),
            workspace_id: row.workspace_id,
            workspace_client_id: row.brand_id,
            status: row.status,
            connection_status: ConnectionStatus::of(row.status),
            account_type: account_type(row),
            profile_picture_url: profile_picture::copy_url(cx, row),
            sandbox: row.sandbox,
            token_expires_at: row.token_expires_at.map(Time),
            created_at: Time(row.created_at),
            did: did(row),
            sandbox_page_url: row.sandbox.then(|| sandbox_control::page_of(cx, row)).flatten(),
        }
    }
}

impl Account {
    /// Returns the page of the simulated network that shows what was posted.
    #[must_use]
    pub fn sandbox_page_url(&self) -> Option<&str> {
        self.sandbox_page_url.as_deref()
    }
}

/// The state of an account's connection: whether posts can go out on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ConnectionStatus {
    Ok,
    NeedsReconnect,
}

impl ConnectionStatus {
    fn of(status: AccountStatus) -> Self {
        if status == AccountStatus::Connected { Self::Ok } else { Self::NeedsReconnect }
    }
}

/// Returns the kind of account that its connector recorded.
fn account_type(row: &account::Model) -> Option<String> {
    let noted = ["account_type", "kind"].iter().filter_map(|name| row.meta.get(*name));
    noted.filter_map(Value::as_str).next().map(str::to_owned)
}

/// Returns the permanent id of an account on Bluesky.
fn did(row: &account::Model) -> Option<Value> {
    row.meta.get("did").filter(|did| did.is_string()).cloned()
}

/// The schema of a post on an account.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the fields without a description say what they hold")]
pub struct AccountSchema {
    pub account_id: AccountId,
    pub platform: String,
    /// Its post types; the first is the default.
    pub post_types: Vec<&'static str>,
    /// The same, each with what it is for and the files that it takes.
    pub post_type_details: Vec<PostTypeDescription>,
    /// JSON Schema (2020-12) of `metadata`: the texts of a chain of posts, where the platform has chains.
    #[schemars(with = "Map<String, Value>")]
    pub metadata: Value,
    /// JSON Schema (2020-12) of `settings`.
    #[schemars(with = "Map<String, Value>")]
    pub schema: Value,
    pub content_limits: ContentLimits,
    pub media_limits: MediaLimits,
}

impl AccountSchema {
    /// Returns the settings by name, each with its JSON Schema.
    pub fn settings(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.schema["properties"].as_object().into_iter().flatten()
    }

    /// Returns true if there is a setting of this name.
    #[must_use]
    pub fn has(&self, setting: &str) -> bool {
        self.settings().any(|(name, _)| name == setting)
    }

    /// Returns true if a post cannot do without this setting.
    #[must_use]
    pub fn requires(&self, setting: &str) -> bool {
        self.schema["required"].as_array().into_iter().flatten().any(|name| name == setting)
    }
}

/// Returns the network of an account, and its rules for captions.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn caption_rules(
    act: &Act,
    id: AccountId,
) -> Result<(fanfare_platforms::PlatformId, fanfare_platforms::CaptionLimits)> {
    let row = find(act, id).await?;
    let platform = crate::platforms::from_row(&row.platform)?;
    Ok((platform, fanfare_platforms::find(platform).spec_of(&facts(&row)?).caption))
}

/// Returns the brand of these accounts, if all of them have the same one.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn brand_of_all(act: &Act, ids: &[i64]) -> Result<Option<BrandId>> {
    let mut brands = Vec::with_capacity(ids.len());
    for id in ids {
        brands.push(find(act, AccountId(*id)).await?.brand_id);
    }
    brands.dedup();
    Ok(if let [one] = brands.as_slice() { *one } else { None })
}

/// Returns the reply with the schema of a post on an account.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn schema(act: &Act, id: AccountId) -> Result<Reply<AccountSchema>> {
    Ok(Reply::ok(&schema_of(act, id).await?))
}

/// Returns the schema of a post on an account.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn schema_of(act: &Act, id: AccountId) -> Result<AccountSchema> {
    let row = find(act, id).await?;
    let platform = crate::platforms::from_row(&row.platform)?;
    let spec = fanfare_platforms::find(platform).spec_of(&facts(&row)?);
    Ok(AccountSchema {
        account_id: row.id,
        post_types: spec.post_types.iter().map(|kind| kind.name).collect(),
        post_type_details: fanfare_platforms::post_types(&spec),
        metadata: fanfare_platforms::metadata_schema(&spec),
        schema: fanfare_platforms::settings_schema(&spec),
        content_limits: ContentLimits::of(&spec),
        media_limits: MediaLimits::of(&spec.media),
        platform: row.platform,
    })
}
