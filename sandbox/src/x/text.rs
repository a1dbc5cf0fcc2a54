//! Counts a text and finds its links, as twitter-text does.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

const LINK: usize = 23;
/// The longest host name that is checked, in bytes: longer than any real one.
const HOST_MAX: usize = 512;
/// The longest content of brackets in a path, in bytes: without a bound, a text of open brackets takes quadratic time.
const BRACKET_MAX: usize = 512;

/// Returns the weighted length of a text.
pub(super) fn length(text: &str) -> usize {
    let text: String = text.nfc().collect();
    let (mut counted, mut at) = (0, 0);
    for Range { start, end } in places(&text) {
        counted += weigh(&text[at..start]) + LINK;
        at = end;
    }
    counted + weigh(&text[at..])
}

/// Returns the addresses in a text, with or without a scheme.
pub(super) fn links(text: &str) -> Vec<&str> {
    places(text).into_iter().map(|place| &text[place]).collect()
}

/// Returns the ranges of addresses: around each dot with a name before it and a known top-level domain after it.
fn places(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(dot) = text[at..].find('.').map(|offset| at + offset) {
        let free = found.last().map_or(0, |last| last.end);
        // If nothing up to there is a top-level domain, no dot up to there needs checking.
        match end(text, dot) {
            Err(seen) => at = seen.max(dot + 1),
            Ok(end) => match start(text, free, dot) {
                Some(start) => {
                    at = end;
                    found.push(start..end);
                }
                None => at = dot + 1,
            },
        }
    }
    found
}

/// Returns the start of the address whose name ends at `dot`.
fn start(text: &str, free: usize, dot: usize) -> Option<usize> {
    let near = text.floor_char_boundary(dot.saturating_sub(HOST_MAX));
    let (free, is_cut) = (free.max(near), near > free);
    let schemed = text[free..dot].rfind("://").map(|offset| free + offset + 3);
    if let Some(name) = schemed.filter(|name| is_host(&text[*name..dot])) {
        let scheme = ["https://", "http://"].into_iter().find(|scheme| {
            let start = name.checked_sub(scheme.len()).filter(|start| *start >= free);
            start
                .and_then(|start| text.get(start..name))
                .is_some_and(|it| it.eq_ignore_ascii_case(scheme))
        });
        if let Some(scheme) = scheme {
            return Some(name - scheme.len()).filter(|start| !is_part_of_word(&text[..*start]));
        }
    }
    let name = &text[free..dot];
    let latin = name.len() - name.trim_end_matches(|c| is_latin(c) || c == '.').len();
    let start = dot - latin;
    if is_cut && start == free {
        return None;
    }
    let before = text[..start].chars().next_back();
    let barred = before.is_some_and(|c| "-_/".contains(c));
    (latin > 0 && is_host(&text[start..dot]) && !barred && !is_part_of_word(&text[..start]))
        .then_some(start)
}

/// Returns the end of the address whose top-level domain follows `dot`; the name continues as long as further ones
/// follow. `Err` is the position up to which there is none.
fn end(text: &str, dot: usize) -> Result<usize, usize> {
    let (mut at, mut known) = (dot + 1, None);
    loop {
        let rest = &text[at..];
        let label = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        if label.len() > HOST_MAX {
            break;
        }
        let ascii = label.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let follows = rest[ascii..].chars().next();
        if follows != Some('@') && tld::exist(&label[..ascii].to_ascii_lowercase()) {
            known = Some(at + ascii);
        } else if ascii < label.len() && is_foreign_ending(label) {
            known = Some(at + label.len());
        }
        at += label.len();
        if label.is_empty() || !text[at..].starts_with('.') || at > dot + HOST_MAX {
            break;
        }
        at += 1;
    }
    let name_end = known.ok_or(at)?;
    Ok(if text[name_end..].starts_with(is_name) { name_end } else { tail(text, name_end) })
}

/// Returns the end of port, path and query.
fn tail(text: &str, mut at: usize) -> usize {
    let digits = text[at..]
        .strip_prefix(':')
        .map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    at += if digits > 0 { digits + 1 } else { 0 };
    if text[at..].starts_with('/') {
        let (mut depth, mut stop, mut place) = (0_i32, at + 1, at + 1);
        for (offset, c) in text[at + 1..].char_indices() {
            let is_letter = c.is_ascii_alphanumeric() || is_accented(c) || ('Ѐ'..='ӿ').contains(&c);
            match c {
                '(' if depth < 2 && closes(&text[at + 1 + offset..]) => depth += 1,
                ')' if depth > 0 => depth -= 1,
                _ if is_letter || "!*';:=+,.$/%#[]-–_~@|&".contains(c) => {}
                _ => break,
            }
            place = at + 1 + offset + c.len_utf8();
            if depth == 0 && (is_letter || "=_#/+-)".contains(c)) {
                stop = place;
            }
        }
        at = if depth == 0 || stop < place { stop } else { place };
    }
    let query = text[at..].strip_prefix('?').map_or("", |rest| {
        let is_query =
            |c: char| c.is_ascii_alphanumeric() || "!?*'@();:&=+$/%#[]-_.,~|".contains(c);
        rest[..rest.find(|c| !is_query(c)).unwrap_or(rest.len())]
            .trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && !"_&=#/-".contains(c))
    });
    at + if query.is_empty() { 0 } else { query.len() + 1 }
}

