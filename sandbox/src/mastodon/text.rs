//! Counts a text: an address as 23 characters, of `@user@host` only `@user`, and all else in graphemes.

use unicode_segmentation::UnicodeSegmentation;

use super::instance::PER_URL;

/// Returns the length of a status' text.
pub(super) fn length(text: &str) -> usize {
    text.split_inclusive(char::is_whitespace).map(word).sum()
}

fn word(word: &str) -> usize {
    let trimmed = word.trim_end();
    bare(trimmed) + word[trimmed.len()..].graphemes(true).count()
}

/// Returns the length of a word: an address may follow other characters, a mention may include a host.
fn bare(word: &str) -> usize {
    if let Some(at) = ["https://", "http://"].iter().filter_map(|start| word.find(start)).min() {
        let address = &word[at..];
        let trailing = ['.', ',', '!', '?', ';', ':', '"', '\''];
        let unbalanced =
            word[..at].contains('(') && address.trim_end_matches(trailing).ends_with(')');
        let end = address.trim_end_matches(trailing);
        let end = if unbalanced { &end[..end.len() - 1] } else { end };
        if is_host(end) {
            return graphemes(&word[..at]) + PER_URL + graphemes(&address[end.len()..]);
        }
    }
    let mention = word.strip_prefix('@').and_then(|rest| rest.split_once('@'));
    match mention {
        Some((user, host)) if !user.is_empty() && host.starts_with(char::is_alphanumeric) => {
            let is_host = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
            let end = host.find(|c| !is_host(c)).unwrap_or(host.len());
            let seen = host[..end].trim_end_matches(['.', '-']).len();
            1 + graphemes(user) + graphemes(&host[seen..])
        }
        _ => graphemes(word),
    }
}

/// Returns true if the scheme is followed by a host with a known top-level domain.
fn is_host(address: &str) -> bool {
    let host = url::Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned));
    let ending = host.as_deref().and_then(|host| host.rsplit_once('.')).map(|(_, ending)| ending);
    ending.is_some_and(tld::exist)
}

fn graphemes(text: &str) -> usize {
    text.graphemes(true).count()
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn addresses_and_hosts_of_mentions_count_less() {
        assert_eq!(length("é 👩‍👩‍👧"), 3);
        assert_eq!(length("see https://example.org/a/very/long/path?with=query now"), 4 + 23 + 4);
        assert_eq!(length("(https://example.org)."), 1 + 23 + 2);
        assert_eq!(length("https://example.org/a_(b)"), 23);
        assert_eq!(length("https://a.b"), 11);
        assert_eq!(length("@me@mastodon.example hi"), 3 + 3);
        assert_eq!(length("a@b.example"), 11);
    }
}
