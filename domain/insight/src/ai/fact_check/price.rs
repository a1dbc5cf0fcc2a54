//! Prices: amounts of money, percentages, `2 for 1`, half price and free.

use super::{
    Claim, FoundClaim,
    text::Text,
    vocabulary::{CENTS, PENCE, VOCABULARY},
};

/// ISO codes that are recognised next to an amount in capitals.
const CODES: &str = "aud brl cad cny czk dkk hkd huf inr jpy mxn nok nzd pln sek sgd try zar";

/// ISO codes that are also recognised in lower case.
const COMMON_CODES: &str = "chf eur gbp usd";

/// Currencies that a `$` alone may mean.
const DOLLARS: &str = "aud cad hkd mxn nzd sgd usd";

/// A number in the text, and the token after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Number {
    hundredths: i64,
    end: usize,
}

/// Finds prices.
pub(super) fn find(text: &mut Text) -> Vec<FoundClaim> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.tokens.len() {
        let Some((claims, end)) = price(text, at) else {
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

/// Reads the prices that begin at a token, and the token after them.
fn price(text: &Text, at: usize) -> Option<(Vec<Claim>, usize)> {
    let one = |(claim, end)| (vec![claim], end);
    offer(text, at)
        .map(one)
        .or_else(|| bargain(text, at).map(one))
        .or_else(|| before(text, at))
        .or_else(|| behind(text, at))
}

/// Reads half price, and free.
fn offer(text: &Text, at: usize) -> Option<(Claim, usize)> {
    if let Some((length, ())) = text.phrase(&VOCABULARY.half_price, at) {
        let claim = Claim::Price { hundredths: 5_000, currency: "%".to_owned() };
        return Some((claim, at + length));
    }
    let (length, ()) = text.phrase(&VOCABULARY.free, at)?;
    let before = at.checked_sub(1).and_then(|at| {
        let at = if text.sign(at) == Some('-') { at.checked_sub(1)? } else { at };
        text.word(at)
    });
    let behind = text.word(at + length);
    if before.is_some_and(|word| VOCABULARY.not_free_after.has(word))
        || behind.is_some_and(|word| VOCABULARY.not_free_before.has(word))
        || text.glued_sign(at, "-").is_some()
        || (at > 0 && text.is_glued(at) && text.sign(at - 1) == Some('-'))
    {
        return None;
    }
    Some((Claim::Price { hundredths: 0, currency: String::new() }, at + length))
}

/// Reads `2 for 1` or `3x2`.
fn bargain(text: &Text, at: usize) -> Option<(Claim, usize)> {
    let of: i64 = text.digits(at)?.parse().ok()?;
    if at > 0 && text.is_glued(at) && text.sign(at - 1).is_none_or(|sign| ".,:/".contains(sign)) {
        return None;
    }
    let mut place = at + 1;
    place += usize::from(text.sign(place) == Some('-'));
    let (length, ()) = text.phrase(&VOCABULARY.for_words, place)?;
    place += length;
    place += usize::from(text.sign(place) == Some('-'));
    let pays: i64 = text.digits(place)?.parse().ok()?;
    let is_measure = text.word(place + 1).is_some_and(|word| VOCABULARY.nouns.has(word));
    let goes_on = text.glued_sign(place + 1, ".,:").is_some() && text.is_glued(place + 2);
    let is_bargain = (1..=99).contains(&of) && (1..=99).contains(&pays) && of != pays;
    if !is_bargain || is_measure || goes_on || currency_at(text, place + 1).is_some() {
        return None;
    }
    Some((Claim::Bargain { of, pays }, place + 1))
}

/// Reads an amount with its currency before it: `$20`, `EUR 20`, `€10–20`.
fn before(text: &Text, at: usize) -> Option<(Vec<Claim>, usize)> {
    let (currency, place) = currency_at(text, at)?;
    let is_word = text.word(at).is_some();
    if matches!(currency.as_str(), "%" | CENTS | PENCE) || (is_word && !is_code(text, at)) {
        return None;
    }
    let number = number(text, place, true)?;
    let mut claims = vec![amount(number, &currency)];
    let mut end = number.end;
    if let Some(second) = range(text, end).and_then(|place| {
        let place = currency_at(text, place).map_or(place, |(_, place)| place);
        self::number(text, place, true)
    }) {
        claims.push(amount(second, &currency));
        end = second.end;
    }
    Some((claims, end))
}

/// Reads an amount with its currency after it: `20 €`, `12 Euro`, `10–20%`.
fn behind(text: &Text, at: usize) -> Option<(Vec<Claim>, usize)> {
    text.digits(at)?;
    for is_spaced in [true, false] {
        let Some(first) = number(text, at, is_spaced) else { continue };
        if let Some((currency, end)) = own_currency(text, first.end) {
            return Some((vec![amount(first, &currency)], end));
        }
        let second = range(text, first.end).and_then(|place| number(text, place, is_spaced));
        if let Some(second) = second
            && let Some((currency, end)) = own_currency(text, second.end)
        {
            return Some((vec![amount(first, &currency), amount(second, &currency)], end));
        }
    }
    None
}

/// Reads the currency after a number, unless it belongs to the next number: `2026 €5`.
fn own_currency(text: &Text, at: usize) -> Option<(String, usize)> {
    let place =
        at + usize::from(text.glued_sign(at, "-–").is_some() && text.word(at + 1).is_some());
    let (currency, end) = currency_at(text, place)?;
    let is_sign = text.sign(place).is_some_and(|sign| sign != '%');
    let leads = is_sign && !text.is_glued(place) && text.glued_digits(end, 1..=12).is_some();
    (!leads).then_some((currency, end))
}

/// Returns the index of the token that continues a range.
fn range(text: &Text, at: usize) -> Option<usize> {
    if text.sign(at).is_some_and(|sign| "-–—".contains(sign)) {
        return Some(at + 1);
    }
    let (length, ()) = text.phrase(&VOCABULARY.range, at)?;
    Some(at + length)
}

/// Reads the currency at a token, and the token after it.
fn currency_at(text: &Text, at: usize) -> Option<(String, usize)> {
    if let Some(sign) = text.sign(at) {
        let currency = match sign {
            '$' => "$",
            '€' => "eur",
            '£' => "gbp",
            '¥' => "jpy",
            '₹' => "inr",
            '₺' => "try",
            '₽' => "rub",
            '₩' => "krw",
            '¢' => CENTS,
            '%' | '٪' => "%",
            _ => return None,
        };
        return Some((currency.to_owned(), at + 1));
    }
    let word = text.word(at)?;
    let followed_by_sign = text.glued_sign(at + 1, "$").is_some();
    match word {
        "us" if followed_by_sign => return Some(("usd".to_owned(), at + 2)),
        "ca" | "c" if followed_by_sign => return Some(("cad".to_owned(), at + 2)),
        "au" | "a" if followed_by_sign => return Some(("aud".to_owned(), at + 2)),
        "nz" if followed_by_sign => return Some(("nzd".to_owned(), at + 2)),
        "r" if followed_by_sign => return Some(("brl".to_owned(), at + 2)),
        "p" if text.is_glued(at) => return Some((PENCE.to_owned(), at + 1)),
        "kr" => return Some(("kr".to_owned(), at + 1)),
        _ => {}
    }
    if is_code(text, at) {
        let code = if word == "euro" { "eur" } else { word };
        return Some((code.to_owned(), at + 1));
    }
    if let Some((length, ())) = text.phrase(&VOCABULARY.percent, at) {
        return Some(("%".to_owned(), at + length));
    }
    let (length, currency) = text.phrase(&VOCABULARY.currencies, at)?;
    Some((currency, at + length))
}

/// Returns true for an ISO code or the word euro, which can also precede an amount.
fn is_code(text: &Text, at: usize) -> bool {
    let Some(word) = text.word(at) else { return false };
    let token = &text.tokens[at];
    let is_capital = text.shown[token.start..token.end].iter().all(|c| c.is_uppercase());
    let is_in = |list: &str| list.split(' ').any(|code| code == word);
    is_in(COMMON_CODES) || word == "euro" || (is_capital && is_in(CODES))
}

/// Reads a number in any notation: `1,000`, `1.000`, `1 000`, `9,50`, `20,-`.
fn number(text: &Text, at: usize, is_spaced: bool) -> Option<Number> {
    let first = text.digits(at).filter(|digits| digits.len() <= 9)?;
    let mut whole: i64 = first.parse().ok()?;
    let (mut end, mut separator) = (at + 1, None);
    loop {
        let sign = text.glued_sign(end, ".,'’");
        let (next, this) = match sign {
            Some(sign) if text.glued_digits(end + 1, 3..=3).is_some() => (end + 1, sign),
            None if is_spaced && !text.is_glued(end) => (end, ' '),
            _ => break,
        };
        let Some(group) = text.digits(next).filter(|digits| digits.len() == 3) else { break };
        if first.len() > 3 || separator.is_some_and(|known| known != this) || whole > 1_000_000_000
        {
            break;
        }
        whole = whole * 1_000 + group.parse::<i64>().ok()?;
        (separator, end) = (Some(this), next + 1);
    }
    let mut hundredths = whole.checked_mul(100)?;
    if let Some(sign) = text.glued_sign(end, ".,").filter(|sign| separator != Some(*sign)) {
        if let Some(decimals) = text.glued_digits(end + 1, 1..=2) {
            let value: i64 = decimals.parse().ok()?;
            hundredths += if decimals.len() == 1 { value * 10 } else { value };
            end += 2;
        } else if sign == ',' || sign == '.' {
            // A dash can stand for missing cents: `20,–`.
            end += if text.glued_sign(end + 1, "-–—").is_some() { 2 } else { 0 };
        }
    }
    if text.word(end) == Some("k") && text.is_glued(end) {
        return Some(Number { hundredths: hundredths.checked_mul(1_000)?, end: end + 1 });
    }
    if let Some((length, times)) = text.phrase(&VOCABULARY.multiples, end) {
        return Some(Number { hundredths: hundredths.checked_mul(times)?, end: end + length });
    }
    Some(Number { hundredths, end })
}

fn amount(number: Number, currency: &str) -> Claim {
    match currency {
        CENTS | PENCE => Claim::Price {
            hundredths: number.hundredths / 100,
            currency: if currency == PENCE { "gbp" } else { CENTS }.to_owned(),
        },
        _ => Claim::Price { hundredths: number.hundredths, currency: currency.to_owned() },
    }
}

/// Returns true if two prices are the same amount of the same currency. Zero is the same in every currency.
pub(super) fn is_same(one: &Claim, other: &Claim) -> bool {
    let (
        Claim::Price { hundredths: a, currency: of_a },
        Claim::Price { hundredths: b, currency: of_b },
    ) = (one, other)
    else {
        return false;
    };
    let is_percent = |currency: &str| currency == "%";
    if a != b || is_percent(of_a) != is_percent(of_b) {
        return false;
    }
    *a == 0 && !is_percent(of_a) || fits(of_a, of_b) || fits(of_b, of_a)
}

fn fits(one: &str, other: &str) -> bool {
    let is_in = |list: &str| list.split(' ').any(|code| code == other);
    one == other
        || (one == "$" && is_in(DOLLARS))
        || (one == "kr" && is_in("sek nok dkk"))
        || (one == CENTS && other != "gbp")
}

#[cfg(test)]
mod tests {
    use super::{super::text::Kind, *};

    #[test]
    fn a_number_is_read_by_its_own_form() {
        for (text, hundredths) in [
            ("9", 900),
            ("9.00", 900),
            ("9,00", 900),
            ("9,5", 950),
            ("1,000", 100_000),
            ("1.000", 100_000),
            ("1 000", 100_000),
            ("1.000,50", 100_050),
            ("1,000.50", 100_050),
            ("1'000.50", 100_050),
            ("20,-", 2_000),
            ("5k", 500_000),
            ("1.5 million", 150_000_000),
        ] {
            let text = Text::of(text);
            let read = number(&text, 0, true).unwrap();
            assert_eq!((read.hundredths, read.end), (hundredths, text.tokens.len()));
        }
    }

    #[test]
    fn a_token_that_is_taken_is_not_seen() {
        let mut text = Text::of("20 €");
        assert_eq!(text.get(0, Kind::Digits), Some("20"));
        text.mark_claimed(0, 2);
        assert_eq!(find(&mut text).len(), 0);
    }
}
