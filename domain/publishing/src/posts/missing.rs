//! Lists what a post is missing before it can be published.

use fanfare_core::{Act, Reply, clock::to_rfc3339, error::Result};
use fanfare_entities::{AccountId, PostId, account, account::AccountStatus, media_asset};
use fanfare_platforms::Violation;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use serde::Serialize;

use super::{draft::Content, find, media_facts, readiness::conversion_flaws};

/// Returns the reply with what a post is missing.
///
/// # Errors
/// [`fanfare_core::Code::PostNotFound`].
pub async fn missing(act: &Act, id: PostId) -> Result<Reply<Missing>> {
    Ok(Reply::ok(&missing_of(act, id).await?))
}

/// Returns everything that `create` would object to, and what has become invalid since: a disconnected account, a
/// deleted file, a token that expires before the post's time, a file that is flawed or cannot be converted.
///
/// # Errors
/// [`fanfare_core::Code::PostNotFound`].
pub async fn missing_of(act: &Act, id: PostId) -> Result<Missing> {
    let row = find(act, id).await?;
    let platform = crate::platforms::from_row(&row.platform)?;
    let account = account::Entity::find_by_id(row.account_id).one(&act.cx.db.read).await?;
    let facts = account.as_ref().map(crate::accounts::facts).transpose()?.unwrap_or_default();
    let mut content = Content::of_row(&row)?;
    media_facts::refresh(&act.cx.db.read, &mut content.media).await?;
    let account_facts = facts.clone();
    let mut broken =
        content.examine(move |content| content.violations(platform, &account_facts)).await?;
    broken.extend(conversion_flaws(&act.cx, platform, &facts, &content).await?);
    let mut missing: Vec<MissingItem> = broken.iter().cloned().map(MissingItem::of).collect();
    if let Some(lack) = missing_account(account.as_ref(), row.scheduled_at) {
        let reconnect = account.map(|account| Reconnect::of(act, account));
        missing.push(MissingItem { reconnect, ..lack });
    }
    for file in &content.media {
        let Some(uid) = file.asset_id else { continue };
        let stored = media_asset::Entity::find()
            .filter(media_asset::Column::Uid.eq(uid))
            .count(&act.cx.db.read)
            .await?;
        if stored == 0 {
            let message = format!("{} is no longer stored.", file.url);
            let remedy = "Upload the file again and change the post.";
            let gone = Violation::new("media_urls", "media_gone", message, remedy);
            missing.push(MissingItem::of(gone));
        }
    }
    Ok(Missing { ready: missing.is_empty(), missing })
}

/// A thing that a post lacks before it can be published.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the fields without a description say what they hold")]
pub struct Missing {
    /// True if nothing is missing.
    pub ready: bool,
    pub missing: Vec<MissingItem>,
}

/// One thing that a post is missing.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the fields without a description say what they hold")]
pub struct MissingItem {
    /// The part of the post that is incomplete.
    kind: MissingKind,
    #[serde(flatten)]
    pub broken: Violation,
    /// The account to connect again, after which the post can go out.
    #[serde(skip_serializing_if = "Option::is_none")]
    reconnect: Option<Reconnect>,
}

/// The part of a post that is incomplete.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum MissingKind {
    Content,
    Media,
    Account,
    Settings,
}

/// An account to be connected again. A disconnected account keeps its row for its posts.
#[derive(Debug, Serialize, JsonSchema)]
struct Reconnect {
    account_id: AccountId,
    platform: String,
    username: String,
    /// The page on which a person connects it.
    connection_url: String,
}

impl Reconnect {
    fn of(act: &Act, account: account::Model) -> Self {
        let connection_url = format!("{}/connect/{}", act.cx.settings.base_url, account.platform);
        Self {
            account_id: account.id,
            platform: account.platform,
            username: account.username,
            connection_url,
        }
    }
}

impl MissingItem {
    fn of(broken: Violation) -> Self {
        let kind = match broken.field.split(['.', '[']).next().unwrap_or_default() {
            "settings" | "metadata" | "post_type" => MissingKind::Settings,
            "media_url" | "media_urls" => MissingKind::Media,
            "account_id" => MissingKind::Account,
            _ => MissingKind::Content,
        };
        // A fix corrects a body, and there is none here.
        let broken = Violation { fix: Vec::new(), ..broken };
        Self { kind, broken, reconnect: None }
    }
}

fn missing_account(
    account: Option<&account::Model>,
    scheduled_at: Option<i64>,
) -> Option<MissingItem> {
    let lack = |code: &'static str, message: String| {
        let remedy = "Connect the account again.";
        Some(MissingItem::of(Violation::new("account_id", code, message, remedy)))
    };
    let Some(account) = account.filter(|row| row.status != AccountStatus::Disconnected) else {
        return lack("account_disconnected", "The account was disconnected.".to_owned());
    };
    if account.status == AccountStatus::ReconnectRequired {
        let message = format!("{} no longer accepts the account's credentials.", account.platform);
        return lack("reconnect_required", message);
    }
    let refreshed = account.refresh_at.is_some();
    match (account.token_expires_at, scheduled_at) {
        (Some(end), Some(at)) if end < at && !refreshed => lack(
            "token_expired",
            format!("The account's token ends at {}, before the post's time.", to_rfc3339(end)),
        ),
        _ => None,
    }
}
