//! `parse_mode: HTML`, <https://core.telegram.org/bots/api#html-style>.

use super::Problem;

const ESCAPE: &str = "Write &lt; for < where it starts no tag, and close each tag.";

/// The text without its tags. Names of tags are left to Telegram, which adds new ones.
pub(super) fn parse(source: &str) -> Result<String, Problem> {
    let mut visible = String::with_capacity(source.len());
    let mut open: Vec<String> = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['<', '&']) {
        visible.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('&') {
            rest = entity(rest, &mut visible);
        } else {
            let (tag, after) = tag(rest)?;
            follow(tag, &mut open)?;
            rest = after;
        }
    }
    visible.push_str(rest);
    match open.pop() {
        Some(name) => Err(Problem::new(format!("the tag <{name}> is not closed"), ESCAPE)),
        None => Ok(visible),
    }
}

enum Tag {
    Start(String),
    End(String),
}

fn follow(tag: Tag, open: &mut Vec<String>) -> Result<(), Problem> {
    match tag {
        Tag::Start(name) => open.push(name),
        Tag::End(name) => match open.pop() {
            // Telegram takes </> for the end of whatever is open.
            Some(last) if name.is_empty() || name == last => {}
            Some(last) => {
                let what = format!("</{name}> stands where <{last}> is to be closed");
                return Err(Problem::new(what, ESCAPE));
            }
            None => {
                let what = format!("</{name}> closes a tag that is not open");
                return Err(Problem::new(what, ESCAPE));
            }
        },
    }
    Ok(())
}

/// The tag at the start of `source`, and what comes after it.
fn tag(source: &str) -> Result<(Tag, &str), Problem> {
    let unclosed = || {
        let start: String = source.chars().take(20).collect();
        Problem::new(format!("the tag at {start:?} has no end"), ESCAPE)
    };
    let end = end_of_tag(source).ok_or_else(unclosed)?;
    let inner = &source[1..end];
    let (inner, is_end) = match inner.strip_prefix('/') {
        Some(inner) => (inner, true),
        None => (inner, false),
    };
    let name = inner.split(char::is_whitespace).next().unwrap_or_default().to_ascii_lowercase();
    if name.is_empty() && !is_end {
        return Err(Problem::new("a < starts no tag", ESCAPE));
    }
    let tag = if is_end { Tag::End(name) } else { Tag::Start(name) };
    Ok((tag, &source[end + 1..]))
}

/// Where the `>` of the tag is; one inside a quoted value does not count.
fn end_of_tag(source: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in source.char_indices() {
        match (quote, c) {
            (None, '>') => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

/// Adds what an entity at the start of `source` stands for; one that Telegram does not know stays as it is.
fn entity<'a>(source: &'a str, visible: &mut String) -> &'a str {
    let body = &source[1..];
    let (decoded, length) = match body.strip_prefix('#') {
        Some(number) => numeric(number),
        None => named(body),
    };
    let Some(decoded) = decoded else {
        visible.push('&');
        return body;
    };
    visible.push(decoded);
    let rest = &body[length..];
    rest.strip_prefix(';').unwrap_or(rest)
}

fn named(body: &str) -> (Option<char>, usize) {
    let length = body.bytes().take_while(u8::is_ascii_alphabetic).count();
    let decoded = match &body[..length] {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        _ => None,
    };
    (decoded, length)
}

/// `body` starts after `&#`; the length returned counts the `#`.
fn numeric(body: &str) -> (Option<char>, usize) {
    let (digits, radix, prefix) = match body.strip_prefix('x') {
        Some(digits) => (digits, 16, 2),
        None => (body, 10, 1),
    };
    let length = digits.chars().take_while(|c| c.is_digit(radix)).count();
    let code = u32::from_str_radix(&digits[..length], radix).ok().filter(|code| *code != 0);
    (code.and_then(char::from_u32), prefix + length)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn tags_vanish_and_entities_count_as_what_they_stand_for() {
        let table = [
            ("plain", "plain"),
            ("<b>bold</b> and <i>it</i>", "bold and it"),
            ("<a href=\"https://example.org/?a>b\">link</a>", "link"),
            ("<B>mixed</b>", "mixed"),
            ("<blockquote expandable>quoted</blockquote>", "quoted"),
            ("1 &lt; 2 &amp; 3 &gt; 2 &quot;x&quot;", "1 < 2 & 3 > 2 \"x\""),
            ("&#128512; &#x1F600;", "😀 😀"),
            ("&nbsp; R&D &#0;", "&nbsp; R&D &#0;"),
            ("&ltb", "&ltb"),
            ("2 > 1", "2 > 1"),
        ];
        for (source, visible) in table {
            assert_eq!(parse(source).as_deref(), Ok(visible), "{source}");
        }
    }

    #[test]
    fn what_telegram_cannot_read_is_refused() {
        for source in ["1 < 2", "<b>open", "</b>", "<b><i>crossed</b></i>", "a <", "< b>x</b>"] {
            assert!(parse(source).is_err(), "{source}");
        }
    }
}
