//! The grid of an account: the times of day at which it posts.

use std::borrow::Cow;

use chrono::{NaiveTime, Weekday};
use chrono_tz::Tz;
use fanfare_core::{
    Act, Domain, Reply, UnreadableColumn,
    error::{Code, Error, Result, Violations, violation},
    input,
};
use fanfare_entities::{AccountId, account, slot_grid, workspace};
use schemars::JsonSchema;
use sea_orm::{ActiveValue::Set, EntityTrait, sea_query::OnConflict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::accounts;

/// The times of an account without a grid of its own.
const DEFAULT_TIMES: [&str; 3] = ["09:00", "12:00", "17:00"];

/// The most times of a day.
const MAX_TIMES: usize = 48;

const DAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Mon),
    ("tuesday", Weekday::Tue),
    ("wednesday", Weekday::Wed),
    ("thursday", Weekday::Thu),
    ("friday", Weekday::Fri),
    ("saturday", Weekday::Sat),
    ("sunday", Weekday::Sun),
];

/// A new grid, which replaces the old one.
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

/// Times of day, on some weekdays, in a zone.
pub(super) struct Grid {
    pub times: Vec<NaiveTime>,
    pub days: Vec<Weekday>,
    pub zone: Tz,
    pub is_default: bool,
}

/// Returns the reply with the grid of an account.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn show_grid(act: &Act, id: AccountId) -> Result<Reply<OneGrid>> {
    let row = accounts::find(act, id).await?;
    let grid = load_grid(&act.cx, &row).await?;
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
        times: times.iter().filter_map(|time| parse_time(time)).collect(),
        days: days.iter().filter_map(|day| weekday(day)).collect(),
        zone: new.timezone.as_deref().map_or(Ok(home), input::zone)?,
        is_default: false,
    };
    act.finish(tx, Reply::ok(&OneGrid { slots: Slots::of(id, &grid) })).await
}

/// Returns the times and the days in order, each once.
pub(super) fn check(new: &NewGrid) -> Result<(Vec<String>, Vec<&'static str>)> {
    let mut broken = Violations::default();
    let wrong = |field: String, message: String, remedy: &str| {
        violation(Code::InvalidField, field, message, remedy)
    };
    if !(1..=MAX_TIMES).contains(&new.times.len()) {
        let message =
            format!("There are {} times; there may be 1 to {MAX_TIMES}.", new.times.len());
        broken.push(wrong("times".into(), message, "Send 1 to 48 times of day."));
    }
    for (place, time) in new.times.iter().enumerate().filter(|(_, time)| parse_time(time).is_none())
    {
        broken.push_with(|| {
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
        broken.push_with(|| {
            let message = format!("{day:?} is not a weekday.");
            wrong(format!("days[{place}]"), message, "Send monday to sunday.")
        });
    }
    Error::merge(broken, new.timezone.as_deref().map(input::zone).transpose())?;
    let mut times: Vec<_> = new.times.iter().map(|time| time.trim().to_owned()).collect();
    times.sort();
    times.dedup();
    let days = DAYS.map(|(name, _)| name);
    Ok((times, days.into_iter().filter(|name| names.iter().any(|day| day == name)).collect()))
}

pub(super) fn parse_time(text: &str) -> Option<NaiveTime> {
    let text = text.trim();
    NaiveTime::parse_from_str(text, "%H:%M").ok().filter(|_| text.len() == 5)
}

fn weekday(name: &str) -> Option<Weekday> {
    DAYS.iter().find(|(known, _)| *known == name).map(|(_, day)| *day)
}

/// Returns the zone of an account's workspace.
pub async fn home_zone(cx: &Domain, row: &account::Model) -> Result<Tz> {
    let home = workspace::Entity::find_by_id(row.workspace_id).one(&cx.db.read).await?;
    Ok(home.and_then(|home| home.timezone.parse().ok()).unwrap_or(Tz::UTC))
}

/// Returns the zone of an account's slots.
pub async fn zone_of(cx: &Domain, row: &account::Model) -> Result<Tz> {
    Ok(load_grid(cx, row).await?.zone)
}

pub(super) async fn load_grid(cx: &Domain, row: &account::Model) -> Result<Grid> {
    let home = home_zone(cx, row).await?;
    let stored = slot_grid::Entity::find_by_id(row.id).one(&cx.db.read).await?;
    let Some(stored) = stored else {
        let times = DEFAULT_TIMES.iter().filter_map(|time| parse_time(time)).collect();
        return Ok(Grid {
            times,
            days: DAYS.map(|(_, day)| day).to_vec(),
            zone: home,
            is_default: true,
        });
    };
    Ok(Grid {
        times: parse_all(stored.times, parse_time).ok_or(UnreadableColumn("slot times"))?,
        days: parse_all(stored.days, weekday).ok_or(UnreadableColumn("slot days"))?,
        zone: stored.timezone.and_then(|zone| zone.parse().ok()).unwrap_or(home),
        is_default: false,
    })
}

/// Parses each text of a stored list; returns `None` if one cannot be parsed.
fn parse_all<T>(stored: Value, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let texts: Vec<String> = serde_json::from_value(stored).ok()?;
    texts.iter().map(|text| read(text)).collect()
}

/// The times at which an account posts.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Slots {
    pub account_id: AccountId,
    /// Times of day, `HH:MM`.
    pub times: Vec<String>,
    /// The weekdays they are for, such as `monday`.
    pub days: Vec<Cow<'static, str>>,
    /// The IANA zone they are in.
    pub timezone: Cow<'static, str>,
    /// True if these are the default times, because none were set.
    pub default: bool,
}

/// An account's slots.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct OneGrid {
    pub slots: Slots,
}

impl Slots {
    fn of(id: AccountId, grid: &Grid) -> Self {
        let days = DAYS.iter().filter(|(_, day)| grid.days.contains(day));
        Self {
            account_id: id,
            times: grid.times.iter().map(|time| time.format("%H:%M").to_string()).collect(),
            days: days.map(|(name, _)| Cow::Borrowed(*name)).collect(),
            timezone: grid.zone.name().into(),
            default: grid.is_default,
        }
    }
}
