//! Warnings about posts whose account must be connected again.

use std::collections::HashMap;

use fanfare_core::{
    Act,
    error::{Error, Result},
    remedies,
};
use fanfare_entities::{AccountId, account, account::AccountStatus, post, post::PostStatus};
use fanfare_platforms::{Warning, WarningCode};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};

/// Statuses of posts that are still to be published.
const WAITING: [PostStatus; 3] = [PostStatus::Draft, PostStatus::Scheduled, PostStatus::Paused];

/// Returns the warning that nothing can be published on an account.
pub(super) fn reconnect(act: &Act, account: &account::Model) -> Option<Warning> {
    if account.status != AccountStatus::ReconnectRequired {
        return None;
    }
    let message = format!(
        "{} no longer accepts the credentials of {}: nothing is published on it until it is connected again.",
        account.platform, account.username
    );
    let warning = Warning::new(WarningCode::AccountNeedsReconnect, "account_id", message)
        .with("platform", &account.platform)
        .with("account_id", account.id)
        .with("username", &account.username);
    Some(warning.with_next(remedies::reconnect(act, account)))
}

/// Adds the warning to those of the posts that wait for an account that must be connected again.
///
/// # Errors
/// The database's.
pub(super) async fn note_reconnects(act: &Act, rows: &mut [post::Model]) -> Result<()> {
    let mut waiting: Vec<_> = rows.iter_mut().filter(|row| WAITING.contains(&row.status)).collect();
    if waiting.is_empty() {
        return Ok(());
    }
    let lost = account::Entity::find()
        .filter(account::Column::Id.is_in(waiting.iter().map(|row| row.account_id)))
        .filter(account::Column::Status.eq(AccountStatus::ReconnectRequired))
        .all(&act.cx.db.read)
        .await?;
    let lost: HashMap<AccountId, _> = lost.iter().map(|account| (account.id, account)).collect();
    for row in &mut waiting {
        let account = lost.get(&row.account_id);
        if let Some(warning) = account.and_then(|account| reconnect(act, account)) {
            let warning = serde_json::to_value(warning).map_err(Error::internal)?;
            if let Value::Array(warnings) = row.warnings.get_or_insert_with(|| json!([])) {
                warnings.push(warning);
            }
        }
    }
    Ok(())
}
