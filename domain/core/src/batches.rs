//! Changes of any number of rows, in short transactions: on SQLite everybody who writes waits for the one that runs, and
//! on PostgreSQL a long one holds its locks to the end.

use fanfare_entities::{SecretId, secret};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DeleteResult, EntityTrait, Iterable,
    PrimaryKeyToColumn, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select, UpdateMany,
    sea_query::{Expr, ExprTrait, IntoCondition, SelectStatement},
};

use crate::{Domain, error::Result};

/// The most rows that one transaction deletes or changes.
pub const BATCH: u64 = 500;

/// Repeats a transaction over at most [`BATCH`] rows until it finds fewer. Returns the number of all rows.
///
/// # Errors
/// The transaction's; what the earlier ones did stays.
pub async fn repeat<F: Future<Output = Result<u64>>>(batch: impl Fn() -> F) -> Result<u64> {
    let mut all = 0;
    loop {
        let rows = batch().await?;
        all += rows;
        if rows < BATCH {
            return Ok(all);
        }
    }
}

/// Deletes the rows that match, in the order of a column that an index has with the condition. Returns their number.
///
/// # Errors
/// The database's; what was deleted before stays so.
pub async fn delete<E: EntityTrait>(
    cx: &Domain,
    order: impl ColumnTrait,
    condition: impl IntoCondition,
) -> Result<u64> {
    let condition = condition.into_condition();
    repeat(|| async {
        let gone: DeleteResult =
            E::delete_many().filter(in_batch::<E>(order, &condition)).exec(&cx.db.write).await?;
        Ok(gone.rows_affected)
    })
    .await
}

/// Changes the rows that match, as [`delete`] deletes them; afterwards they match no more. Returns their number.
///
/// # Errors
/// The database's; what was changed before stays so.
pub async fn update<E: EntityTrait>(
    cx: &Domain,
    order: impl ColumnTrait,
    condition: impl IntoCondition,
    change: impl Fn() -> UpdateMany<E>,
) -> Result<u64> {
    let condition = condition.into_condition();
    repeat(|| async {
        let some = change().filter(in_batch::<E>(order, &condition));
        Ok(some.exec(&cx.db.write).await?.rows_affected)
    })
    .await
}

/// Deletes secrets together with the rows that hold them.
///
/// # Errors
/// The database's.
pub async fn delete_secrets<C: ConnectionTrait>(conn: &C, ids: Vec<SecretId>) -> Result<()> {
    let of_rows = secret::Column::Id.is_in(ids);
    secret::Entity::delete_many().filter(of_rows).exec(conn).await?;
    Ok(())
}

/// Selects the first rows that match, at most [`BATCH`].
pub fn first<E: EntityTrait>(order: impl ColumnTrait, condition: &Condition) -> Select<E> {
    E::find().filter(condition.clone()).order_by_asc(order).limit(BATCH)
}

/// Returns the condition for the first rows that match: their primary keys. On PostgreSQL a row may have changed since
/// it was selected, so the condition is asked again.
fn in_batch<E: EntityTrait>(order: impl ColumnTrait, condition: &Condition) -> Condition {
    let keys: Vec<_> = E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column).collect();
    let some: SelectStatement =
        first::<E>(order, condition).select_only().columns(keys.iter().copied()).into_query();
    let key = match keys.as_slice() {
        [key] => Expr::col(*key),
        keys => Expr::tuple(keys.iter().map(|key| Expr::col(*key))),
    };
    Condition::all().add(condition.clone()).add(key.in_subquery(some))
}
