//! How a text is counted: an address as 23 characters, of `@user@host` only `@user`.

use super::instance::PER_URL;

/// The length of a status' text.
pub(super) fn length(text: &str) -> usize {
    text.split_inclusive(char::is_whitespace).map(word).sum()
}

fn word(word: &str) -> usize {
    let trimmed = word.trim_end();
    let space = word[trimmed.len()..].chars().count();
    space + bare(trimmed)
}

/// A word without spaces: an address may have signs before it, a mention its host behind it.
fn bare(word: &str) -> usize {
    if let Some(at) = ["https://", "http://"].iter().filter_map(|start| word.find(start)).min() {
        let address = &word[at..];
        let end = address.trim_end_matches(['.', ',', ')', '!', '?', ';', ':', '"', '\'']).len();
        let has_host =
            address.split("//").nth(1).is_some_and(|host| host.contains('.') || host.contains(':'));
        if has_host {
            let around = word[..at].chars().count() + address[end..].chars().count();
            return around + PER_URL;
        }
    }
    let mention = word.strip_prefix('@').and_then(|rest| rest.split_once('@'));
    match mention {
        Some((user, host)) if !user.is_empty() && host.contains('.') => {
            let tail = host
                .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-');
            1 + user.chars().count() + tail.chars().count()
        }
        _ => word.chars().count(),
    }
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn addresses_and_hosts_are_counted_apart() {
        assert_eq!(length("é 👩‍👩‍👧"), 7);
        assert_eq!(length("see https://example.org/a/very/long/path?with=query now"), 4 + 23 + 4);
        assert_eq!(length("(https://example.org)."), 1 + 23 + 2);
        assert_eq!(length("@me@mastodon.example hi"), 3 + 3);
        assert_eq!(length("a@b.example"), 11);
    }
}
