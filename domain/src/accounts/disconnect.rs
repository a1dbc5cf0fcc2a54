//! The end of a connection, by the owner's will or the network's.

use fanfare_entities::{AccountId, account, account::AccountStatus};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QuerySelect,
};
use serde_json::json;

use super::{in_seat, view};
use crate::{
    Act, Domain, Reply, Tx,
    error::{Code, Error, Result},
    events::NewEvent,
};

/// Disconnects an account: its credentials are deleted; its posts keep what they need to be shown, and to be taken up
/// again when the same account is connected anew.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn disconnect(act: &Act, id: AccountId) -> Result<Reply> {
    let mut tx = act.begin().await?;
    let row =
        in_seat(act).filter(account::Column::Id.eq(id)).lock_exclusive().one(tx.conn()).await?;
    let absent = || Error::new(Code::AccountNotFound, format!("There is no account {id}."));
    let row = row.ok_or_else(absent)?;
    if let Some(secret) = row.secret_id {
        act.cx.vault.forget(tx.conn(), secret).await?;
    }
    let gone = account::ActiveModel {
        id: Set(row.id),
        status: Set(AccountStatus::Disconnected),
        secret_id: Set(None),
        token_expires_at: Set(None),
        updated_at: Set(act.cx.clock.now()),
        ..Default::default()
    };
    let gone = gone.update(tx.conn()).await?;
    let message = format!("{} on {} was disconnected.", gone.username, gone.platform);
    tx.emit(event(&act.cx, &gone, message, Some(act.request_id.clone())));
    act.finish(tx, Reply::ok(json!({"deleted": true, "id": id}))).await
}

/// Notes that the network no longer accepts an account's credentials; told once, until it is connected again.
///
/// # Errors
/// The database's.
pub async fn needs_reconnect(cx: &Domain, id: AccountId) -> Result<()> {
    let mut tx = Tx::begin(cx).await?;
    let row = account::Entity::find_by_id(id)
        .filter(account::Column::Status.eq(AccountStatus::Connected))
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    let Some(row) = row else { return Ok(()) };
    let dead = account::ActiveModel {
        id: Set(row.id),
        status: Set(AccountStatus::ReconnectRequired),
        updated_at: Set(cx.clock.now()),
        ..Default::default()
    };
    let dead = dead.update(tx.conn()).await?;
    let message =
        format!("{} no longer accepts the credentials of {}.", dead.platform, dead.username);
    tx.emit(event(cx, &dead, message, None));
    tx.commit().await?;
    fanfare_metrics::record::account_lost(crate::posts::platform(&dead.platform)?.as_str());
    Ok(())
}

fn event(
    cx: &Domain,
    row: &account::Model,
    message: String,
    request_id: Option<String>,
) -> NewEvent {
    NewEvent {
        workspace_id: row.workspace_id,
        event_type: "account.disconnected",
        streamed: true,
        data: json!({ "account": view(cx, row) }),
        post_id: None,
        account_id: Some(row.id),
        brand_id: row.brand_id,
        platform: Some(row.platform.clone()),
        status: None,
        message,
        request_id,
    }
}
