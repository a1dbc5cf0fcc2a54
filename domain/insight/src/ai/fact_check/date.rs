//! Dates: numeric ones, months with a day or a year, weekdays, years, and days relative to today.

use chrono::{Datelike, NaiveDate};

use super::{Claim, FoundClaim, text::Text, vocabulary::VOCABULARY};

/// The parts of a date that a text states; weekdays count from Monday, 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Date {
    pub year: Option<i32>,
    pub month: Option<u8>,
    pub day: Option<u8>,
    pub weekday: Option<u8>,
}

/// The readings of a date that begins at a token, and the token after it.
type ParsedDate = (Vec<Date>, usize);

/// Finds dates.
pub(super) fn find(text: &mut Text) -> Vec<FoundClaim> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.tokens.len() {
        let Some((claims, end)) = at_token(text, at) else {
            at += 1;
            continue;
        };
        let (start, until) = (text.tokens[at].start, text.tokens[end - 1].end);
        found.extend(claims.into_iter().map(|claim| FoundClaim { claim, start, end: until }));
        text.mark_claimed(at, end);
        at = end;
    }
    found
}

fn at_token(text: &Text, at: usize) -> Option<(Vec<Claim>, usize)> {
    if let Some((length, day)) = text.phrase(&VOCABULARY.relative, at) {
        return Some((vec![Claim::Relative(day)], at + length));
    }
    if let Some((length, weekday)) = text.phrase(&VOCABULARY.weekdays, at) {
        return Some(with_weekday(text, at + length, weekday));
    }
    if let Some((days, end)) = range(text, at) {
        return Some((days.into_iter().map(|day| Claim::Date(vec![day])).collect(), end));
    }
    let (readings, end) = plain(text, at)?;
    Some((vec![Claim::Date(readings)], end))
}

/// Reads a weekday with the date that it belongs to.
fn with_weekday(text: &Text, at: usize, weekday: u8) -> (Vec<Claim>, usize) {
    let alone = Date { weekday: Some(weekday), ..Date::default() };
    let mut place = at;
    place += usize::from(text.sign(place).is_some_and(|sign| ",.".contains(sign)));
    place += usize::from(text.word(place).is_some_and(|word| VOCABULARY.links.has(word)));
    let dated =
        plain(text, place).filter(|(readings, _)| readings.iter().any(|date| date.month.is_some()));
    match dated {
        Some((readings, end)) => {
            let named = readings.into_iter().map(|date| Date { weekday: Some(weekday), ..date });
            (vec![Claim::Date(named.collect())], end)
        }
        None => (vec![Claim::Date(vec![alone])], at),
    }
}

/// Reads a date without a weekday.
fn plain(text: &Text, at: usize) -> Option<ParsedDate> {
    iso(text, at)
        .or_else(|| numeric(text, at))
        .or_else(|| day_and_month(text, at))
        .or_else(|| month_first(text, at))
        .or_else(|| year_alone(text, at))
}

/// Reads `2026-12-05`.
fn iso(text: &Text, at: usize) -> Option<ParsedDate> {
    let year: i32 = text.digits(at).filter(|digits| digits.len() == 4)?.parse().ok()?;
    let sign = text.glued_sign(at + 1, "-/.")?;
    let month: u8 = text.glued_digits(at + 2, 1..=2)?.parse().ok()?;
    text.glued_sign(at + 3, &sign.to_string())?;
    let day: u8 = text.glued_digits(at + 4, 1..=2)?.parse().ok()?;
    let date = valid_date(Some(year), month, day)?;
    Some((vec![date], at + 5))
}

/// Reads `5.12.2026`, `12/5/26` or `5.12.`; returns both readings if there are two.
fn numeric(text: &Text, at: usize) -> Option<ParsedDate> {
    if at > 0 && text.is_glued(at) && text.sign(at - 1).is_some_and(|sign| "./-:,".contains(sign)) {
        return None;
    }
    let first: u8 = text.digits(at).filter(|digits| digits.len() <= 2)?.parse().ok()?;
    let sign = text.glued_sign(at + 1, "./-")?;
    let second: u8 = text.glued_digits(at + 2, 1..=2)?.parse().ok()?;
    let ends = text.glued_sign(at + 3, &sign.to_string()).is_some();
    let year = text.glued_digits(at + 4, 2..=4).filter(|digits| ends && digits.len() != 3);
    let (year, end) = match year {
        Some(digits) if text.glued_sign(at + 5, "./-").is_none() || !text.is_glued(at + 6) => {
            let year: i32 = digits.parse().ok()?;
            (Some(if digits.len() == 2 { 2_000 + year } else { year }), at + 5)
        }
        Some(_) => return None,
        None if ends && sign == '.' && text.glued_digits(at + 4, 1..=99).is_none() => {
            (None, at + 4)
        }
        None if !ends && sign == '/' && follows_date_word(text, at) => (None, at + 3),
        None => return None,
    };
    let readings: Vec<Date> = [valid_date(year, second, first), valid_date(year, first, second)]
        .into_iter()
        .flatten()
        .collect();
    (!readings.is_empty()).then_some((readings, end))
}

/// Returns true if a word such as `on` precedes it.
fn follows_date_word(text: &Text, at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|at| text.word(at))
        .is_some_and(|word| VOCABULARY.before_date.has(word))
}

/// Reads `12.–14. March` or `12 to 14 March 2026`.
fn range(text: &Text, at: usize) -> Option<(Vec<Date>, usize)> {
    let (first, place) = day(text, at)?;
    let place = range_sign(text, place)?;
    let (readings, end) = day_and_month(text, place)?;
    let last = *readings.first()?;
    let begin = valid_date(last.year, last.month?, first)?;
    Some((vec![begin, last], end))
}

