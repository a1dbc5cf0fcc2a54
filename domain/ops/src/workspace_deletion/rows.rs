//! Removes the rows of a workspace, table by table, a few rows in a transaction. A piece that was done is found done.

use std::collections::BTreeSet;

use fanfare_core::{Domain, db::statement, error::Result, idempotency::Owner};
use fanfare_entities::{UserId, WorkspaceId, api_key, membership, oauth_grant, post, workspace};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, DbBackend, EntityTrait, QueryFilter,
    QuerySelect,
};
use uuid::Uuid;

use super::{
    fates::{FATES, Fate, SECRETS},
    held::Held,
};

/// The most rows that one transaction removes or empties.
pub(super) const PIECE: u64 = 500;

/// The most rows of a table that are removed together with the rows that hang on them.
const PARENTS: u32 = 100;

/// The tables that are kept until the networks have revoked what they can.
const OF_ACCOUNTS: [&str; 2] = ["accounts", "brands"];

/// Removes the rows of all tables but the last ones; with `keeps_accounts` those of accounts stay, too. Returns the number
/// of removed and emptied rows.
///
/// # Errors
/// The database's; what was removed stays so.
pub(super) async fn remove_all(cx: &Domain, held: &mut Held, keeps_accounts: bool) -> Result<u64> {
    let mut gone = 0;
    for (table, fate) in FATES {
        match fate {
            Fate::OfWorkspace if keeps_accounts && OF_ACCOUNTS.contains(table) => {}
            Fate::OfWorkspace => gone += Box::pin(remove_table(cx, held, table)).await?,
            Fate::Sealed => {
                for secrets in SECRETS {
                    gone += drain(cx, held, table, &format!("id IN ({secrets})")).await?;
                }
            }
            Fate::Replies => gone += Box::pin(remove_replies(cx, held)).await?,
            Fate::Kept { rows, parent: None, set, unless_empty, .. } => {
                gone += empty(cx, held, table, (rows, set, unless_empty)).await?;
            }
            // Those go with their parents.
            Fate::Under { .. } | Fate::Kept { .. } | Fate::Last | Fate::OfNone(_) => {}
        }
    }
    Ok(gone)
}

/// Removes the rows of a table, a few at a time, each time after what hangs on them.
async fn remove_table(cx: &Domain, held: &mut Held, table: &str) -> Result<u64> {
    let mut gone = 0;
    if !has_children(table) {
        return drain(cx, held, table, "workspace_id = $1").await;
    }
    let few = format!("SELECT id FROM {table} WHERE workspace_id = $1 ORDER BY id LIMIT {PARENTS}");
    loop {
        for (child, fate) in FATES {
            match fate {
                Fate::Under { column, parent } if *parent == table => {
                    gone += drain(cx, held, child, &format!("{column} IN ({few})")).await?;
                }
                Fate::Kept { rows, parent: Some(parent), set, unless_empty, .. }
                    if *parent == table =>
                {
                    let rows = rows.replace("{parents}", &few);
                    gone += empty(cx, held, child, (&rows, set, unless_empty)).await?;
                }
                _ => {}
            }
        }
        let own = Box::pin(parents(cx, held, table, &few)).await?;
        gone += own;
        if own == 0 {
            return Ok(gone);
        }
    }
}

