//! Reads a wallet under a lock, and writes its changes.

use fanfare_core::error::{Error, Result};
use fanfare_entities::{
    KeyId, Millis, UserId, WorkspaceId, credit_entry, credit_wallet, credit_wallet::Column,
};
use sea_orm::{
    ActiveEnum,
    ActiveValue::Set,
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect,
    sea_query::{Expr, OnConflict},
};

use super::wallet::Book;

/// Locks a user's wallet until the transaction ends; creates it if there is none.
pub(super) async fn lock(tx: &DatabaseTransaction, person: UserId, now: Millis) -> Result<Book> {
    let find = || credit_wallet::Entity::find_by_id(person).lock_exclusive().one(tx);
    if let Some(row) = find().await? {
        return Ok(Book::of(row));
    }
    let fresh = credit_wallet::ActiveModel {
        user_id: Set(person),
        included: Set(0),
        included_held: Set(0),
        allowance: Set(0),
        purchased: Set(0),
        held: Set(0),
        source: Set(None),
        period: Set(None),
        last_start: Set(0),
        period_end: Set(0),
        revision: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
    };
    let known = OnConflict::column(Column::UserId).do_nothing().to_owned();
    credit_wallet::Entity::insert(fresh).on_conflict(known).exec_without_returning(tx).await?;
    find().await?.map(Book::of).ok_or_else(|| Error::internal("a wallet that was made is gone"))
}

/// Returns a user's wallet as it was last written.
pub(super) async fn read<C: ConnectionTrait>(
    conn: &C,
    person: UserId,
) -> Result<Option<credit_wallet::Model>> {
    Ok(credit_wallet::Entity::find_by_id(person).one(conn).await?)
}

/// The facts that a ledger entry records besides its amount.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Note<'a> {
    /// The workspace of the operation.
    pub workspace: Option<WorkspaceId>,
    /// The operation that credits were reserved for.
    pub operation: Option<&'a str>,
    /// The period of a grant, or the payment of a pack.
    pub reference: Option<&'a str>,
    /// The key that the operation was asked for with.
    pub key: Option<KeyId>,
    /// The text by which the caller knows the operation.
    pub caller_reference: Option<&'a str>,
}

/// Writes a changed wallet with its ledger lines: the balances by one guarded statement, the lines by another.
/// Afterwards the book can be changed further.
pub(super) async fn write(
    tx: &DatabaseTransaction,
    book: &mut Book,
    note: Note<'_>,
    now: Millis,
) -> Result<()> {
    let wallet = &mut book.wallet;
    let changed = credit_wallet::Entity::update_many()
        .col_expr(Column::Included, Expr::value(wallet.included))
        .col_expr(Column::IncludedHeld, Expr::value(wallet.included_held))
        .col_expr(Column::Allowance, Expr::value(wallet.allowance))
        .col_expr(Column::Purchased, Expr::value(wallet.purchased))
        .col_expr(Column::Held, Expr::value(wallet.held))
        .col_expr(Column::Source, Expr::value(wallet.source.map(|source| source.to_value())))
        .col_expr(Column::Period, Expr::value(wallet.period.clone()))
        .col_expr(Column::LastStart, Expr::value(wallet.last_start))
        .col_expr(Column::PeriodEnd, Expr::value(wallet.period_end))
        .col_expr(Column::Revision, Expr::value(wallet.revision + 1))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::UserId.eq(wallet.user_id))
        .filter(Column::Revision.eq(wallet.revision));
    if changed.exec(tx).await?.rows_affected != 1 {
        return Err(Error::internal("a wallet was changed by somebody who had not locked it"));
    }
    wallet.revision += 1;
    let person = wallet.user_id;
    let rows: Vec<_> = book
        .lines
        .drain(..)
        .map(|line| credit_entry::ActiveModel {
            user_id: Set(person),
            kind: Set(line.kind),
            pool: Set(line.pool),
            amount: Set(line.amount),
            balance: Set(line.balance),
            workspace_id: Set(note.workspace),
            operation: Set(note.operation.map(str::to_owned)),
            reference: Set(note.reference.map(str::to_owned)),
            key_id: Set(note.key),
            caller_reference: Set(note.caller_reference.map(str::to_owned)),
            created_at: Set(now),
            ..Default::default()
        })
        .collect();
    if !rows.is_empty() {
        credit_entry::Entity::insert_many(rows).exec_without_returning(tx).await?;
    }
    Ok(())
}
