//! Finds web addresses in a text by the rules that twitter-text publishes, which X and Mastodon share:
//! <https://github.com/twitter/twitter-text>. It takes linear time: every name is read once, from its end to its start.

use std::ops::Range;

use super::tld;

/// The characters that an address may have on one network.
#[derive(Debug, Clone, Copy)]
pub struct LinkRules {
    /// Schemes with `://`, in lower case.
    pub schemes: &'static [&'static str],
    /// True if a name without a scheme is an address too.
    pub bare: bool,
    /// Characters of a path besides balanced brackets.
    pub path: fn(char) -> bool,
    /// Characters a path may end with.
    pub path_end: fn(char) -> bool,
    /// Characters of a query.
    pub query: fn(char) -> bool,
    /// Characters a query may end with.
    pub query_end: fn(char) -> bool,
}

/// Longest address, in UTF-16 units.
const ADDRESS_MAX: usize = 4_096;

/// Longest part of a host name, encoded.
const LABEL_MAX: usize = 63;

/// Host of X's own short links, and the longest path of one.
const SHORT_LINK: &str = "://t.co/";
const SLUG_MAX: usize = 40;

/// Returns the byte ranges of all addresses, in order.
pub fn links(text: &str, rules: &LinkRules) -> Vec<Range<usize>> {
    let mut finder = Finder { text, rules, found: Vec::new(), free: 0 };
    let mut at = 0;
    while let Some(start) = text[at..].find(is_name_part).map(|offset| at + offset) {
        let length = text[start..].find(|c| !is_name_part(c));
        let end = length.map_or(text.len(), |length| start + length);
        at = finder.names(start, end);
    }
    finder.found
}

struct Finder<'a> {
    text: &'a str,
    rules: &'a LinkRules,
    found: Vec<Range<usize>>,
    /// The end of the last match.
    free: usize,
}

/// One part of a name, between dots.
struct Label {
    range: Range<usize>,
    /// It begins and ends with a letter, a digit or another character that names may contain.
    whole: bool,
    ends_well: bool,
    /// No underscore, as in the part before the top-level domain.
    plain: bool,
    /// Nothing but Latin letters, digits and hyphens.
    latin: bool,
    /// The end of the top-level domain at its start.
    tld: Option<usize>,
    /// The part with the last top-level domain of a name that starts in this one; the same of a Latin name.
    reach: Option<usize>,
    latin_reach: Option<usize>,
}