fn range_sign(text: &Text, at: usize) -> Option<usize> {
    if text.sign(at).is_some_and(|sign| "-–—&/".contains(sign)) {
        return Some(at + 1);
    }
    let (length, ()) = text.phrase(&VOCABULARY.range, at)?;
    Some(at + length)
}

/// Reads a day of a month, with the sign that makes it an ordinal.
fn day(text: &Text, at: usize) -> Option<(u8, usize)> {
    if at > 0 && text.is_glued(at) && text.sign(at - 1).is_some_and(|sign| ".,:/".contains(sign)) {
        return None;
    }
    let day: u8 = text.digits(at).filter(|digits| digits.len() <= 2)?.parse().ok()?;
    if !(1..=31).contains(&day) {
        return None;
    }
    let is_ordinal = text.glued_sign(at + 1, ".º°ª").is_some()
        || text.word(at + 1).is_some_and(|word| {
            text.is_glued(at + 1)
                && matches!(word, "st" | "nd" | "rd" | "th" | "er" | "o" | "a" | "e" | "te" | "de")
        });
    Some((day, at + 1 + usize::from(is_ordinal)))
}

/// Reads `5 December` or `5th of December, 2026`.
fn day_and_month(text: &Text, at: usize) -> Option<ParsedDate> {
    let (day, mut place) = day(text, at)?;
    while text
        .word(place)
        .is_some_and(|word| matches!(word, "of" | "de" | "di" | "d" | "do" | "del"))
    {
        place += 1;
    }
    let (month, place) = month(text, place)?;
    let (year, end) = year_behind(text, place);
    Some((vec![valid_date(year, month, day)?], end))
}

fn month(text: &Text, at: usize) -> Option<(u8, usize)> {
    let (length, month) = text.phrase(&VOCABULARY.months, at)?;
    // An abbreviation may end with a full stop, which does not end the sentence if a number follows.
    let is_short = text.word(at).is_some_and(|word| word.len() <= 5);
    let end = at + length;
    let has_stop =
        is_short && text.glued_sign(end, ".").is_some() && text.digits(end + 1).is_some();
    Some((month, end + usize::from(has_stop)))
}

/// Reads a year after a month: `2026`, `, 2026`, `de 2026`.
fn year_behind(text: &Text, at: usize) -> (Option<i32>, usize) {
    let mut place = at;
    place += usize::from(text.glued_sign(place, ",").is_some());
    place += usize::from(text.word(place).is_some_and(|word| matches!(word, "de" | "del" | "of")));
    match year(text, place) {
        Some(year) => (Some(year), place + 1),
        None => (None, at),
    }
}

fn year(text: &Text, at: usize) -> Option<i32> {
    let digits = text.digits(at).filter(|digits| digits.len() == 4)?;
    let year: i32 = digits.parse().ok()?;
    let goes_on =
        text.glued_sign(at + 1, ".,:/-").is_some() && text.glued_digits(at + 2, 1..=9).is_some();
    ((1_900..=2_100).contains(&year) && !goes_on).then_some(year)
}

/// Reads `December 5`, `Dec 5th, 2026`, `December 2026` or `December 12–14`.
fn month_first(text: &Text, at: usize) -> Option<ParsedDate> {
    let (month, place) = month(text, at)?;
    if let (Some(year), end) = year_behind(text, place) {
        let date = Date { year: Some(year), month: Some(month), ..Date::default() };
        return Some((vec![date], end));
    }
    let (day, end) = day(text, place)?;
    let is_measure = text.word(end).is_some_and(|word| VOCABULARY.nouns.has(word));
    let is_other = text.glued_sign(place + 1, ":%").is_some()
        || text.word(end).is_some_and(|word| matches!(word, "am" | "pm" | "h" | "uhr" | "uur"));
    if is_measure || is_other {
        return None;
    }
    let (year, end) = year_behind(text, end);
    Some((vec![valid_date(year, month, day)?], end))
}

/// Reads a number of four digits, unless it counts something.
fn year_alone(text: &Text, at: usize) -> Option<ParsedDate> {
    let year = year(text, at)?;
    let is_part = at > 0
        && text.is_glued(at)
        && text.sign(at - 1).is_none_or(|sign| ".,:/#@_=&%+*".contains(sign));
    let behind = text.word(at + 1);
    let is_counted = behind.is_some_and(|word| VOCABULARY.nouns.has(word))
        || (behind.is_some() && text.is_glued(at + 1));
    if is_part || is_counted {
        return None;
    }
    Some((vec![Date { year: Some(year), ..Date::default() }], at + 1))
}

/// Returns a date if it exists.
fn valid_date(year: Option<i32>, month: u8, day: u8) -> Option<Date> {
    // Without a year the 29th of February may be meant.
    NaiveDate::from_ymd_opt(year.unwrap_or(2_024), month.into(), day.into())?;
    Some(Date { year, month: Some(month), day: Some(day), weekday: None })
}

/// Returns true if one reading of a date is part of a known date.
pub(super) fn is_part(asked: &[Date], known: &[Date]) -> bool {
    let fits = |asked: &Date, known: &Date| {
        let weekday = known.weekday.or_else(|| weekday_of(known));
        asked.year.is_none_or(|year| known.year == Some(year))
            && asked.month.is_none_or(|month| known.month == Some(month))
            && asked.day.is_none_or(|day| known.day == Some(day))
            && asked.weekday.is_none_or(|day| weekday == Some(day))
    };
    asked.iter().any(|asked| known.iter().any(|known| fits(asked, known)))
}

/// Returns the weekday of a complete date.
fn weekday_of(date: &Date) -> Option<u8> {
    let day = NaiveDate::from_ymd_opt(date.year?, date.month?.into(), date.day?.into())?;
    u8::try_from(day.weekday().num_days_from_monday()).ok()
}
