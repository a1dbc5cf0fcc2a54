//! The time at which an account likes to post: a grid of times of day, and the next of them that is free.

use std::collections::HashSet;

use chrono::{DateTime, Datelike, Days, LocalResult, NaiveDate, NaiveTime, TimeZone, Utc, Weekday};
use chrono_tz::Tz;
use fanfare_entities::{AccountId, Millis, account, post, post::PostStatus, slot_grid, workspace};
use schemars::JsonSchema;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QuerySelect, sea_query::OnConflict,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    Act, Domain, Reply, Unreadable, accounts,
    clock::Time,
    error::{Code, Error, Result, Violations, excerpt, violation},
    input,
};

/// The times of an account that nobody has set any for.
const USUAL: [&str; 3] = ["09:00", "12:00", "17:00"];

/// Most times of a day.
const MOST: usize = 48;

/// The days ahead in which a free slot is looked for.
const HORIZON: u64 = 366;

const MINUTE: Millis = 60_000;

/// The most accounts whose slots are looked at.
const ACCOUNTS: usize = 50;

const DAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Mon),
    ("tuesday", Weekday::Tue),
    ("wednesday", Weekday::Wed),
    ("thursday", Weekday::Thu),
    ("friday", Weekday::Fri),
    ("saturday", Weekday::Sat),
    ("sunday", Weekday::Sun),
];

/// A new grid, in place of the one before.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGrid {
    /// 1 to 48 times of day, `HH:MM`.
    #[schemars(inner(length(max = 50)))]
    pub times: Vec<String>,
    /// The weekdays they are for, such as `monday`; all if left out.
    #[serde(default)]
    #[schemars(inner(length(max = 50)))]
    pub days: Option<Vec<String>>,
    /// The zone they are in, an IANA name; the workspace's if left out.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub timezone: Option<String>,
}

/// The slot that is asked for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NextQuery {
    /// The account.
    #[serde(default)]
    #[schemars(schema_with = "crate::input::maybe_id_schema")]
    pub account_id: Option<Value>,
    /// Several accounts, with commas between them; without these and `account_id`, all accounts of the workspace.
    #[serde(default)]
    #[schemars(length(max = 1_000))]
    pub account_ids: Option<String>,
    /// The number of slots to list: 1 to 10, 5 if left out.
    #[serde(default)]
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

/// Times of day, on some weekdays, in a zone.
struct Grid {
    times: Vec<NaiveTime>,
    days: Vec<Weekday>,
    zone: Tz,
    is_usual: bool,
}

/// The grid of an account.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn show_grid(act: &Act, id: AccountId) -> Result<Reply<OneGrid>> {
    let row = accounts::find(act, id).await?;
    let grid = grid(&act.cx, &row).await?;
    Ok(Reply::ok(&OneGrid { slots: Slots::of(id, &grid) }))
}

/// Sets the grid of an account.
///
/// # Errors
/// [`Code::AccountNotFound`], or everything that is wrong with the grid.
pub async fn set_grid(act: &Act, id: AccountId, new: NewGrid) -> Result<Reply<OneGrid>> {
    let row = accounts::find(act, id).await?;
    let (times, days) = check(&new)?;
    let zone = new.timezone.clone();
    let stored = slot_grid::ActiveModel {
        account_id: Set(id),
        times: Set(json!(times)),
        days: Set(json!(days)),
        timezone: Set(zone),
        updated_at: Set(act.cx.clock.now()),
    };
    let tx = act.begin().await?;
    let again = OnConflict::column(slot_grid::Column::AccountId)
        .update_columns([
            slot_grid::Column::Times,
            slot_grid::Column::Days,
            slot_grid::Column::Timezone,
            slot_grid::Column::UpdatedAt,
        ])
        .to_owned();
    slot_grid::Entity::insert(stored).on_conflict(again).exec_without_returning(tx.conn()).await?;
    let home = home_zone(&act.cx, &row).await?;
    let grid = Grid {
        times: times.iter().filter_map(|time| clock(time)).collect(),
        days: days.iter().filter_map(|day| weekday(day)).collect(),
        zone: new.timezone.as_deref().map_or(Ok(home), input::zone)?,
        is_usual: false,
    };
    act.finish(tx, Reply::ok(&OneGrid { slots: Slots::of(id, &grid) })).await
}