impl Finder<'_> {
    /// Collects the addresses whose names are between `start` and `end`; returns where to continue.
    fn names(&mut self, start: usize, end: usize) -> usize {
        if !self.text[start..end].contains('.') {
            return end;
        }
        let labels = self.labels(start, end);
        let (mut index, mut from, mut fresh) = (0, start, true);
        while let Some(label) = labels.get(index) {
            let place = self.place(label, from, fresh);
            let (Some((place, scheme)), Some(last), true) = (place, label.reach, label.ends_well)
            else {
                index += 1;
                from = labels.get(index).map_or(end, |next| next.range.start);
                fresh = true;
                continue;
            };
            let name_end = labels[last].tld.unwrap_or(end);
            let tail = self.tail(name_end, name_end == end);
            self.take(&labels[..=last], index, place..name_end, scheme, &tail);
            self.free = tail.end;
            if tail.end > end {
                return tail.end;
            }
            (index, from, fresh) = (last, name_end, false);
        }
        end
    }

    fn labels(&self, start: usize, end: usize) -> Vec<Label> {
        let mut at = start;
        let mut labels: Vec<Label> = Vec::new();
        for part in self.text[start..end].split('.') {
            labels.push(self.label(at..at + part.len()));
            at += part.len() + 1;
        }
        for index in (0..labels.len().saturating_sub(1)).rev() {
            let next = &labels[index + 1];
            let direct = next.tld.map(|_| index + 1);
            let reach = next.reach.filter(|_| next.whole);
            let latin_reach = next.latin_reach.filter(|_| next.latin).or(direct);
            let label = &mut labels[index];
            label.reach = reach.or(direct.filter(|_| label.plain));
            label.latin_reach = latin_reach;
        }
        labels
    }

    fn label(&self, range: Range<usize>) -> Label {
        let text = &self.text[range.clone()];
        let after = self.text[range.end..].chars().next();
        let is_edge = |c: char| !matches!(c, '-' | '_');
        let ends_well = text.chars().next_back().is_some_and(is_edge);
        Label {
            whole: ends_well && text.starts_with(is_edge),
            ends_well,
            plain: !text.contains('_'),
            latin: !text.is_empty() && text.chars().all(is_latin),
            tld: tld::at_start(text, after).map(|length| range.start + length),
            reach: None,
            latin_reach: None,
            range,
        }
    }

    /// Returns where an address may begin in a label, and where its scheme begins if it has one.
    fn place(&self, label: &Label, from: usize, fresh: bool) -> Option<(usize, Option<usize>)> {
        let begins = self.text[from..label.range.end].starts_with(|c| !matches!(c, '-' | '_'));
        if fresh && begins {
            if let Some(scheme) = self.scheme(from) {
                return Some((from, Some(scheme)));
            }
            if self.may_follow(from) {
                return Some((from, None));
            }
        }
        let rest = &self.text[from..label.range.end];
        let before = rest.char_indices().find(|(at, c)| {
            let next = rest[at + c.len_utf8()..].chars().next();
            !c.is_ascii_alphanumeric() && next.is_some_and(|c| !matches!(c, '-' | '_'))
        });
        before.map(|(at, c)| (from + at + c.len_utf8(), None))
    }

    /// Returns the start of the scheme that ends at `end`.
    fn scheme(&self, end: usize) -> Option<usize> {
        let before = &self.text.as_bytes()[..end];
        let fits = |scheme: &&&str| {
            let start = before.len().checked_sub(scheme.len());
            start.is_some_and(|start| before[start..].eq_ignore_ascii_case(scheme.as_bytes()))
        };
        // The longest: another scheme may end like it.
        let scheme = self.rules.schemes.iter().filter(fits).max_by_key(|scheme| scheme.len())?;
        let start = end - scheme.len();
        self.may_follow(start).then_some(start)
    }

    /// Returns true if an address may begin at `at`: not after a letter or the sign of another entity.
    fn may_follow(&self, at: usize) -> bool {
        let before = self.text[self.free.min(at)..at].chars().next_back();
        match before {
            Some(c) => {
                !c.is_ascii_alphanumeric()
                    && !matches!(
                        c,
                        '@' | '＠' | '$' | '#' | '＃' | '\u{fffe}' | '\u{feff}' | '\u{ffff}'
                    )
            }
            None => at == 0,
        }
    }

    fn tail(&self, name_end: usize, is_whole: bool) -> Tail {
        let mut tail = Tail { has_path: false, end: name_end };
        if !is_whole {
            return tail;
        }
        let digits = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count();
        if let Some(port) = self.text[tail.end..].strip_prefix(':').map(digits).filter(|n| *n > 0) {
            tail.end += 1 + port;
        }
        if let Some(path) = self.text[tail.end..].strip_prefix('/') {
            tail.has_path = true;
            tail.end += 1 + path_length(path, self.rules);
        }
        if let Some(query) = self.text[tail.end..].strip_prefix('?') {
            let end = query.find(|c| !(self.rules.query)(c)).unwrap_or(query.len());
            let length = query[..end].trim_end_matches(|c| !(self.rules.query_end)(c)).len();
            tail.end += if length > 0 { 1 + length } else { 0 };
        }
        tail
    }

    /// Adds the address of a match whose name starts in the label `first` and ends in the last of `labels`.
    fn take(
        &mut self,
        labels: &[Label],
        first: usize,
        name: Range<usize>,
        scheme: Option<usize>,
        tail: &Tail,
    ) {
        if !is_valid(&self.text[name.clone()], &self.text[name.end..tail.end]) {
            return;
        }
        if let Some(start) = scheme {
            let end = self.short_link_end(start, tail.end);
            self.found.extend(end.map(|end| start..end));
            return;
        }
        let before = self.text[..name.start].chars().next_back();
        if !self.rules.bare || before.is_some_and(|c| matches!(c, '-' | '_' | '.' | '/')) {
            return;
        }
        let known = self.found.len();
        self.latin_names(labels, first, name.start);
        // A path belongs to the last name.
        if tail.has_path
            && let Some(last) = self.found[known..].last_mut()
        {
            last.end = tail.end;
        }
    }

    /// Adds the Latin names within a name: letters of other scripts may directly precede and follow them.
    fn latin_names(&mut self, labels: &[Label], first: usize, start: usize) {
        let (mut index, mut from) = (first, start);
        while index + 1 < labels.len() {
            let label = &labels[index];
            let rest = &self.text[from..label.range.end];
            let place = from + rest.trim_end_matches(is_latin).len();
            let last = label.latin_reach.filter(|_| place < label.range.end);
            if let Some((last, end)) = last.and_then(|last| Some((last, labels.get(last)?.tld?))) {
                self.found.push(place..end);
                (index, from) = (last, end);
            } else {
                index += 1;
                from = labels[index].range.start;
            }
        }
    }

    /// Returns where an address ends: after the path if it is one of X's short links; `None` if that path is too long.
    fn short_link_end(&self, start: usize, end: usize) -> Option<usize> {
        let address = &self.text[start..end];
        let host = address.find("://").and_then(|at| address.get(at..at + SHORT_LINK.len()));
        if !host.is_some_and(|host| host.eq_ignore_ascii_case(SHORT_LINK)) {
            return Some(end);
        }
        let at = address.find("://").unwrap_or_default() + SHORT_LINK.len();
        let slug = address[at..].bytes().take_while(u8::is_ascii_alphanumeric).count();
        let is_query = address[at + slug..].starts_with('?');
        match slug {
            0 => Some(end),
            _ if slug > SLUG_MAX => None,
            _ if is_query => Some(end),
            _ => Some(start + at + slug),
        }
    }
}

