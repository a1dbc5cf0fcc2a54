//! Webhooks: addresses that receive events.

mod deliveries;
pub mod delivery;
pub mod receivers;
mod secrets;

use fanfare_entities::{
    Millis, WebhookId, WorkspaceId, subscription, webhook, webhook_delivery,
    webhook_delivery::DeliveryStatus, webhook_secret,
};
use fanfare_platforms::{excerpt, fix::closest_name};
use schemars::JsonSchema;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, ExprTrait,
    PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, sea_query::Expr,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;
use uuid::Uuid;

use crate::{
    Act, Deleted, RefusalDetails, Reply, Tx, audit_trail, batches,
    clock::Time,
    error::{Code, Error, Result, Violations, violation},
    events::{self, NewEvent},
    page::Listed,
};

pub use deliveries::{
    DeliveryPage, DeliveryQuery, OneDelivery, RedeliverFailed, RedeliveredFailed, WebhookDelivery,
    list_deliveries, redeliver, redeliver_failed, send_test,
};
pub use secrets::{SecretsEnded, end_earlier_secrets, rotate_secret};

/// The most webhooks of a workspace; each event is delivered to each of them.
const MAX_WEBHOOKS: u64 = 20;

/// The most characters of a description.
const MAX_DESCRIPTION_CHARS: usize = 200;

/// The reason shown for a webhook that its owner disabled.
pub const DISABLED_BY_OWNER: &str = "disabled by its owner";

/// A webhook to be created.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWebhook {
    /// A public https address. On an installation on your own machine its owner may use http and 127.0.0.1.
    #[schemars(length(max = 2_048))]
    pub url: String,
    /// Event types, or `*` for all. Left out: all events of posts.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(max = 100)))]
    pub events: Option<Vec<String>>,
    /// Your own description, up to 200 characters.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub description: Option<String>,
    /// False creates it disabled; nothing is sent until it is enabled. Left out: true.
    #[serde(default)]
    pub enabled: Option<bool>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Changes to a webhook. A field that is left out stays as it is.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookChanges {
    /// A public https address.
    #[serde(default)]
    #[schemars(length(max = 2_048))]
    pub url: Option<String>,
    /// Event types, or `*` for all.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(max = 100)))]
    pub events: Option<Vec<String>>,
    /// Your own description, up to 200 characters; null removes it.
    #[serde(default, deserialize_with = "crate::input::absent_or_null")]
    #[schemars(length(max = 200))]
    pub description: Option<Option<String>>,
    /// False stops deliveries; true resumes them, also after failures disabled the webhook.
    #[serde(default)]
    pub enabled: Option<bool>,
}

/// Returns the webhooks of the membership's workspace, newest first.
///
/// # Errors
/// The database's.
pub async fn list(act: &Act) -> Result<Reply<Listed<WebhookList>>> {
    require_whole_workspace(act)?;
    let rows = webhook::Entity::find()
        .filter(webhook::Column::WorkspaceId.eq(act.membership.workspace_id))
        .order_by_desc(webhook::Column::Id)
        .all(&act.cx.db.read)
        .await?;
    let webhooks: Vec<_> = rows.into_iter().map(Webhook::of).collect();
    Ok(Reply::ok(&Listed::whole(webhooks.is_empty(), WebhookList { webhooks })))
}

/// Creates a webhook. Its signing secret is only in this reply.
///
/// # Errors
/// [`Code::UrlNotAllowed`], an unknown event type, or [`Code::WebhookLimit`].
pub async fn create(act: &Act, new: NewWebhook) -> Result<Reply<OneWebhookWithSecret>> {
    require_whole_workspace(act)?;
    let events = new.events.unwrap_or_else(post_event_types);
    check_events(&events)?;
    check_description(new.description.as_deref())?;
    receivers::check(act, &new.url).await?;
    let enabled = new.enabled != Some(false);
    let now = act.cx.clock.now();
    let tx = act.begin().await?;
    require_room(act, &tx).await?;
    let row = webhook::ActiveModel {
        id: Set(WebhookId::fresh()),
        workspace_id: Set(act.membership.workspace_id),
        url: Set(new.url),
        events: Set(json!(events)),
        description: Set(new.description),
        enabled: Set(enabled),
        disabled_reason: Set((!enabled).then(|| DISABLED_BY_OWNER.to_owned())),
        failing_since: Set(None),
        created_at: Set(now),
        updated_at: Set(now),
    };
    let row = webhook::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    let secret = secrets::add(act, &tx, row.id, now).await?;
    note(act, &tx, ("webhook_created", row.id), settings(&row)).await?;
    act.finish(tx, with_secret(row, secret).with_status(201)).await
}