/// Times and days in order, each once; or all that is wrong.
fn check(new: &NewGrid) -> Result<(Vec<String>, Vec<&'static str>)> {
    let mut broken = Violations::default();
    let wrong = |field: String, message: String, remedy: &str| {
        violation(Code::InvalidField, field, message, remedy)
    };
    if !(1..=MOST).contains(&new.times.len()) {
        let message = format!("There are {} times; there may be 1 to {MOST}.", new.times.len());
        broken.push(wrong("times".into(), message, "Send 1 to 48 times of day."));
    }
    for (place, time) in new.times.iter().enumerate().filter(|(_, time)| clock(time).is_none()) {
        broken.note(|| {
            let message = format!("{time:?} is not a time of day.");
            wrong(format!("times[{place}]"), message, "Send HH:MM, for example 09:00.")
        });
    }
    let names: Vec<String> = match &new.days {
        Some(days) => days.iter().map(|day| day.to_lowercase()).collect(),
        None => DAYS.map(|(name, _)| name.to_owned()).to_vec(),
    };
    if names.is_empty() {
        let message = "There are no weekdays.".to_owned();
        broken.push(wrong("days".into(), message, "Name a weekday, or leave days out."));
    }
    for (place, day) in names.iter().enumerate().filter(|(_, day)| weekday(day).is_none()) {
        broken.note(|| {
            let message = format!("{day:?} is not a weekday.");
            wrong(format!("days[{place}]"), message, "Send monday to sunday.")
        });
    }
    Error::joined(broken, new.timezone.as_deref().map(input::zone).transpose())?;
    let mut times: Vec<_> = new.times.iter().map(|time| time.trim().to_owned()).collect();
    times.sort();
    times.dedup();
    let days = DAYS.map(|(name, _)| name);
    Ok((times, days.into_iter().filter(|name| names.iter().any(|day| day == name)).collect()))
}

fn clock(text: &str) -> Option<NaiveTime> {
    let text = text.trim();
    NaiveTime::parse_from_str(text, "%H:%M").ok().filter(|_| text.len() == 5)
}

fn weekday(name: &str) -> Option<Weekday> {
    DAYS.iter().find(|(known, _)| *known == name).map(|(_, day)| *day)
}

/// Returns the zone of an account's workspace.
pub(crate) async fn home_zone(cx: &Domain, row: &account::Model) -> Result<Tz> {
    let home = workspace::Entity::find_by_id(row.workspace_id).one(&cx.db.read).await?;
    Ok(home.and_then(|home| home.timezone.parse().ok()).unwrap_or(Tz::UTC))
}

/// Returns the zone of an account's slots.
pub(crate) async fn zone_of(cx: &Domain, row: &account::Model) -> Result<Tz> {
    Ok(grid(cx, row).await?.zone)
}

async fn grid(cx: &Domain, row: &account::Model) -> Result<Grid> {
    let home = home_zone(cx, row).await?;
    let stored = slot_grid::Entity::find_by_id(row.id).one(&cx.db.read).await?;
    let Some(stored) = stored else {
        let times = USUAL.iter().filter_map(|time| clock(time)).collect();
        return Ok(Grid {
            times,
            days: DAYS.map(|(_, day)| day).to_vec(),
            zone: home,
            is_usual: true,
        });
    };
    Ok(Grid {
        times: each(stored.times, clock).ok_or(Unreadable("slot times"))?,
        days: each(stored.days, weekday).ok_or(Unreadable("slot days"))?,
        zone: stored.timezone.and_then(|zone| zone.parse().ok()).unwrap_or(home),
        is_usual: false,
    })
}

