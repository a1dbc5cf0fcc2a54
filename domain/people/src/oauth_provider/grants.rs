//! Grants of users to clients.

use std::collections::BTreeMap;

use fanfare_core::{
    Domain, Tx,
    access::Scope,
    audit_trail::{self, Author, Change},
    error::{Code, Error, Result},
};
use fanfare_entities::{
    GrantId, Millis, UserId, WorkspaceId, oauth_grant, oauth_grant::Column, workspace,
};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, ExprTrait, QueryFilter, QueryOrder, QuerySelect,
    sea_query::Expr,
};
use serde_json::{Value, json};

use super::scopes;

/// A grant of a user to a client.
#[derive(Debug, Clone)]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// The client.
    pub client_id: String,
    /// The client's name, which is not verified.
    pub client_name: String,
    /// The scopes.
    pub scopes: Vec<Scope>,
    /// The workspace that it reaches.
    pub workspace_id: WorkspaceId,
    /// The workspace's name.
    pub workspace_name: String,
    /// The time at which it was granted.
    pub created_at: Millis,
    /// The time at which it last used a token, to the minute.
    pub last_used_at: Option<Millis>,
}

/// Returns the active grants of a user, newest first; only those in `within`, if the caller is limited to that
/// workspace.
///
/// # Errors
/// The database's.
pub async fn list_grants(
    cx: &Domain,
    person: UserId,
    within: Option<WorkspaceId>,
) -> Result<Vec<Grant>> {
    let mut theirs = oauth_grant::Entity::find()
        .filter(Column::UserId.eq(person))
        .filter(Column::EndedAt.is_null())
        .order_by_desc(Column::CreatedAt)
        .order_by_desc(Column::Id);
    if let Some(workspace) = within {
        theirs = theirs.filter(Column::WorkspaceId.eq(workspace));
    }
    let rows = theirs.all(&cx.db.read).await?;
    let ids = rows.iter().map(|row| row.workspace_id);
    let named = workspace::Entity::find().filter(workspace::Column::Id.is_in(ids));
    let names: BTreeMap<_, _> =
        named.all(&cx.db.read).await?.into_iter().map(|row| (row.id, row.name)).collect();
    let grant = |row: oauth_grant::Model| Grant {
        id: row.id,
        scopes: scopes::parse_scopes(&row.scopes),
        workspace_name: names.get(&row.workspace_id).cloned().unwrap_or_default(),
        client_id: row.client_id,
        client_name: row.client_name,
        workspace_id: row.workspace_id,
        created_at: row.created_at,
        last_used_at: row.last_used_at,
    };
    Ok(rows.into_iter().map(grant).collect())
}

/// Ends a grant of a user. Its tokens are refused from the next request on.
///
/// # Errors
/// [`Code::GrantNotFound`].
pub async fn end_grant(
    tx: &Tx,
    author: &Author,
    person: UserId,
    within: Option<WorkspaceId>,
    id: GrantId,
) -> Result<()> {
    let mut theirs = Column::UserId.eq(person).and(Column::Id.eq(id));
    if let Some(workspace) = within {
        theirs = theirs.and(Column::WorkspaceId.eq(workspace));
    }
    if end_and_note(tx, author, theirs).await? {
        return Ok(());
    }
    Err(Error::new(Code::GrantNotFound, "There is no such grant, or it has ended."))
}

/// Ends a grant, at the word of this author.
pub(super) async fn end(cx: &Domain, author: &Author, id: GrantId) -> Result<()> {
    let tx = Tx::begin(cx).await?;
    end_and_note(&tx, author, Column::Id.eq(id)).await?;
    tx.commit().await
}

/// Ends the grant that is meant, with its entry in the audit log. Returns false if there is none that is active.
async fn end_and_note(
    tx: &Tx,
    author: &Author,
    which: sea_orm::sea_query::SimpleExpr,
) -> Result<bool> {
    let found = oauth_grant::Entity::find()
        .filter(which)
        .filter(Column::EndedAt.is_null())
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    let Some(row) = found else { return Ok(false) };
    end_where(tx.conn(), Column::Id.eq(row.id), tx.now()).await?;
    let details = json!({"client": row.client_id, "owner": format!("user:{}", row.user_id)});
    note(tx, author, ("grant_ended", &row), details).await?;
    Ok(true)
}

/// Writes that a user has let a client in.
pub(super) async fn note_made(tx: &Tx, row: &oauth_grant::Model) -> Result<()> {
    let scopes: Vec<_> = row.scopes.split(' ').collect();
    let details = json!({"client": row.client_id, "scopes": scopes});
    note(tx, &Author::user(row.user_id, ""), ("grant_created", row), details).await
}

async fn note(
    tx: &Tx,
    author: &Author,
    (action, row): (&'static str, &oauth_grant::Model),
    details: Value,
) -> Result<()> {
    let (target, workspace) = (format!("grant:{}", row.id), Some(row.workspace_id));
    let change = Change { action, target, workspace, details };
    audit_trail::write(tx.conn(), author, change, tx.now()).await
}

/// Ends the grants of a user in one workspace.
pub(crate) async fn end_in_workspace<C: ConnectionTrait>(
    conn: &C,
    workspace: WorkspaceId,
    person: UserId,
    now: Millis,
) -> Result<()> {
    let theirs = Column::UserId.eq(person).and(Column::WorkspaceId.eq(workspace));
    end_where(conn, theirs, now).await
}

/// Ends the grants of a client.
pub(super) async fn end_of_app<C: ConnectionTrait>(
    conn: &C,
    client_id: &str,
    now: Millis,
) -> Result<()> {
    end_where(conn, Column::ClientId.eq(client_id), now).await
}

async fn end_where<C: ConnectionTrait>(
    conn: &C,
    which: sea_orm::sea_query::SimpleExpr,
    now: Millis,
) -> Result<()> {
    oauth_grant::Entity::update_many()
        .col_expr(Column::EndedAt, Expr::value(now))
        .filter(which)
        .filter(Column::EndedAt.is_null())
        .exec(conn)
        .await?;
    Ok(())
}
