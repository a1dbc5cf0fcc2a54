//! Links: addresses with a scheme, `www.…`, names under a public suffix, and e-mail addresses.

use super::{Claim, FoundClaim, text::Text};

/// Characters that end a link.
const DELIMITERS: &str = "<>()[]{}\"“”„«»‹›|";

/// Characters that are not part of a link if they are at its end.
const TRAILING_SIGNS: &str = ".,;:!?…'’*_~-";

/// Finds links and e-mail addresses.
pub(super) fn find(text: &mut Text) -> Vec<FoundClaim> {
    let mut found = Vec::new();
    let mut start = 0;
    for at in 0..=text.folded.len() {
        let ends = text.folded.get(at).is_none_or(|c| *c == ' ' || DELIMITERS.contains(*c));
        if ends {
            pieces(text, start, at, &mut found);
            start = at + 1;
        }
    }
    for link in &found {
        text.mark_claimed_chars(link.start, link.end);
    }
    found
}

/// Examines a part of the text without spaces. Only addresses with a scheme may contain commas and the like.
fn pieces(text: &Text, start: usize, end: usize, found: &mut Vec<FoundClaim>) {
    let piece: String = text.folded[start..end].iter().collect();
    if piece.contains("://") {
        found.extend(link(text, start, end));
        return;
    }
    let mut from = start;
    for at in start..=end {
        if at == end || matches!(text.folded[at], ',' | ';' | '!' | '…') {
            found.extend(link(text, from, at));
            from = at + 1;
        }
    }
}

fn link(text: &Text, mut start: usize, mut end: usize) -> Option<FoundClaim> {
    while start < end && !text.folded[start].is_alphanumeric() && text.folded[start] != '@' {
        start += 1;
    }
    while start < end && TRAILING_SIGNS.contains(text.folded[end - 1]) {
        end -= 1;
    }
    let mut piece: String = text.folded.get(start..end)?.iter().collect();
    if let Some(mail) = piece.strip_prefix("mailto:") {
        start += "mailto:".len();
        piece = mail.to_owned();
    }
    let found = |claim| Some(FoundClaim { claim, start, end });
    if let Some((before, rest)) = piece.split_once("://") {
        let scheme = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
        let is_scheme = scheme.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_alphabetic()));
        return if is_scheme { found(value(rest)) } else { None };
    }
    if let Some((name, host)) = piece.split_once('@') {
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "._%+-".contains(c));
        return if is_name && is_host(host) { found(Claim::Mail(piece)) } else { None };
    }
    let host = piece.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let is_www = host.starts_with("www.") && host.len() > "www.".len();
    if is_www || (is_host(host) && !is_end_of_sentence(text, start, host)) {
        return found(value(&piece));
    }
    None
}

/// Returns the value of a link without its scheme.
fn value(rest: &str) -> Claim {
    let until = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(until);
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host).trim_end_matches('.');
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    Claim::Link { host: host.to_owned(), path: path.to_owned() }
}

/// Returns true for a host name under a public suffix.
fn is_host(host: &str) -> bool {
    let mut labels = host.split('.');
    let is_label = |label: &str| {
        !label.is_empty()
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
            && !label.starts_with('-')
    };
    let is_named = host.contains('.') && labels.all(is_label);
    let has_letters = host.chars().any(char::is_alphabetic);
    is_named
        && has_letters
        && psl::suffix(host.as_bytes())
            .is_some_and(|suffix| suffix.is_known() && suffix.as_bytes().len() < host.len())
}

/// Returns true for `today.It`, the end of a sentence without a space after it.
fn is_end_of_sentence(text: &Text, start: usize, host: &str) -> bool {
    let Some(dot) = host.chars().collect::<Vec<_>>().iter().rposition(|c| *c == '.') else {
        return false;
    };
    let shown = |at: usize| text.shown.get(start + at).copied().unwrap_or(' ');
    shown(dot + 1).is_uppercase() && shown(dot + 2).is_lowercase() && shown(0).is_lowercase()
}
