//! The posts of a month or a week by day, in the workspace's time zone.

use chrono::{Datelike, Days, Months, NaiveDate};
use fanfare_core::{Code, Error, Result, access::Role, zone};
use fanfare_entities::{post, post::PostStatus};
use fanfare_publishing::posts::{agenda, status_name, status_words};
use maud::{Markup, html};

use super::{
    Accounts, PAGE,
    marks::{self, thumbnail},
    one::is_under_way,
};
use crate::{
    dashboard::{
        page_member::PageMember,
        parts,
        sets::entry::{self, Sets},
    },
    oauth_connect::Visit,
};

/// The most posts that a calendar shows.
const MOST: u64 = 500;

/// The most posts of a day in a month; a link leads to the others.
const OF_A_DAY: usize = 4;

/// The content of a calendar.
struct CalendarRange {
    view: &'static str,
    /// The days, in whole weeks from Monday on.
    days: Vec<NaiveDate>,
    /// The first and the last day of the month or week itself.
    own: (NaiveDate, NaiveDate),
    title: String,
    before: NaiveDate,
    after: NaiveDate,
}

/// The things that the entries of a calendar are made with.
struct ChipContext<'a> {
    accounts: &'a Accounts,
    sets: &'a Sets,
    zone: &'a str,
    /// True if the user may move them.
    may: bool,
}

/// Returns the calendar of a month.
pub async fn month(
    visit: &Visit,
    seat: &PageMember,
    accounts: &Accounts,
) -> Result<(Markup, bool)> {
    let first = chosen(visit, seat)?.with_day(1).unwrap_or_default();
    let after = first.checked_add_months(Months::new(1)).unwrap_or(first);
    let last = after.pred_opt().unwrap_or(after);
    let span = CalendarRange {
        view: "month",
        days: weeks(first, last),
        own: (first, last),
        title: first.format("%B %Y").to_string(),
        before: first.checked_sub_months(Months::new(1)).unwrap_or(first),
        after,
    };
    calendar(visit, seat, accounts, &span).await
}

/// Returns the calendar of a week.
pub async fn week(visit: &Visit, seat: &PageMember, accounts: &Accounts) -> Result<(Markup, bool)> {
    let days = weeks(chosen(visit, seat)?, chosen(visit, seat)?);
    let (first, last) = (days.first().copied(), days.last().copied());
    let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
    let span = CalendarRange {
        view: "week",
        days,
        own: (first, last),
        title: format!("{} to {}", first.format("%-d %B"), last.format("%-d %B %Y")),
        before: first.checked_sub_days(Days::new(7)).unwrap_or(first),
        after: zone::next_day(last),
    };
    calendar(visit, seat, accounts, &span).await
}

/// Returns the day that was asked for, or today.
fn chosen(visit: &Visit, seat: &PageMember) -> Result<NaiveDate> {
    let today = || zone::local(seat.act.cx.clock.now(), seat.zone()).date();
    visit.query("day").map_or_else(|| Ok(today()), |text| day("day", text))
}

/// Reads a day.
///
/// # Errors
/// [`Code::InvalidField`].
pub fn day(field: &str, text: &str) -> Result<NaiveDate> {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    day.filter(|day| (1970..=9_000).contains(&day.year())).ok_or_else(|| {
        let message = "This is not a day.";
        Error::field(Code::InvalidField, field, message, "Choose a day like 2026-01-31.")
    })
}

/// Returns the days of all weeks from that of the first day to that of the last.
fn weeks(first: NaiveDate, last: NaiveDate) -> Vec<NaiveDate> {
    let back = u64::from(first.weekday().num_days_from_monday());
    let on = u64::from(6 - last.weekday().num_days_from_monday());
    let start = first.checked_sub_days(Days::new(back)).unwrap_or(first);
    let end = last.checked_add_days(Days::new(on)).unwrap_or(last);
    start.iter_days().take_while(|day| *day <= end).collect()
}