/// The rest after a name: port, path, query.
struct Tail {
    has_path: bool,
    end: usize,
}

/// Returns true unless an address, with its name encoded, is too long.
fn is_valid(name: &str, tail: &str) -> bool {
    let mut length = "https://".len() + tail.encode_utf16().count();
    name.split('.').all(|label| {
        let encoded = match label.is_ascii() {
            true => label.len(),
            false if label.len() > 4 * LABEL_MAX => return false,
            false => idna::punycode::encode_str(label).map_or(usize::MAX, |code| code.len() + 4),
        };
        length = length.saturating_add(encoded).saturating_add(1);
        encoded <= LABEL_MAX
    }) && length <= ADDRESS_MAX + 1
}

/// Returns the length of a path after its first slash.
fn path_length(path: &str, rules: &LinkRules) -> usize {
    let (mut at, mut end) = (0, 0);
    while let Some(c) = path[at..].chars().next() {
        if c == '(' {
            let Some(length) = brackets(&path[at..], rules.path) else { break };
            at += length;
            end = at;
        } else if (rules.path)(c) {
            at += c.len_utf8();
            if (rules.path_end)(c) {
                end = at;
            }
        } else {
            break;
        }
    }
    end
}

/// Returns the length of balanced brackets, which may contain one nested pair.
fn brackets(text: &str, inner: fn(char) -> bool) -> Option<usize> {
    let run = |at: usize| at + text[at..].find(|c| !inner(c)).unwrap_or(text.len() - at);
    let first = run(1);
    if text[first..].starts_with(')') {
        return (first > 1).then_some(first + 1);
    }
    text[first..].strip_prefix('(')?;
    let second = run(first + 1);
    text[second..].strip_prefix(')').filter(|_| second > first + 1)?;
    let third = run(second + 1);
    text[third..].starts_with(')').then_some(third + 1)
}

/// Returns true for the characters of host names and for the separators between labels.
fn is_name_part(c: char) -> bool {
    match c {
        '.' | '-' | '_' | '"' | '`' => true,
        '\u{ad}' => true,
        '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{180e}' | '\u{61c}' => false,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        _ => !c.is_ascii_punctuation() && !c.is_whitespace(),
    }
}

/// Returns true for the characters of Latin host names.
pub fn is_latin(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || is_accented(c)
}

/// Returns true for Latin letters with diacritics, and for the diacritics.
pub fn is_accented(c: char) -> bool {
    match c {
        '\u{d7}' | '\u{f7}' => false,
        '\u{c0}'..='\u{24f}' | '\u{300}'..='\u{36f}' | '\u{1e00}'..='\u{1eff}' => true,
        '\u{253}' | '\u{254}' | '\u{256}' | '\u{257}' | '\u{259}' | '\u{25b}' | '\u{263}' => true,
        '\u{268}' | '\u{26f}' | '\u{272}' | '\u{289}' | '\u{28b}' | '\u{2bb}' => true,
        _ => false,
    }
}