/// Removes a few rows of a table that others hang on, and removes or empties what was written under them since: nothing
/// would find it without them.
async fn parents(cx: &Domain, held: &mut Held, table: &str, few: &str) -> Result<u64> {
    let mut piece = held.begin(cx).await?;
    let (tx, workspace) = (&piece.tx, held.row.workspace_id);
    if cx.db.is_postgres() {
        // A transaction that writes under one of them holds it, and is waited for.
        let lock = statement(tx, format!("{few} FOR UPDATE"), [workspace.0.into()]);
        tx.query_all_raw(lock).await?;
    }
    for (child, fate) in FATES {
        match fate {
            Fate::Under { column, parent } if *parent == table => {
                let sql = format!("DELETE FROM {child} WHERE {column} IN ({few})");
                piece.receipt.add_removed(child, execute(tx, &sql, workspace).await?);
            }
            Fate::Kept { rows, parent: Some(parent), set, unless_empty, .. }
                if *parent == table =>
            {
                let rows = rows.replace("{parents}", few);
                let sql = format!("UPDATE {child} SET {set} WHERE {rows} AND {unless_empty}");
                piece.receipt.add_kept(child, execute(tx, &sql, workspace).await?);
            }
            _ => {}
        }
    }
    let sql = format!("DELETE FROM {table} WHERE id IN ({few})");
    let gone = execute(tx, &sql, workspace).await?;
    piece.receipt.add_removed(table, gone);
    held.finish(cx, piece).await?;
    cx.failpoint.reach("deletion_piece").await;
    Ok(gone)
}

fn has_children(table: &str) -> bool {
    FATES.iter().any(|(_, fate)| match fate {
        Fate::Under { parent, .. } | Fate::Kept { parent: Some(parent), .. } => *parent == table,
        _ => false,
    })
}

/// Removes the rows that match, until none is left.
async fn drain(cx: &Domain, held: &mut Held, table: &str, rows: &str) -> Result<u64> {
    let mut gone = 0;
    loop {
        let piece = piece(cx, held, table, rows).await?;
        gone += piece;
        if piece < PIECE {
            return Ok(gone);
        }
    }
}

/// Removes a few of the rows that match.
async fn piece(cx: &Domain, held: &mut Held, table: &str, rows: &str) -> Result<u64> {
    let some = some_of(cx, table, rows);
    let sql = format!("DELETE FROM {table} WHERE {some}");
    let mut piece = held.begin(cx).await?;
    let gone = execute(&piece.tx, &sql, held.row.workspace_id).await?;
    piece.receipt.add_removed(table, gone);
    held.finish(cx, piece).await?;
    cx.failpoint.reach("deletion_piece").await;
    Ok(gone)
}

/// Empties the rows that match and are not empty, until none is left.
async fn empty(
    cx: &Domain,
    held: &mut Held,
    table: &str,
    (rows, set, unless_empty): (&str, &str, &str),
) -> Result<u64> {
    let rows = rows.replace("{id}", &held.row.workspace_id.to_string());
    let some = some_of(cx, table, &format!("{rows} AND {unless_empty}"));
    let sql = format!("UPDATE {table} SET {set} WHERE {some}");
    let mut all = 0;
    loop {
        let mut piece = held.begin(cx).await?;
        let emptied = execute(&piece.tx, &sql, held.row.workspace_id).await?;
        piece.receipt.add_kept(table, emptied);
        held.finish(cx, piece).await?;
        all += emptied;
        if emptied < PIECE {
            return Ok(all);
        }
    }
}

/// Returns the condition for a few of the rows that match. Rows are named by their place in the table, since tables have
/// keys of many kinds.
fn some_of(cx: &Domain, table: &str, rows: &str) -> String {
    if cx.db.is_postgres() {
        format!("ctid = ANY(ARRAY(SELECT ctid FROM {table} WHERE {rows} LIMIT {PIECE}))")
    } else {
        format!("rowid IN (SELECT rowid FROM {table} WHERE {rows} LIMIT {PIECE})")
    }
}

/// Runs a statement, whose only parameter is the workspace, if it has one.
async fn execute<C: ConnectionTrait>(conn: &C, sql: &str, workspace: WorkspaceId) -> Result<u64> {
    let values = sql.contains("$1").then(|| workspace.0.into());
    Ok(conn.execute_raw(statement(conn, sql, values)).await?.rows_affected())
}

