//! "Little text", LinkedIn's text format.

const RESERVED: &[char] =
    &['|', '{', '}', '@', '[', ']', '(', ')', '<', '>', '#', '\\', '*', '_', '~'];

/// Returns the text as displayed. It ends at the first reserved character that is neither escaped nor part of an
/// element.
pub(super) fn visible_text(sent: &str) -> String {
    let mut text = String::new();
    let mut rest = sent;
    while let Some(first) = rest.chars().next() {
        if first == '\\' {
            let Some(escaped) = rest[1..].chars().next() else { return text };
            text.push(escaped);
            rest = &rest[1 + escaped.len_utf8()..];
        } else if let Some((seen, length)) = element(rest) {
            text.push_str(&seen);
            rest = &rest[length..];
        } else if RESERVED.contains(&first) {
            return text;
        } else {
            text.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    text
}

/// Escapes a text so that it is displayed completely.
pub(super) fn escaped(text: &str) -> String {
    let mut sent = String::new();
    for one in text.chars() {
        if RESERVED.contains(&one) {
            sent.push('\\');
        }
        sent.push(one);
    }
    sent
}

/// Returns the element at the start of `rest`: its displayed text, and its length in bytes.
fn element(rest: &str) -> Option<(String, usize)> {
    if let Some(named) = rest.strip_prefix("@[") {
        let (name, after) = named.split_once("](urn:li:")?;
        let (urn, _) = after.split_once(')')?;
        return Some((name.to_owned(), 2 + name.len() + "](urn:li:".len() + urn.len() + 1));
    }
    if let Some(tag) = rest.strip_prefix("{hashtag|\\#|") {
        let (word, _) = tag.split_once('}')?;
        return Some((format!("#{word}"), rest.len() - tag.len() + word.len() + 1));
    }
    let tag = rest.strip_prefix('#')?;
    tag.starts_with(char::is_alphanumeric).then(|| ("#".to_owned(), 1))
}

#[cfg(test)]
mod tests {
    use super::{escaped, visible_text};

    #[test]
    fn elements_escapes_and_what_cuts_a_text_off() {
        for (sent, seen) in [
            (r"a \(b\) \\ c", r"a (b) \ c"),
            ("hi @[Acme](urn:li:organization:1)!", "hi Acme!"),
            (r"{hashtag|\#|launch} and #go", "#launch and #go"),
            ("cut (here)", "cut "),
            ("a # b", "a "),
        ] {
            assert_eq!(visible_text(sent), seen, "{sent}");
            assert_eq!(visible_text(&escaped(seen)), seen, "{sent}");
        }
    }
}