async fn calendar(
    visit: &Visit,
    seat: &PageMember,
    accounts: &Accounts,
    span: &CalendarRange,
) -> Result<(Markup, bool)> {
    let zone = seat.zone();
    let first = span.days.first().copied().unwrap_or_default();
    let end = zone::next_day(span.days.last().copied().unwrap_or_default());
    let times = (zone::midnight(first, zone), zone::midnight(end, zone));
    let rows = agenda::between(&seat.act, times, MOST).await?;
    let sets = Sets::of(seat, &rows).await?;
    let today = zone::local(seat.act.cx.clock.now(), zone).date();
    let may = seat.may(Role::Publisher);
    let now = seat.act.cx.clock.now();
    let changes = rows.iter().any(|row| is_under_way(row, now));
    let main = html! {
        div.head {
            h2 { (span.title) }
            p.actions {
                a.button href={ (PAGE) "?view=" (span.view) "&day=" (span.before) } { "Earlier" }
                a.button href={ (PAGE) "?view=" (span.view) } { "Today" }
                a.button href={ (PAGE) "?view=" (span.view) "&day=" (span.after) } { "Later" }
            }
        }
        p.soft {
            @if may { "Open a post to move it" span.scripted { ", or drag it to another day" } "." }
        }
        @if rows.len() as u64 == MOST { p.flash.warn { "Only the first " (MOST) " posts are shown." } }
        @if rows.is_empty() { p.empty { "Nothing is scheduled in this time." } }
        ol.calendar data-view=(span.view) {
            @for day in &span.days {
                @let of_day = sets.firsts(rows.iter().filter(|row| on_day(row, *day, zone)));
                (cell((span, *day, today), &ChipContext { accounts, sets: &sets, zone, may }, &of_day))
            }
        }
        @if may {
            form #move method="post" action={ (PAGE) "/move" } hidden {
                (parts::csrf_field(visit))
                input type="hidden" name="post";
                input type="hidden" name="day";
                input type="hidden" name="view" value=(span.view);
            }
        }
    };
    Ok((main, changes))
}

fn on_day(row: &post::Model, day: NaiveDate, zone: &str) -> bool {
    row.scheduled_at.is_some_and(|at| zone::local(at, zone).date() == day)
}

fn cell(
    (span, day, today): (&CalendarRange, NaiveDate, NaiveDate),
    context: &ChipContext<'_>,
    rows: &[&post::Model],
) -> Markup {
    let most = if span.view == "month" { OF_A_DAY } else { usize::MAX };
    let is_outside = day < span.own.0 || day > span.own.1;
    html! {
        li.outside[is_outside].today[day == today].free[rows.is_empty()] data-day=(day) {
            time datetime=(day) {
                span.weekday { (day.format("%a")) " " } (day.day())
                @if day.day() == 1 || is_outside { " " (day.format("%b")) }
            }
            @if !rows.is_empty() {
                ul {
                    @for row in rows.iter().take(most) { (chip(context, row)) }
                    @if rows.len() > most {
                        li.more { a href={ (PAGE) "?view=week&day=" (day) } { (rows.len() - most) " more" } }
                    }
                }
            }
        }
    }
}

fn chip(context: &ChipContext<'_>, row: &post::Model) -> Markup {
    let set = context.sets.of_post(row);
    let drag = match set {
        _ if !context.may => None,
        Some((id, targets)) => entry::moves_as_one(targets).then(|| id.to_string()),
        None => is_movable(row).then(|| row.id.to_string()),
    };
    let at = row.scheduled_at.map(|at| zone::local(at, context.zone).format("%H:%M").to_string());
    let (name, page, words) = match set {
        Some((id, targets)) => {
            (entry::status(targets).name(), entry::address(id), entry::words(targets))
        }
        None => (status_name(row.status), format!("{PAGE}/{}", row.id), status_words(row)),
    };
    html! {
        li {
            a class={ "chip " (name) } href=(page) draggable=[drag.as_ref().map(|_| "true")] data-post=[drag] {
                span.when { (at.unwrap_or_default()) " " span.state { (words) } }
                span.what { (thumbnail(row)) (context.sets.title(row)) }
                @if let Some((_, targets)) = set {
                    span.soft { (entry::networks(targets)) }
                } @else {
                    span.soft { (marks::account(context.accounts.get(&row.account_id), &row.platform)) }
                }
            }
        }
    }
}

/// Returns true for a post whose time can be changed.
pub fn is_movable(row: &post::Model) -> bool {
    let open = matches!(row.status, PostStatus::Scheduled | PostStatus::Draft | PostStatus::Paused);
    open && !row.partly_public
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_shown_in_whole_weeks() {
        let date = |month, day| NaiveDate::from_ymd_opt(2026, month, day).unwrap();
        let days = weeks(date(11, 1), date(11, 30));
        assert_eq!((days[0], *days.last().unwrap()), (date(10, 26), date(12, 6)));
        assert_eq!(weeks(date(11, 25), date(11, 25)).len(), 7);
        assert!(day("day", "2026-13-01").is_err() && day("day", "999999-01-01").is_err());
    }
}