/// Removes the replies that are kept for requests of the people of a workspace that are repeated.
async fn remove_replies(cx: &Domain, held: &mut Held) -> Result<u64> {
    let mut gone = 0;
    for person in people(cx, held).await? {
        let owner = Owner::of(person, held.row.workspace_id).id();
        let id = match cx.db.backend() {
            DbBackend::Postgres => format!("'{owner}'"),
            _ => format!("X'{}'", owner.simple()),
        };
        let of_replies = format!("SELECT secret_id FROM idempotency_keys WHERE owner_id = {id}");
        gone += drain(cx, held, "secrets", &format!("id IN ({of_replies})")).await?;
        gone += drain(cx, held, "idempotency_keys", &format!("owner_id = {id}")).await?;
    }
    Ok(gone)
}

/// Returns the people who may have sent requests to the workspace.
async fn people(cx: &Domain, held: &Held) -> Result<BTreeSet<UserId>> {
    let (db, id) = (&cx.db.write, held.row.workspace_id);
    let members = membership::Entity::find()
        .select_only()
        .column(membership::Column::UserId)
        .filter(membership::Column::WorkspaceId.eq(id));
    let keys = api_key::Entity::find()
        .select_only()
        .column(api_key::Column::UserId)
        .filter(api_key::Column::WorkspaceId.eq(id));
    let grants = oauth_grant::Entity::find()
        .select_only()
        .column(oauth_grant::Column::UserId)
        .filter(oauth_grant::Column::WorkspaceId.eq(id));
    let authors = post::Entity::find()
        .select_only()
        .distinct()
        .column(post::Column::CreatedBy)
        .filter(post::Column::WorkspaceId.eq(id));
    let mut all: BTreeSet<UserId> = held.row.requested_by.into_iter().collect();
    all.extend(members.into_tuple::<UserId>().all(db).await?);
    all.extend(keys.into_tuple::<UserId>().all(db).await?);
    all.extend(grants.into_tuple::<UserId>().all(db).await?);
    all.extend(authors.into_tuple::<UserId>().all(db).await?);
    Ok(all)
}

/// Removes the workspace itself.
pub(super) async fn remove_workspace(
    tx: &DatabaseTransaction,
    id: WorkspaceId,
) -> Result<[(&'static str, u64); 2]> {
    let terms = "DELETE FROM subscriptions WHERE workspace_id = $1";
    let terms = execute(tx, terms, id).await?;
    let own = workspace::Entity::delete_by_id(id).exec(tx).await?;
    Ok([("subscriptions", terms), ("workspaces", own.rows_affected)])
}

/// Counts what a deletion would remove or empty, by table.
///
/// # Errors
/// The database's.
pub(super) async fn count(cx: &Domain, id: WorkspaceId) -> Result<Vec<(&'static str, u64)>> {
    let mut counts = Vec::new();
    for (table, fate) in FATES {
        let rows = match fate {
            Fate::OfWorkspace => "workspace_id = $1".to_owned(),
            Fate::Under { column, parent } => {
                format!("{column} IN (SELECT id FROM {parent} WHERE workspace_id = $1)")
            }
            Fate::Sealed => format!("id IN ({})", SECRETS.join(" UNION ALL ")),
            _ => continue,
        };
        let sql = format!("SELECT count(*) AS n FROM {table} WHERE {rows}");
        let conn = &cx.db.read;
        let row = conn.query_one_raw(statement(conn, sql, [id.0.into()])).await?;
        let n: i64 = row.map(|row| row.try_get("", "n")).transpose()?.unwrap_or_default();
        if n > 0 {
            counts.push((*table, n.unsigned_abs()));
        }
    }
    Ok(counts)
}

/// Returns the workspace with this id, or up to two with this name.
///
/// # Errors
/// The database's.
pub(super) async fn find(cx: &Domain, text: &str) -> Result<Vec<workspace::Model>> {
    let found = match text.parse::<Uuid>() {
        Ok(id) => workspace::Entity::find_by_id(WorkspaceId(id)).all(&cx.db.read).await?,
        Err(_) => {
            let named = workspace::Column::Name.eq(text);
            workspace::Entity::find().filter(named).limit(2).all(&cx.db.read).await?
        }
    };
    Ok(found)
}
