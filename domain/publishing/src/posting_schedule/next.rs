//! The next free slots of accounts: times of their grids at which nothing is planned.

use std::collections::HashSet;

use chrono::{DateTime, Datelike, Days, LocalResult, NaiveDate, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;
use fanfare_core::{
    Act, Domain, Reply,
    clock::Time,
    error::{Code, Error, Result, excerpt, out_of_range},
    input,
};
use fanfare_entities::{AccountId, Millis, account, post, post::PostStatus};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::grid::{Grid, load_grid};
use crate::accounts;

/// The number of days ahead in which a free slot is searched.
const HORIZON_DAYS: u64 = 366;

const MINUTE: Millis = 60_000;

/// The most accounts whose slots are searched.
const MAX_ACCOUNTS: usize = 50;

/// A request for the next free slots.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NextSlotQuery {
    /// The account.
    #[serde(default)]
    #[schemars(schema_with = "fanfare_core::input::optional_id_schema")]
    pub account_id: Option<Value>,
    /// Several accounts, with commas between them; without these and `account_id`, all accounts of the workspace.
    #[serde(default)]
    #[schemars(length(max = 1_000))]
    pub account_ids: Option<String>,
    /// The number of slots to list: 1 to 10, 5 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10))]
    pub count: Option<i64>,
    /// Only slots after this time; after now if left out.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub after: Option<String>,
    /// Read the grid in this zone, an IANA name, instead of its own.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub timezone: Option<String>,
    /// The workspace, for a key without one. The account must be in it.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// The next free slot of an account.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NextSlot {
    /// Null if there is none.
    slot: Option<FreeSlot>,
    /// The next free slots of all accounts asked for, earliest first.
    slots: Vec<ListedSlot>,
    /// The reason why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// A slot at which nothing is planned.
#[derive(Debug, Serialize, JsonSchema)]
struct FreeSlot {
    scheduled_at: Time,
    /// The same in the grid's zone, with its offset.
    #[schemars(extend("format" = "date-time"))]
    local_time: String,
    /// The IANA zone of `local_time`.
    timezone: &'static str,
    /// The reason for this slot.
    reason: String,
}

/// A free slot of an account.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedSlot {
    account_id: AccountId,
    /// The same as `scheduled_at`.
    time: Time,
    scheduled_at: Time,
    /// The same in the grid's zone, with its offset.
    #[schemars(extend("format" = "date-time"))]
    local_time: String,
    /// The IANA zone of `local_time`.
    timezone: &'static str,
}

impl ListedSlot {
    fn of(account_id: AccountId, slot: &DateTime<Tz>) -> Self {
        let time = Time(slot.timestamp_millis());
        let local_time = slot.format("%Y-%m-%dT%H:%M:%S%:z").to_string();
        let timezone = slot.timezone().name();
        Self { account_id, time, scheduled_at: time, local_time, timezone }
    }
}