/// Changes a webhook.
///
/// # Errors
/// [`Code::WebhookNotFound`], or what is wrong with the change.
pub async fn update(
    act: &Act,
    id: WebhookId,
    changes: WebhookChanges,
) -> Result<Reply<OneWebhook>> {
    if let Some(events) = &changes.events {
        check_events(events)?;
    }
    check_description(changes.description.as_ref().and_then(Option::as_deref))?;
    if let Some(url) = &changes.url {
        receivers::check(act, url).await?;
    }
    let tx = act.begin().await?;
    let row = find_locked(act, &tx, id).await?;
    let mut next: webhook::ActiveModel = row.into();
    if let Some(url) = changes.url {
        next.url = Set(url);
    }
    if let Some(events) = changes.events {
        next.events = Set(json!(events));
    }
    if let Some(description) = changes.description {
        next.description = Set(description);
    }
    match changes.enabled {
        Some(true) => {
            next.enabled = Set(true);
            next.disabled_reason = Set(None);
            next.failing_since = Set(None);
        }
        Some(false) => {
            next.enabled = Set(false);
            next.disabled_reason = Set(Some(DISABLED_BY_OWNER.to_owned()));
            fail_pending(tx.conn(), id).await?;
        }
        None => {}
    }
    next.updated_at = Set(act.cx.clock.now());
    let row = next.update(tx.conn()).await?;
    note(act, &tx, ("webhook_changed", id), settings(&row)).await?;
    act.finish(tx, Reply::ok(&OneWebhook { webhook: Webhook::of(row) })).await
}

/// Deletes a webhook with its deliveries.
///
/// # Errors
/// [`Code::WebhookNotFound`].
pub async fn delete(act: &Act, id: WebhookId) -> Result<Reply<Deleted>> {
    let tx = act.begin().await?;
    let row = find_locked(act, &tx, id).await?;
    let conn = tx.conn();
    let secrets = webhook_secret::Entity::find()
        .filter(webhook_secret::Column::WebhookId.eq(row.id))
        .all(conn)
        .await?;
    for secret in secrets {
        act.cx.vault.delete(conn, secret.secret_id).await?;
    }
    webhook_secret::Entity::delete_many()
        .filter(webhook_secret::Column::WebhookId.eq(row.id))
        .exec(conn)
        .await?;
    webhook::Entity::delete_by_id(row.id).exec(conn).await?;
    note(act, &tx, ("webhook_deleted", id), json!({})).await?;
    let reply = act.finish(tx, Reply::ok(&Deleted::uuid(id.0))).await?;
    // There may be a million. One that stays is not sent without its webhook, and is cleaned up when it is old.
    let theirs = webhook_delivery::Column::WebhookId.eq(row.id);
    let order = webhook_delivery::Column::Id;
    let gone = batches::delete::<webhook_delivery::Entity>(&act.cx, order, theirs).await;
    if let Err(error) = gone {
        tracing::warn!(%error, "deliveries of a deleted webhook are left to the clean-up");
    }
    Ok(reply)
}

