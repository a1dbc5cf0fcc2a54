//! The operators, who run the service, and their passwords.

use fanfare_core::{
    Domain,
    error::{Code, Error, Result},
    passwords,
};
use fanfare_entities::{OperatorId, operator, operator_session};
use fanfare_people::users;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, sea_query::OnConflict};
use secrecy::SecretString;

use super::{Actor, audit};

/// Creates an operator, or sets the password of an existing one and ends its log-ins. Returns true if it was created.
///
/// # Errors
/// [`fanfare_core::Code::InvalidField`] if the address is invalid or the password too short.
pub async fn create(
    cx: &Domain,
    actor: &Actor,
    email: &str,
    password: SecretString,
) -> Result<bool> {
    let email = users::normalized_email(email)?;
    let hash = passwords::hash(password, &email).await?;
    let (now, tx) = (cx.clock.now(), cx.db.begin().await?);
    let known =
        operator::Entity::find().filter(operator::Column::Email.eq(&email)).one(&tx).await?;
    let id = known.as_ref().map_or_else(OperatorId::fresh, |row| row.id);
    let row = operator::ActiveModel {
        id: Set(id),
        email: Set(email.clone()),
        password_hash: Set(hash),
        created_at: Set(now),
        updated_at: Set(now),
    };
    let again = OnConflict::column(operator::Column::Email)
        .update_columns([operator::Column::PasswordHash, operator::Column::UpdatedAt])
        .to_owned();
    operator::Entity::insert(row).on_conflict(again).exec_without_returning(&tx).await?;
    operator_session::Entity::delete_many()
        .filter(operator_session::Column::OperatorId.eq(id))
        .exec(&tx)
        .await?;
    let what = if known.is_some() { "New password; log-ins ended." } else { "Made." };
    audit::insert(&tx, actor, ("operator", &email, what), now).await?;
    tx.commit().await?;
    Ok(known.is_none())
}

/// Sets the password of an existing operator, and ends its log-ins.
///
/// # Errors
/// [`fanfare_core::Code::NotFound`] if there is no such operator.
pub async fn reset(cx: &Domain, actor: &Actor, email: &str, password: SecretString) -> Result<()> {
    let address = users::normalized_email(email)?;
    let known = operator::Entity::find().filter(operator::Column::Email.eq(&address));
    if known.one(&cx.db.write).await?.is_none() {
        let message = format!("There is no operator with the address {address}.");
        return Err(Error::new(Code::NotFound, message));
    }
    create(cx, actor, &address, password).await.map(drop)
}

/// Returns the operator with this address and password, if there is one. An unknown address takes as long as a known
/// one.
pub(super) async fn verify(
    cx: &Domain,
    email: &str,
    password: SecretString,
) -> Result<Option<operator::Model>> {
    let known = match users::normalized_email(email) {
        Ok(email) => {
            let by_email = operator::Column::Email.eq(email);
            operator::Entity::find().filter(by_email).one(&cx.db.read).await?
        }
        Err(_) => None,
    };
    let stored = known.as_ref().map(|row| row.password_hash.clone());
    let same = passwords::verify(stored, password).await?;
    Ok(known.filter(|_| same))
}
