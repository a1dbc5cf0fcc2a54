//! Revokes the access to an account whose workspace is deleted.

use fanfare_core::{Domain, batches, error::Result};
use fanfare_entities::{account, account::AccountStatus};
use fanfare_platforms as platforms;
use sea_orm::{ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};

use super::{session, shared_credentials::holders_of};

/// What a network made of the request to revoke the access to an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revocation {
    /// It is revoked, or is revoked with another account that holds the same tokens.
    Done,
    /// The network has no call for that.
    NoCall,
    /// The network refused, and would refuse again.
    Refused,
    /// The network could not be asked, or did not answer.
    Later,
}

/// Asks the network to revoke the access to an account.
///
/// # Errors
/// The database's.
pub async fn revoke(cx: &Domain, row: &account::Model) -> Result<Revocation> {
    let Ok(id) = crate::platforms::from_row(&row.platform) else { return Ok(Revocation::NoCall) };
    if !platforms::find(id).can_revoke() {
        return Ok(Revocation::NoCall);
    }
    // The session of the account as it was connected.
    let before = account::Model { secret_id: row.secret_id.or(row.revoking_id), ..row.clone() };
    let session = match session(cx, &before).await {
        Ok(Some(session)) => session,
        Ok(None) => return Ok(Revocation::NoCall),
        Err(error) => {
            tracing::warn!(account.id = row.id.0, %error, "credentials cannot be opened, nor revoked");
            return Ok(Revocation::Refused);
        }
    };
    if holders_of(cx, &before, &session.secrets).await?.len() > 1 {
        return Ok(Revocation::Done);
    }
    Ok(match platforms::find(id).revoke(&session).await {
        Ok(_) => Revocation::Done,
        Err(error)
            if error.kind == platforms::ErrorKind::Reconnect
                || error.kind.is_refusal_of_the_account() =>
        {
            Revocation::Refused
        }
        Err(_) => Revocation::Later,
    })
}

/// Deletes the credentials of an account, and takes it from every worker that holds it. Returns the number of secrets.
///
/// # Errors
/// The database's.
pub async fn forget_credentials<C: ConnectionTrait>(
    cx: &Domain,
    tx: &C,
    row: &account::Model,
) -> Result<u64> {
    let secrets: Vec<_> = row.secret_id.into_iter().chain(row.revoking_id).collect();
    let count = secrets.len() as u64;
    batches::delete_secrets(tx, secrets).await?;
    let gone = account::ActiveModel {
        status: Set(AccountStatus::Disconnected),
        secret_id: Set(None),
        revoking_id: Set(None),
        token_expires_at: Set(None),
        refresh_at: Set(None),
        due_at: Set(None),
        fencing_token: Set(row.fencing_token + 1),
        updated_at: Set(cx.clock.now()),
        ..Default::default()
    };
    account::Entity::update_many()
        .set(gone)
        .filter(account::Column::Id.eq(row.id))
        .exec(tx)
        .await?;
    Ok(count)
}
