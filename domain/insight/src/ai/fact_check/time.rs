//! Times of day: `7pm`, `19:30`, `19 Uhr`, `19h30`, noon, and both ends of a range.

use super::{Claim, FoundClaim, text::Text, vocabulary::VOCABULARY};

/// A time in the text, and the token after it.
struct TimeOfDay {
    hour: u16,
    minute: u16,
    half: Option<Half>,
    /// Something in the text proves that it is a time.
    is_certain: bool,
    end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Morning,
    Afternoon,
}

/// Finds times of day.
pub(super) fn find(text: &mut Text) -> Vec<FoundClaim> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.tokens.len() {
        let Some((times, end)) = at_token(text, at) else {
            at += 1;
            continue;
        };
        let (start, until) = (text.tokens[at].start, text.tokens[end - 1].end);
        let claims = times.into_iter().map(Claim::Time);
        found.extend(claims.map(|claim| FoundClaim { claim, start, end: until }));
        text.mark_claimed(at, end);
        at = end;
    }
    found
}

fn at_token(text: &Text, at: usize) -> Option<(Vec<Vec<u16>>, usize)> {
    if let Some((length, minutes)) = text.phrase(&VOCABULARY.clock, at) {
        return Some((vec![vec![minutes]], at + length));
    }
    let first = time_of_day(text, at)?;
    if let Some(place) = range(text, first.end)
        && let Some(second) = time_of_day(text, place)
        && (first.is_certain || second.is_certain)
    {
        // `7–9pm`: the start is in the same half of the day, or in the other.
        let both = vec![minutes(&first), minutes(&second)];
        return Some((both, second.end));
    }
    first.is_certain.then(|| (vec![minutes(&first)], first.end))
}

fn range(text: &Text, at: usize) -> Option<usize> {
    if text.sign(at).is_some_and(|sign| "-–—".contains(sign)) {
        return Some(at + 1);
    }
    let (length, ()) = text.phrase(&VOCABULARY.range, at)?;
    Some(at + length)
}

fn time_of_day(text: &Text, at: usize) -> Option<TimeOfDay> {
    if at > 0
        && text.is_glued(at)
        && !text.sign(at - 1).is_some_and(|sign| "(-–—~\"“„«'’".contains(sign))
    {
        return None;
    }
    let hour: u16 = text.digits(at).filter(|digits| digits.len() <= 2)?.parse().ok()?;
    let sign = text.glued_sign(at + 1, ":.");
    let minute = sign.and_then(|_| text.glued_digits(at + 2, 2..=2));
    let minute: Option<u16> = minute.and_then(|digits| digits.parse().ok());
    let mut end = at + if minute.is_some() { 3 } else { 1 };
    // A score or a version is not a time: `3:2`, `1.5`.
    let mut is_certain = minute.is_some() && sign == Some(':');
    let mut minutes = minute.unwrap_or(0);
    if text.word(end) == Some("h") {
        is_certain = true;
        end += 1;
        if let (None, Some(more)) = (minute, text.digits(end).filter(|digits| digits.len() == 2)) {
            minutes = more.parse().ok()?;
            end += 1;
        }
    } else if let Some((length, ())) = text.phrase(&VOCABULARY.oclock, end) {
        is_certain = true;
        end += length;
        // Reads `19 Uhr 30`.
        if let (None, Some(more)) = (minute, text.digits(end).filter(|digits| digits.len() == 2))
            && text.word(end + 1).is_none_or(|word| !VOCABULARY.nouns.has(word))
        {
            minutes = more.parse().ok()?;
            end += 1;
        }
    }
    let half = half(text, end);
    if let Some((_, place)) = half {
        is_certain = true;
        end = place;
    }
    let fits = hour <= 24 && minutes < 60 && (half.is_none() || (1..=12).contains(&hour));
    let half = half.map(|(half, _)| half);
    fits.then_some(TimeOfDay { hour, minute: minutes, half, is_certain, end })
}

/// Reads `am` or `p.m.`.
fn half(text: &Text, at: usize) -> Option<(Half, usize)> {
    let of = |word: &str| match word {
        "am" | "a" => Some(Half::Morning),
        "pm" | "p" => Some(Half::Afternoon),
        _ => None,
    };
    let word = text.word(at)?;
    if word.len() == 2 {
        return of(word).map(|half| (half, at + 1));
    }
    let is_dotted = text.glued_sign(at + 1, ".").is_some() && text.word(at + 2) == Some("m");
    let end = at + 3 + usize::from(text.glued_sign(at + 3, ".").is_some());
    of(word).filter(|_| is_dotted).map(|half| (half, end))
}

/// Returns the minutes of the day: two if no half of the day is named.
fn minutes(clock: &TimeOfDay) -> Vec<u16> {
    let (hour, minute) = (clock.hour % 24, clock.minute);
    match clock.half {
        Some(Half::Morning) => vec![hour % 12 * 60 + minute],
        Some(Half::Afternoon) => vec![(hour % 12 + 12) * 60 + minute],
        None if clock.hour <= 12 => {
            vec![hour % 12 * 60 + minute, (hour % 12 + 12) * 60 + minute]
        }
        None => vec![hour * 60 + minute],
    }
}
