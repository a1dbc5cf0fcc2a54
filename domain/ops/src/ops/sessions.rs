//! Operators' log-ins.

use fanfare_core::{
    Domain, audit_trail, batches,
    error::Result,
    logins::{self, Admission, LoginKind, LoginOutcome, LoginSource},
    token::{self, hash},
};
use fanfare_entities::{Millis, OperatorId, operator, operator_session};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use super::{Actor, audit, operators};

/// The time for which a log-in lasts, in ms.
pub const LIFETIME: Millis = 12 * 3_600_000;

/// An operator who is logged in.
#[derive(Debug, Clone)]
pub struct OperatorSession {
    /// The operator.
    pub operator_id: OperatorId,
    /// The operator's e-mail address.
    pub email: String,
    /// The time at which it ends.
    pub expires_at: Millis,
}

/// Tries to log in.
///
/// # Errors
/// The database's.
pub async fn log_in(
    cx: &Domain,
    (email, password): (&str, SecretString),
    from: LoginSource<'_>,
    request_id: &str,
) -> Result<LoginOutcome> {
    let address = from.address;
    let email = logins::login_name(email);
    let counted = match logins::admit(cx, LoginKind::Operators, &email, from).await? {
        Admission::Wait(wait) => return Ok(LoginOutcome::TooMany(wait)),
        Admission::Counted(names) => names,
    };
    let Some(known) = operators::verify(cx, &email, password).await? else {
        tracing::warn!(address, request.id = request_id, "a log-in was refused");
        audit_trail::note_refused_login(cx, "operator", address).await?;
        return Ok(LoginOutcome::Wrong);
    };
    logins::clear_attempts(cx, counted).await?;
    let token = token::generate();
    let (now, tx) = (cx.clock.now(), cx.db.begin().await?);
    let row = operator_session::ActiveModel {
        hash: Set(hash(token.expose_secret())),
        operator_id: Set(known.id),
        created_at: Set(now),
        expires_at: Set(now + LIFETIME),
    };
    operator_session::Entity::insert(row).exec_without_returning(&tx).await?;
    let actor = Actor { name: known.email.clone(), request_id: request_id.to_owned() };
    audit::insert(&tx, &actor, ("log_in", &known.email, &format!("From {address}.")), now).await?;
    tx.commit().await?;
    Ok(LoginOutcome::LoggedIn(token))
}

/// Returns the log-in that a cookie's token belongs to, if it has not ended.
///
/// # Errors
/// The database's.
pub async fn find(cx: &Domain, token: &SecretString) -> Result<Option<OperatorSession>> {
    let hash = hash(token.expose_secret());
    let row = operator_session::Entity::find_by_id(hash.as_str()).one(&cx.db.read).await?;
    let now = cx.clock.now();
    let live = row.filter(|row| {
        bool::from(row.hash.as_bytes().ct_eq(hash.as_bytes())) && row.expires_at > now
    });
    let Some(live) = live else { return Ok(None) };
    let known = operator::Entity::find_by_id(live.operator_id).one(&cx.db.read).await?;
    Ok(known.map(|operator| OperatorSession {
        operator_id: operator.id,
        email: operator.email,
        expires_at: live.expires_at,
    }))
}

/// Ends a log-in.
///
/// # Errors
/// The database's.
pub async fn log_out(cx: &Domain, token: &SecretString) -> Result<()> {
    let hash = hash(token.expose_secret());
    operator_session::Entity::delete_by_id(hash).exec(&cx.db.write).await?;
    Ok(())
}

/// Deletes log-ins that have ended.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let end = operator_session::Column::ExpiresAt;
    batches::delete::<operator_session::Entity>(cx, end, end.lte(cx.clock.now())).await
}
