//! Lists what a post is missing before it can be published.

use fanfare_entities::{PostId, account, account::AccountStatus, media_asset};
use fanfare_platforms::Violation;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use serde_json::{Value, json};

use super::{draft::Content, find, media_facts, readiness::conversion_flaws};
use crate::{Act, Reply, clock::show, error::Result};

/// Exactly what create would object to, and what has gone bad since: the account disconnected, a file gone, a token
/// that ends before the post's time, a file that its analysis found wanting or that cannot be converted.
///
/// # Errors
/// [`crate::Code::PostNotFound`].
pub async fn missing(act: &Act, id: PostId) -> Result<Reply> {
    let row = find(act, id).await?;
    let platform = super::platform(&row.platform)?;
    let account = account::Entity::find_by_id(row.account_id).one(&act.cx.db.read).await?;
    let facts = account.as_ref().map(crate::accounts::facts).transpose()?.unwrap_or_default();
    let mut content = Content::of_row(&row)?;
    media_facts::refresh(&act.cx.db.read, &mut content.media).await?;
    let account_facts = facts.clone();
    let mut broken =
        content.examined(move |content| content.violations(platform, &account_facts)).await?;
    broken.extend(conversion_flaws(&act.cx, platform, &facts, &content).await?);
    let mut missing: Vec<Value> = broken.iter().map(lack).collect();
    if let Some(mut lack) = account_lack(account.as_ref(), row.scheduled_at) {
        lack["reconnect"] = json!(account.map(|account| reconnect(act, &account)));
        missing.push(lack);
    }
    for file in &content.media {
        let Some(uid) = file.asset_id else { continue };
        let stored = media_asset::Entity::find()
            .filter(media_asset::Column::Uid.eq(uid))
            .count(&act.cx.db.read)
            .await?;
        if stored == 0 {
            missing.push(json!({
                "kind": "media", "field": "media_urls", "code": "media_gone",
                "message": format!("{} is no longer stored.", file.url),
                "remedy": "Upload the file again and change the post.",
            }));
        }
    }
    Ok(Reply::ok(json!({ "ready": missing.is_empty(), "missing": missing })))
}

/// Returns the remedy for a disconnected account: connect the same account again.
fn reconnect(act: &Act, account: &account::Model) -> Value {
    json!({
        "account_id": account.id, "platform": account.platform, "username": account.username,
        "connection_url": format!("{}/connect/{}", act.cx.settings.base_url, account.platform),
    })
}

fn lack(violation: &Violation) -> Value {
    let field = violation.field.as_str();
    let kind = match field.split(['.', '[']).next().unwrap_or_default() {
        "settings" | "metadata" | "post_type" => "settings",
        "media_url" | "media_urls" => "media",
        _ => "content",
    };
    let mut lack = json!(violation);
    lack["kind"] = kind.into();
    lack
}

fn account_lack(account: Option<&account::Model>, scheduled_at: Option<i64>) -> Option<Value> {
    let lack = |code: &str, message: String| {
        Some(json!({
            "kind": "account", "field": "account_id", "code": code, "message": message,
            "remedy": "Connect the account again.",
        }))
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
            format!("The account's token ends at {}, before the post's time.", show(end)),
        ),
        _ => None,
    }
}
