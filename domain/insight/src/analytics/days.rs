//! The days of an account: merges new readings with the known numbers.

use std::collections::BTreeMap;

use fanfare_core::error::Result;
use fanfare_entities::{AccountId, Millis, account_day};
use fanfare_platforms::analytics::DayMetrics;
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, sea_query::OnConflict,
};
use serde_json::json;

use super::{Metrics, parse_metrics};

/// Returns the known days of an account between two dates, inclusive, oldest first.
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

/// Writes the numbers of consecutive days.
pub(super) async fn write<C: ConnectionTrait>(
    conn: &C,
    account: AccountId,
    read_days: Vec<(DayMetrics, bool)>,
    now: Millis,
) -> Result<()> {
    let dates = read_days.iter().map(|(day, _)| day.date.to_string());
    let (Some(first), Some(last)) = (dates.clone().min(), dates.max()) else { return Ok(()) };
    let mut stored = read(conn, &[account], (&first, &last)).await?;
    let mut stored = stored.remove(&account).unwrap_or_default();
    let rows = read_days.into_iter().map(|(day, is_final)| {
        let before = stored.remove(&day.date.to_string());
        let fresh = day.numbers.iter().filter_map(|(name, number)| Some((*name, (*number).ok()?)));
        let (numbers, is_restated) = merge(
            before.as_ref().map(|row| parse_metrics(&row.numbers)).unwrap_or_default(),
            fresh,
        );
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

/// Merges new numbers into the known ones: a new number wins, even if it is lower, and a number that is missing now
/// stays. Returns also whether a known number changed.
pub(super) fn merge<'a>(
    mut before: Metrics,
    fresh: impl Iterator<Item = (&'a str, i64)>,
) -> (Metrics, bool) {
    let mut is_restated = false;
    for (name, number) in fresh {
        let old = before.insert(name.to_owned(), number);
        is_restated |= old.is_some_and(|old| old != number);
    }
    (before, is_restated)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const NAMES: [&str; 3] = ["reach", "views", "likes"];

    /// The next number below `end` that follows from a state.
    fn below(state: &mut u64, end: u64) -> u64 {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % end
    }

    /// Readings of overlapping stretches of days, late ones among them, as a network gives them: each newer than the one
    /// before; some numbers are not reported, and some readings come twice.
    fn readings(seed: u64) -> Vec<Vec<(u64, &'static str, i64)>> {
        let mut state = seed;
        let mut all = Vec::new();
        for _ in 0..12 {
            let first = below(&mut state, 10);
            let mut reading = Vec::new();
            for day in first..first + 1 + below(&mut state, 5) {
                for name in NAMES {
                    if below(&mut state, 4) > 0 {
                        let number = i64::try_from(below(&mut state, 6)).unwrap();
                        reading.push((day, name, number));
                    }
                }
            }
            for _ in 0..1 + below(&mut state, 2) {
                all.push(reading.clone());
            }
        }
        all
    }

    #[test]
    fn a_thousand_ways_of_restating_end_at_the_networks_numbers() {
        for seed in 0..1_000 {
            let mut days = BTreeMap::<u64, (Metrics, u32)>::new();
            let mut plain = BTreeMap::<(u64, &str), Vec<i64>>::new();
            for reading in readings(seed) {
                for day in 0..20 {
                    let of_day: Vec<_> = reading.iter().filter(|one| one.0 == day).collect();
                    if of_day.is_empty() {
                        continue;
                    }
                    let (known, revision) = days.remove(&day).unwrap_or_default();
                    let fresh = of_day.iter().map(|(_, name, number)| (*name, *number));
                    let (merged, is_restated) = merge(known, fresh);
                    days.insert(day, (merged, revision + u32::from(is_restated)));
                }
                for (day, name, number) in reading {
                    plain.entry((day, name)).or_default().push(number);
                }
            }
            let mut told = 0;
            for ((day, name), numbers) in &plain {
                let (known, revision) = &days[day];
                assert_eq!(known.get(*name), numbers.last(), "seed {seed}, day {day}, {name}");
                let restated = numbers.windows(2).filter(|pair| pair[0] != pair[1]).count();
                assert!(*revision as usize >= restated, "seed {seed}, day {day}, {name}");
                told += 1;
            }
            let known: usize = days.values().map(|(known, _)| known.len()).sum();
            assert_eq!(known, told, "seed {seed}: nothing is known that was not told");
        }
    }
}