/// Returns true if a bracket closes before the next space and within the limit.
fn closes(rest: &str) -> bool {
    let near = rest.char_indices().skip(1).take_while(|(at, _)| *at <= BRACKET_MAX);
    let end = { near }.find(|(_, c)| c.is_whitespace() || *c == ')');
    end.is_some_and(|(at, c)| c == ')' && at > 1)
}

fn is_host(name: &str) -> bool {
    name.split('.').all(|label| {
        !label.is_empty()
            && !label.starts_with(['-', '_'])
            && !label.ends_with(['-', '_'])
            && label.chars().all(is_name)
    }) && !name.rsplit('.').next().is_some_and(|last| last.contains('_'))
}

fn is_part_of_word(before: &str) -> bool {
    before.ends_with(|c: char| c.is_ascii_alphanumeric() || "@＠$#＃".contains(c))
}

fn is_foreign_ending(label: &str) -> bool {
    if label.len() >= 64 {
        return false;
    }
    let known = url::Url::parse(&format!("http://a.{label}")).ok();
    let encoded = known.and_then(|url| url.host_str().map(str::to_owned));
    encoded.is_some_and(|host| tld::exist(host.trim_start_matches("a.")))
}

fn is_name(c: char) -> bool {
    c == '-'
        || c == '_'
        || c == '"'
        || !(c.is_ascii_punctuation() || c.is_whitespace() || c == '\u{feff}')
}

fn is_latin(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || is_accented(c)
}

fn is_accented(c: char) -> bool {
    matches!(c, 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ɏ' | '\u{1e00}'..='\u{1eff}')
}

fn weigh(text: &str) -> usize {
    let of_char = |c: char| match u32::from(c) {
        0..=4_351 | 8_192..=8_205 | 8_208..=8_223 | 8_242..=8_247 => 1,
        _ => 2,
    };
    let of_one = |one: &str| {
        if one.chars().any(is_emoji) { 2 } else { one.chars().map(of_char).sum() }
    };
    text.graphemes(true).map(of_one).sum()
}

fn is_emoji(c: char) -> bool {
    matches!(u32::from(c), 0x20e3 | 0x1f1e6..=0x1f1ff | 0x1f300..=0x1faff) || (c == '\u{fe0f}')
}

/// Returns the number of cashtags in a text.
pub(super) fn cashtags(text: &str) -> usize {
    let is_name = |name: &str| {
        let letters = name.chars().take_while(char::is_ascii_alphabetic).count();
        (1..=6).contains(&letters)
            && !name[letters..].starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    text.split_whitespace()
        .filter_map(|word| word.strip_prefix('$'))
        .filter(|it| is_name(it))
        .count()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};

    use super::{cashtags, length, links};

    #[test]
    fn texts_are_weighed() {
        for (text, units) in [
            ("abc", 3),
            ("日本", 4),
            ("👩‍👩‍👧", 2),
            ("see https://example.org/a-very-long-path, now", 4 + 23 + 1 + 4),
            ("(http://a.io)", 25),
            ("a\nb", 3),
            ("https://example.org/a_(b)", 23),
            ("これはhttps://example.org/xです", 6 + 23 + 4),
            ("これはexample.orgです", 6 + 23 + 4),
            ("https://bücher.de/x?y[]=1", 23),
            ("http://пример.рф/x", 23),
            ("www.example.de or example.io/abc or example.co.uk.", 3 * 23 + 2 * 4 + 1),
            ("https://example.com/です", 23 + 4),
            ("ann@example.com e.g. file.txt 1.5", 33),
            ("https://a.example", 17),
        ] {
            assert_eq!(length(text), units, "{text}");
        }
    }

    #[test]
    fn what_makes_a_careless_scan_start_again_takes_time_in_proportion() {
        let timed = |text: &str| {
            let once = || {
                // This thread's own time: others use the processor as well.
                let now = || clock_gettime(ClockId::ThreadCPUTime);
                let start = Duration::try_from(now()).unwrap_or_default();
                std::hint::black_box(length(text));
                Duration::try_from(now()).unwrap_or_default().saturating_sub(start)
            };
            (0..4).map(|_| once()).min().unwrap_or_default()
        };
        for unit in [
            "a.", ".", "..", "http://", "://.", "日.", "日a.", "a.com/(", "a-.", "xn--a.", "é.",
            "(.", "a",
        ] {
            let text = |bytes: usize| unit.repeat(bytes / unit.len());
            let (less, more) = (timed(&text(4 << 10)), timed(&text(32 << 10)));
            let most = (less * 24).max(Duration::from_millis(50));
            assert!(more < most, "{unit}: {less:?} and, of eight times as much, {more:?}");
        }
    }

    #[test]
    fn addresses_are_found() {
        assert_eq!(links("a.com, http://b.org/c. d.e"), ["a.com", "http://b.org/c"]);
    }

    #[test]
    fn cashtags_are_counted() {
        assert_eq!(cashtags("$ABC and $defg! but not $ABCDEFG, $1 or a$b"), 2);
    }
}