/// Reads each text of a stored list; `None` if one is not what it should be.
fn each<T>(stored: Value, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let texts: Vec<String> = serde_json::from_value(stored).ok()?;
    texts.iter().map(|text| read(text)).collect()
}

/// The time at which an account posts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Slots {
    account_id: AccountId,
    /// Times of day, `HH:MM`.
    times: Vec<String>,
    /// The weekdays they are for, such as `monday`.
    days: Vec<&'static str>,
    /// The IANA zone they are in.
    timezone: &'static str,
    /// True while nobody has set any.
    default: bool,
}

/// An account's slots.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneGrid {
    slots: Slots,
}

/// The next free slot of an account.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NextSlot {
    /// Null if there is none.
    slot: Option<FreeSlot>,
    /// The next free slots of all accounts asked for, earliest first.
    slots: Vec<ListedSlot>,
    /// The reason there is none.
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
    /// The reason for this one.
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

impl Slots {
    fn of(id: AccountId, grid: &Grid) -> Self {
        let days = DAYS.iter().filter(|(_, day)| grid.days.contains(day));
        Self {
            account_id: id,
            times: grid.times.iter().map(|time| time.format("%H:%M").to_string()).collect(),
            days: days.map(|(name, _)| *name).collect(),
            timezone: grid.zone.name(),
            default: grid.is_usual,
        }
    }
}

/// The next slots of accounts' grids at which nothing is planned.
///
/// # Errors
/// [`Code::AccountNotFound`], or a time, zone or count that is none.
pub async fn next(act: &Act, query: NextQuery) -> Result<Reply<NextSlot>> {
    let count = count(query.count)?;
    let zone = query.timezone.as_deref().map(input::zone).transpose()?;
    let now = act.cx.clock.now();
    let after = query.after.as_deref();
    let after = after.map(|text| input::time("after", text, query.timezone.as_deref()));
    let after = after.transpose()?.map_or(now, |after| after.max(now));
    let (mut free, mut described) = (Vec::new(), String::new());
    for row in asked(act, &query).await? {
        let mut grid = grid(&act.cx, &row).await?;
        grid.zone = zone.unwrap_or(grid.zone);
        let taken = taken(&act.cx, row.id, after).await?;
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
        Some(other) => {
            let message = format!("count is {other}; it may be 1 to 10.");
            let remedy = "Send a number from 1 to 10.";
            Err(Error::field(Code::InvalidField, "count", message, remedy))
        }
    }
}

/// The accounts whose slots are asked for.
async fn asked(act: &Act, query: &NextQuery) -> Result<Vec<account::Model>> {
    let texts: Vec<String> = match (&query.account_id, &query.account_ids) {
        (None | Some(Value::Null), None) => {
            let mut all = accounts::all(act).await?;
            all.truncate(ACCOUNTS);
            return Ok(all);
        }
        (Some(Value::String(id)), _) => vec![id.clone()],
        (Some(id), _) if !id.is_null() => vec![id.to_string()],
        (_, several) => {
            let several = several.as_deref().unwrap_or_default().split(',');
            several.map(|id| id.trim().to_owned()).take(ACCOUNTS).collect()
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

/// The minutes at which the account has something planned.
async fn taken(cx: &Domain, id: AccountId, after: Millis) -> Result<HashSet<Millis>> {
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

/// The slots of a grid after a time, as far as one looks. A time of day that a change of clocks skips is none; one that
/// it repeats is the first of the two.
fn slots(grid: &Grid, after: Millis) -> impl Iterator<Item = DateTime<Tz>> {
    let begin: DateTime<Utc> = crate::clock::date(after);
    let first: NaiveDate = begin.with_timezone(&grid.zone).date_naive();
    let days = (0..=HORIZON).filter_map(move |ahead| first.checked_add_days(Days::new(ahead)));
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
    use super::*;

    fn grid(times: &[&str], days: &[Weekday], zone: Tz) -> Grid {
        let times = times.iter().filter_map(|time| clock(time)).collect();
        Grid { times, days: days.to_vec(), zone, is_usual: false }
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
