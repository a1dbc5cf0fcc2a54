//! On which terms a workspace lets programs send people to connect accounts.

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result, Violations, violation, wrong_count},
    input::text::{self, TextRule},
};
use fanfare_entities::{WorkspaceId, connect_setting};
use fanfare_people::{oauth_provider::return_urls, team};
use schemars::JsonSchema;
use sea_orm::{ActiveValue::Set, ConnectionTrait, EntityTrait, sea_query::OnConflict};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The most addresses of a workspace.
const MAX_URLS: usize = 10;

/// Changes of the settings; what is left out stays.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectSettingsChanges {
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
    /// True allows links that need no account of this service: anybody who has one connects an account, once.
    #[serde(default)]
    pub guest_links: Option<bool>,
    /// The addresses that people may be sent back to, compared as a text: https, or the scheme of an app.
    #[serde(default)]
    #[schemars(length(max = 10), inner(length(max = 2_000)))]
    pub return_urls: Option<Vec<String>>,
    /// The name of the product that people come from, which the page shows.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub app_name: Option<String>,
}

/// The settings of a workspace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConnectSettings {
    workspace_id: WorkspaceId,
    /// True if links may be made that need no account of this service.
    pub(super) guest_links: bool,
    /// The addresses that people may be sent back to.
    pub(super) return_urls: Vec<String>,
    /// The name of the product that people come from.
    pub(super) app_name: Option<String>,
}

/// The settings of a workspace.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneConnectSettings {
    connect_settings: ConnectSettings,
}

/// Returns the settings.
///
/// # Errors
/// The database's.
pub async fn show_settings(act: &Act) -> Result<Reply<OneConnectSettings>> {
    let connect_settings = read(&act.cx.db.write, act.membership.workspace_id).await?;
    Ok(Reply::ok(&OneConnectSettings { connect_settings }))
}

/// Changes the settings.
///
/// # Errors
/// [`Code::InsufficientWorkspacePermissions`] unless the caller manages the workspace, or all that is wrong with the
/// values.
pub async fn change_settings(
    act: &Act,
    changes: ConnectSettingsChanges,
) -> Result<Reply<OneConnectSettings>> {
    team::require_manager(&act.membership)?;
    let mut settings = read(&act.cx.db.write, act.membership.workspace_id).await?;
    check(&changes)?;
    settings.guest_links = changes.guest_links.unwrap_or(settings.guest_links);
    settings.return_urls = changes.return_urls.unwrap_or(settings.return_urls);
    let named = changes.app_name.map(|name| name.trim().to_owned());
    settings.app_name = named.or(settings.app_name).filter(|name| !name.is_empty());
    let row = connect_setting::ActiveModel {
        workspace_id: Set(act.membership.workspace_id),
        guest_links: Set(settings.guest_links),
        return_urls: Set(settings.return_urls.join("\n")),
        app_name: Set(settings.app_name.clone()),
        updated_at: Set(act.cx.clock.now()),
    };
    let again = OnConflict::column(connect_setting::Column::WorkspaceId)
        .update_columns([
            connect_setting::Column::GuestLinks,
            connect_setting::Column::ReturnUrls,
            connect_setting::Column::AppName,
            connect_setting::Column::UpdatedAt,
        ])
        .to_owned();
    let tx = act.begin().await?;
    connect_setting::Entity::insert(row)
        .on_conflict(again)
        .exec_without_returning(tx.conn())
        .await?;
    act.finish(tx, Reply::ok(&OneConnectSettings { connect_settings: settings })).await
}

/// Reads the settings of a workspace.
pub(super) async fn read<C: ConnectionTrait>(
    conn: &C,
    workspace_id: WorkspaceId,
) -> Result<ConnectSettings> {
    let row = connect_setting::Entity::find_by_id(workspace_id).one(conn).await?;
    let lines = |text: &str| text.lines().map(str::to_owned).collect();
    Ok(ConnectSettings {
        workspace_id,
        guest_links: row.as_ref().is_some_and(|row| row.guest_links),
        return_urls: row.as_ref().map_or_else(Vec::new, |row| lines(&row.return_urls)),
        app_name: row.and_then(|row| row.app_name),
    })
}

fn check(changes: &ConnectSettingsChanges) -> Result<()> {
    let mut broken = Violations::default();
    let urls = changes.return_urls.as_deref().unwrap_or_default();
    if urls.len() > MAX_URLS {
        broken.push(wrong_count("return_urls", urls.len(), &(0..=MAX_URLS)));
    }
    for (place, url) in urls.iter().take(MAX_URLS).enumerate() {
        if let Err(why) = return_urls::check(url) {
            let remedy = "Send an address like https://example.com/connected.";
            let field = format!("return_urls[{place}]");
            broken.push(violation(Code::InvalidField, field, why, remedy));
        }
    }
    let name = changes.app_name.as_deref().unwrap_or_default();
    if let Some(flaw) =
        text::problem("app_name", name, TextRule::line(100)).filter(|_| !name.is_empty())
    {
        broken.push(flaw);
    }
    Error::check(broken)
}
