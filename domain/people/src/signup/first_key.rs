//! The first API key of a user, which is created when it is shown.

use fanfare_core::{Domain, access::Scope, audit_trail::Author, error::Result};
use fanfare_entities::{UserId, api_key, first_key, signup, signup::SignupStatus};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, sea_query::OnConflict,
};
use secrecy::SecretString;

use super::update_status_of_user;
use crate::keys::{self, NewKey};

/// Creates the first key of a user who never had one. It is returned only once; of two concurrent requests one gets it.
///
/// # Errors
/// The database's.
pub async fn first_key(cx: &Domain, person: UserId) -> Result<Option<SecretString>> {
    let known = first_key::Entity::find_by_id(person).one(&cx.db.read).await?;
    if known.is_some() {
        // A user who comes back with another subscription has a key already.
        complete(cx, person).await?;
        return Ok(None);
    }
    let tx = cx.db.begin().await?;
    let now = cx.clock.now();
    let row = first_key::ActiveModel { user_id: Set(person), created_at: Set(now) };
    let known = OnConflict::column(first_key::Column::UserId).do_nothing().to_owned();
    let made =
        first_key::Entity::insert(row).on_conflict(known).exec_without_returning(&tx).await?;
    if made == 0 {
        tx.rollback().await?;
        return Ok(None);
    }
    let theirs = api_key::Column::UserId.eq(person);
    let had_one = api_key::Entity::find().filter(theirs).count(&tx).await? > 0;
    let key = if had_one {
        None
    } else {
        let new = NewKey {
            user_id: person,
            workspace_id: None,
            name: "first key".to_owned(),
            scopes: Scope::default_set(),
        };
        let (key, row) = keys::create_on(cx, &tx, new, (None, None)).await?;
        keys::write_created(&tx, &Author::user(person, ""), &row).await?;
        Some(key)
    };
    update_status_of_user(&tx, person, &OPEN, SignupStatus::Completed, now).await?;
    tx.commit().await?;
    Ok(key)
}

/// The statuses of a signup that only waits for its user.
const OPEN: [SignupStatus; 2] = [SignupStatus::Paid, SignupStatus::Ready];

async fn complete(cx: &Domain, person: UserId) -> Result<()> {
    let open = signup::Entity::find()
        .filter(signup::Column::UserId.eq(person))
        .filter(signup::Column::Status.is_in(OPEN))
        .count(&cx.db.read)
        .await?;
    if open > 0 {
        update_status_of_user(&cx.db.write, person, &OPEN, SignupStatus::Completed, cx.clock.now())
            .await?;
    }
    Ok(())
}