/// Writes what was done to a webhook into the audit log.
async fn note(
    act: &Act,
    tx: &Tx,
    (action, id): (&'static str, WebhookId),
    details: Value,
) -> Result<()> {
    audit_trail::note(tx.conn(), act, (action, format!("webhook:{id}")), details).await
}

/// Returns what an entry of the audit log says of a webhook. The path of its address may hold a secret of its receiver.
fn settings(row: &webhook::Model) -> Value {
    let host = Url::parse(&row.url).ok().and_then(|url| url.host_str().map(str::to_owned));
    json!({"host": host, "events": row.events, "enabled": row.enabled})
}

async fn find_locked(act: &Act, tx: &Tx, id: WebhookId) -> Result<webhook::Model> {
    let found = webhook::Entity::find_by_id(id)
        .filter(webhook::Column::WorkspaceId.eq(act.membership.workspace_id))
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    found.ok_or_else(|| Error::new(Code::WebhookNotFound, "There is no such webhook."))
}

/// Fails for memberships that are locked to brands, because a webhook covers the whole workspace.
fn require_whole_workspace(act: &Act) -> Result<()> {
    if act.membership.brands.is_none() {
        return Ok(());
    }
    let message = "Your membership is locked to brands, and webhooks cover the whole workspace.";
    Err(Error::new(Code::InsufficientWorkspacePermissions, message).with_details(RefusalDetails {
        required_role: Some("publisher"),
        ..RefusalDetails::default()
    }))
}

/// Fails if the workspace has the most webhooks already. It locks the workspace's subscription, so that two requests at
/// once do not exceed the limit.
async fn require_room(act: &Act, tx: &Tx) -> Result<()> {
    let workspace = act.membership.workspace_id;
    subscription::Entity::find_by_id(workspace).lock_exclusive().one(tx.conn()).await?;
    let own = webhook::Entity::find().filter(webhook::Column::WorkspaceId.eq(workspace));
    if own.count(tx.conn()).await? < MAX_WEBHOOKS {
        return Ok(());
    }
    let message =
        format!("The workspace has {MAX_WEBHOOKS} webhooks, which is as many as there may be.");
    Err(Error::new(Code::WebhookLimit, message)
        .with_details(RefusalDetails { limit: Some(MAX_WEBHOOKS), ..RefusalDetails::default() }))
}

/// Returns the types of all events of posts.
fn post_event_types() -> Vec<String> {
    let types = events::TYPES.iter().filter(|name| name.starts_with("post."));
    types.map(|name| (*name).to_owned()).collect()
}

fn check_events(names: &[String]) -> Result<()> {
    if names.is_empty() {
        let message = "events is empty.";
        let remedy = "Name at least one event type, or \"*\".";
        return Err(Error::field(Code::FieldRequired, "events", message, remedy));
    }
    let known = |name: &str| name == "*" || events::TYPES.contains(&name);
    let mut unknown = Violations::default();
    for (place, name) in names.iter().enumerate().filter(|(_, name)| !known(name)) {
        unknown.push_with(|| {
            let field = format!("events[{place}]");
            let message = format!("There is no event type {:?}.", excerpt(name));
            // Which event is meant is asked, never guessed: a wrong one would be noticed by nobody.
            let remedy = match closest_name(name, events::TYPES.iter().copied()) {
                Some(meant) => format!("Is {meant} meant?"),
                None => format!("Use \"*\" for all, or some of {}.", events::TYPES.join(", ")),
            };
            violation(Code::InvalidField, field, message, remedy)
        });
    }
    Error::check(unknown)
}

fn check_description(text: Option<&str>) -> Result<()> {
    let length = text.map_or(0, |text| text.chars().count());
    if length <= MAX_DESCRIPTION_CHARS {
        return Ok(());
    }
    let message =
        format!("description has {length} characters; it may have {MAX_DESCRIPTION_CHARS}.");
    Err(Error::field(Code::InvalidField, "description", message, "Send fewer words."))
}

/// A webhook, without its secret.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Webhook {
    pub id: WebhookId,
    pub url: String,
    /// The event types that it is sent, or `*`.
    #[schemars(with = "Vec<String>")]
    events: Value,
    /// The owner's description.
    pub description: Option<String>,
    pub enabled: bool,
    pub workspace_id: WorkspaceId,
    pub created_at: Time,
    /// The reason why it is not enabled.
    pub disabled_reason: Option<String>,
}

/// A webhook with the secret that signs what it is sent.
#[derive(Serialize, JsonSchema)]
pub struct WebhookWithSecret {
    #[serde(flatten)]
    webhook: Webhook,
    /// The secret, which is shown only once.
    secret: String,
}

/// One webhook.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneWebhook {
    webhook: Webhook,
}

/// One webhook with its secret.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneWebhookWithSecret {
    webhook: WebhookWithSecret,
}

/// Webhooks.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct WebhookList {
    pub webhooks: Vec<Webhook>,
}

impl Webhook {
    /// Returns the event types that it is sent, or `*`.
    pub fn event_types(&self) -> Vec<&str> {
        self.events.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn of(row: webhook::Model) -> Self {
        Self {
            id: row.id,
            url: row.url,
            events: row.events,
            description: row.description,
            enabled: row.enabled,
            workspace_id: row.workspace_id,
            created_at: Time(row.created_at),
            disabled_reason: row.disabled_reason,
        }
    }
}

fn with_secret(row: webhook::Model, secret: String) -> Reply<OneWebhookWithSecret> {
    let webhook = WebhookWithSecret { webhook: Webhook::of(row), secret };
    Reply::ok(&OneWebhookWithSecret { webhook }).secret()
}

/// Fails the pending deliveries of a webhook that is disabled; they can be redelivered by request.
async fn fail_pending<C: ConnectionTrait>(conn: &C, id: WebhookId) -> Result<()> {
    use webhook_delivery::Column;
    webhook_delivery::Entity::update_many()
        .col_expr(Column::Status, Expr::value("failed"))
        .col_expr(Column::DueAt, Expr::value(Option::<Millis>::None))
        .col_expr(Column::FencingToken, Expr::col(Column::FencingToken).add(1))
        .col_expr(Column::LastError, Expr::value("the webhook was disabled"))
        .filter(Column::WebhookId.eq(id))
        .filter(Column::Status.eq(DeliveryStatus::Pending))
        // All of them are; it names the index.
        .filter(Column::DueAt.is_not_null())
        .exec(conn)
        .await?;
    Ok(())
}

/// Returns the activity entry for a webhook that was disabled because of its failures.
fn disabled_event(row: &webhook::Model, reason: &str) -> NewEvent {
    NewEvent {
        workspace_id: row.workspace_id,
        event_type: "webhook.disabled",
        streamed: false,
        data: json!({ "webhook": Webhook::of(row.clone()) }).to_string(),
        post_id: None,
        account_id: None,
        brand_id: None,
        platform: None,
        status: None,
        message: format!("The webhook {} was disabled: {reason}.", row.url),
        request_id: None,
    }
}
