//! The days of an account: merging what was read with what is known.

use std::collections::BTreeMap;

use fanfare_entities::{AccountId, Millis, account_day};
use fanfare_platforms::analytics::DayNumbers;
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, sea_query::OnConflict,
};
use serde_json::json;

use super::{Known, known};
use crate::error::Result;

/// Returns the known days of an account between two dates, both included, oldest first.
pub(super) async fn read<C: ConnectionTrait>(
    conn: &C,
    accounts: &[AccountId],
    (from, to): (&str, &str),
) -> Result<BTreeMap<AccountId, BTreeMap<String, account_day::Model>>> {
    let rows = account_day::Entity::find()
        .filter(account_day::Column::AccountId.is_in(accounts.iter().copied()))
        .filter(account_day::Column::Day.between(from, to))
        .order_by_asc(account_day::Column::Day)
        .all(conn)
        .await?;
    let mut days = BTreeMap::<_, BTreeMap<_, _>>::new();
    for row in rows {
        days.entry(row.account_id).or_default().insert(row.day.clone(), row);
    }
    Ok(days)
}

/// Writes what was read of some days, which follow one another.
pub(super) async fn write<C: ConnectionTrait>(
    conn: &C,
    account: AccountId,
    read_days: Vec<(DayNumbers, bool)>,
    now: Millis,
) -> Result<()> {
    let dates = read_days.iter().map(|(day, _)| day.date.to_string());
    let (Some(first), Some(last)) = (dates.clone().min(), dates.max()) else { return Ok(()) };
    let mut stored = read(conn, &[account], (&first, &last)).await?;
    let mut stored = stored.remove(&account).unwrap_or_default();
    let rows = read_days.into_iter().map(|(day, is_final)| {
        let before = stored.remove(&day.date.to_string());
        let fresh = day.numbers.iter().filter_map(|(name, number)| Some((*name, (*number).ok()?)));
        let (numbers, is_restated) =
            merge(before.as_ref().map(|row| known(&row.numbers)).unwrap_or_default(), fresh);
        let revision = before.map_or(0, |row| row.revision) + i32::from(is_restated);
        let model = account_day::Model {
            account_id: account,
            day: day.date.to_string(),
            numbers: json!(numbers),
            is_final,
            revision,
            read_at: now,
        };
        account_day::ActiveModel::from(model)
    });
    use account_day::Column::{AccountId as Account, Day, IsFinal, Numbers, ReadAt, Revision};
    let again = OnConflict::columns([Account, Day])
        .update_columns([Numbers, IsFinal, Revision, ReadAt])
        .to_owned();
    account_day::Entity::insert_many(rows.collect::<Vec<_>>())
        .on_conflict(again)
        .exec_without_returning(conn)
        .await?;
    Ok(())
}

/// Puts fresh numbers in the place of known ones: a later lower one stands, and what is not known any more stays. Returns
/// also whether a known number changed.
pub(super) fn merge<'a>(
    mut before: Known,
    fresh: impl Iterator<Item = (&'a str, i64)>,
) -> (Known, bool) {
    let mut is_restated = false;
    for (name, number) in fresh {
        let old = before.insert(name.to_owned(), number);
        is_restated |= old.is_some_and(|old| old != number);
    }
    (before, is_restated)
}