/// Returns the next free slots of accounts.
///
/// # Errors
/// [`Code::AccountNotFound`], or an invalid time, zone or count.
pub async fn next_slots(act: &Act, query: NextSlotQuery) -> Result<Reply<NextSlot>> {
    let count = count(query.count)?;
    let zone = query.timezone.as_deref().map(input::zone).transpose()?;
    let now = act.cx.clock.now();
    let after = query.after.as_deref();
    let after = after.map(|text| input::time("after", text, query.timezone.as_deref()));
    let after = after.transpose()?.map_or(now, |after| after.max(now));
    let (mut free, mut described) = (Vec::new(), String::new());
    for row in requested_accounts(act, &query).await? {
        let mut grid = load_grid(&act.cx, &row).await?;
        grid.zone = zone.unwrap_or(grid.zone);
        let taken = planned_minutes(&act.cx, row.id, after).await?;
        let is_free = |slot: &DateTime<Tz>| !taken.contains(&(slot.timestamp_millis() / MINUTE));
        let own = slots(&grid, after).filter(is_free).take(count);
        free.extend(own.map(|slot| (row.id, slot)));
        let times: Vec<_> =
            grid.times.iter().map(|time| time.format("%H:%M").to_string()).collect();
        described = format!("{} {}", times.join(", "), grid.zone.name());
    }
    free.sort_by_key(|(id, slot)| (slot.timestamp_millis(), id.0));
    free.truncate(count);
    let slot = free.first().map(|(_, slot)| FreeSlot {
        scheduled_at: Time(slot.timestamp_millis()),
        local_time: slot.format("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        timezone: slot.timezone().name(),
        reason: format!(
            "The first of the account's slots ({described}) at which nothing is planned."
        ),
    });
    let none = || format!("Every slot of the account ({described}) is taken for a year.");
    let reason = slot.is_none().then(none);
    let slots = free.iter().map(|(id, slot)| ListedSlot::of(*id, slot)).collect();
    Ok(Reply::ok(&NextSlot { slot, slots, reason }))
}

fn count(asked: Option<i64>) -> Result<usize> {
    match asked {
        None => Ok(5),
        Some(count @ 1..=10) => Ok(usize::try_from(count).unwrap_or(5)),
        Some(other) => Err(Error::violation(out_of_range("count", other, &(1..=10)))),
    }
}

/// Returns the accounts whose slots are requested.
async fn requested_accounts(act: &Act, query: &NextSlotQuery) -> Result<Vec<account::Model>> {
    let texts: Vec<String> = match (&query.account_id, &query.account_ids) {
        (None | Some(Value::Null), None) => {
            let mut all = accounts::all(act).await?;
            all.truncate(MAX_ACCOUNTS);
            return Ok(all);
        }
        (Some(Value::String(id)), _) => vec![id.clone()],
        (Some(id), _) if !id.is_null() => vec![id.to_string()],
        (_, several) => {
            let several = several.as_deref().unwrap_or_default().split(',');
            several.map(|id| id.trim().to_owned()).take(MAX_ACCOUNTS).collect()
        }
    };
    let mut rows = Vec::with_capacity(texts.len());
    for text in texts {
        let id = text.parse().map_err(|_| {
            let message = format!("{:?} is not the id of an account.", excerpt(&text));
            let remedy = "Send whole numbers; GET /api/v1/accounts lists them.";
            let field = if query.account_ids.is_some() { "account_ids" } else { "account_id" };
            Error::field(Code::InvalidField, field, message, remedy)
        })?;
        rows.push(accounts::find(act, AccountId(id)).await?);
    }
    Ok(rows)
}

/// Returns the minutes at which the account has a post planned.
async fn planned_minutes(cx: &Domain, id: AccountId, after: Millis) -> Result<HashSet<Millis>> {
    use PostStatus::{Draft, Paused, Processing, Published, Publishing, Scheduled};
    let planned = [Draft, Scheduled, Paused, Publishing, Processing, Published];
    let times: Vec<Option<Millis>> = post::Entity::find()
        .select_only()
        .column(post::Column::ScheduledAt)
        .filter(post::Column::AccountId.eq(id))
        .filter(post::Column::ScheduledAt.gte(after - after % MINUTE))
        .filter(post::Column::Status.is_in(planned))
        .into_tuple()
        .all(&cx.db.read)
        .await?;
    Ok(times.into_iter().flatten().map(|time| time / MINUTE).collect())
}

/// Returns the slots of a grid after a time, up to the horizon. A time of day that a change of clocks skips is left
/// out; of one that it repeats, the first is taken.
fn slots(grid: &Grid, after: Millis) -> impl Iterator<Item = DateTime<Tz>> {
    let begin: DateTime<Utc> = fanfare_core::clock::date(after);
    let first: NaiveDate = begin.with_timezone(&grid.zone).date_naive();
    let days = (0..=HORIZON_DAYS).filter_map(move |ahead| first.checked_add_days(Days::new(ahead)));
    let days = days.filter(|day| grid.days.contains(&day.weekday()));
    let at = |day: NaiveDate, time: NaiveTime| match grid
        .zone
        .from_local_datetime(&day.and_time(time))
    {
        LocalResult::Single(slot) | LocalResult::Ambiguous(slot, _) => Some(slot),
        LocalResult::None => None,
    };
    days.flat_map(move |day| grid.times.iter().filter_map(move |time| at(day, *time)))
        .filter(move |slot| slot.timestamp_millis() > after)
}

#[cfg(test)]
mod tests {
    use chrono::Weekday;

    use super::{
        super::grid::{NewGrid, check, parse_time},
        *,
    };

    fn grid(times: &[&str], days: &[Weekday], zone: Tz) -> Grid {
        let times = times.iter().filter_map(|time| parse_time(time)).collect();
        Grid { times, days: days.to_vec(), zone, is_default: false }
    }

    fn after(text: &str) -> Millis {
        DateTime::parse_from_rfc3339(text).unwrap().timestamp_millis()
    }

    fn first(grid: &Grid, from: &str, count: usize) -> Vec<String> {
        slots(grid, after(from)).take(count).map(|slot| slot.to_rfc3339()).collect()
    }

    const ALL: [Weekday; 7] = [
        Weekday::Mon,
        Weekday::Tue,
        Weekday::Wed,
        Weekday::Thu,
        Weekday::Fri,
        Weekday::Sat,
        Weekday::Sun,
    ];

    #[test]
    fn a_slot_is_later_than_asked_for() {
        let grid = grid(&["09:00", "17:00"], &ALL, Tz::UTC);
        let found = first(&grid, "2026-05-04T09:00:00Z", 2);
        assert_eq!(found, ["2026-05-04T17:00:00+00:00", "2026-05-05T09:00:00+00:00"]);
    }

    #[test]
    fn a_grid_keeps_to_its_weekdays() {
        let grid = grid(&["09:00"], &[Weekday::Mon], Tz::Europe__Berlin);
        let found = first(&grid, "2026-05-05T00:00:00Z", 2);
        assert_eq!(found, ["2026-05-11T09:00:00+02:00", "2026-05-18T09:00:00+02:00"]);
    }

    #[test]
    fn clocks_that_change_skip_and_repeat() {
        let grid = grid(&["02:30"], &ALL, Tz::Europe__Berlin);
        let spring = first(&grid, "2026-03-28T12:00:00Z", 1);
        assert_eq!(spring, ["2026-03-30T02:30:00+02:00"], "02:30 of the 29th does not exist");
        let autumn = first(&grid, "2026-10-24T12:00:00Z", 2);
        assert_eq!(autumn, ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]);
    }

    #[test]
    fn what_is_wrong_with_a_grid_is_told_all_at_once() {
        let new = |times: &[&str], days: Option<&[&str]>, timezone: Option<&str>| {
            let texts = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
            check(&NewGrid {
                times: texts(times),
                days: days.map(texts),
                timezone: timezone.map(str::to_owned),
            })
        };
        let error = new(&["9:00", "25:00"], Some(&["caturday"]), Some("Mars/Base")).unwrap_err();
        let fields: Vec<_> = error.violations().iter().map(|one| one.field.as_str()).collect();
        assert_eq!(fields, ["times[0]", "times[1]", "days[0]", "timezone"]);
        assert!(new(&[], None, None).is_err() && new(&["09:00"], Some(&[]), None).is_err());
        let (times, days) =
            new(&["17:00", "09:00", "09:00"], Some(&["Sunday", "monday"]), None).unwrap();
        assert_eq!(
            (times, days),
            (vec!["09:00".to_owned(), "17:00".to_owned()], vec!["monday", "sunday"])
        );
    }
}
