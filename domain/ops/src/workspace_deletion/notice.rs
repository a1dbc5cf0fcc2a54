//! The e-mails to those who can stop the deletion of a workspace.

use std::collections::BTreeSet;

use fanfare_core::{Tx, clock, error::Result};
use fanfare_entities::{
    UserId, brand_lock, membership, membership::Role, user, workspace, workspace_deletion,
};
use fanfare_mail::Letter;
use fanfare_people::mail::{self, MailTransport};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};

/// Writes an e-mail to the owner and to every admin who sees all of the workspace. `person` is who asked; `None` is the
/// operator.
///
/// # Errors
/// The database's.
pub(super) async fn write(
    tx: &mut Tx,
    own: &workspace::Model,
    row: &workspace_deletion::Model,
    person: Option<UserId>,
) -> Result<()> {
    if matches!(mail::mail_transport(tx.domain()), MailTransport::None) {
        return Ok(());
    }
    let link = format!("{}/dashboard/settings", tx.domain().settings.base_url);
    let until = clock::date(row.ends_at).format("%-d %B %Y, %H:%M UTC").to_string();
    let mut ids = managers(tx.conn(), own).await?;
    let notified = ids.clone();
    ids.extend(person);
    let people = user::Entity::find().filter(user::Column::Id.is_in(ids)).all(tx.conn()).await?;
    let asker = people.iter().find(|one| Some(one.id) == person).map(|one| one.email.clone());
    let asker = asker.unwrap_or_else(|| "The operator of this service".to_owned());
    for one in people.iter().filter(|one| notified.contains(&one.id)) {
        let letter = Letter::workspace_leaving(&one.email, &own.name, (&asker, &until), &link);
        mail::write(tx, &format!("leaving:{}:{}", row.id, one.id), &letter, one.id).await?;
    }
    Ok(())
}

async fn managers<C: ConnectionTrait>(
    conn: &C,
    own: &workspace::Model,
) -> Result<BTreeSet<UserId>> {
    let members = membership::Entity::find()
        .filter(membership::Column::WorkspaceId.eq(own.id))
        .filter(membership::Column::Role.eq(Role::Admin));
    let locked = brand_lock::Entity::find().filter(brand_lock::Column::WorkspaceId.eq(own.id));
    let locked: BTreeSet<_> =
        locked.all(conn).await?.into_iter().map(|lock| lock.user_id).collect();
    let admins = members.all(conn).await?.into_iter().map(|member| member.user_id);
    let admins = admins.filter(|id| !locked.contains(id));
    Ok(admins.chain([own.owner_id]).collect())
}
