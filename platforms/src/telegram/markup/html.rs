//! `parse_mode: HTML`, <https://core.telegram.org/bots/api#html-style>.

use super::MarkupError;
use crate::excerpt;

const ESCAPE: &str = "Write &lt; for < where it starts no tag, and close each tag.";

/// The tags that Telegram knows. It ignores unknown attributes.
const TAGS: [&str; 16] = [
    "a",
    "b",
    "blockquote",
    "code",
    "del",
    "em",
    "i",
    "ins",
    "pre",
    "s",
    "span",
    "strike",
    "strong",
    "tg-emoji",
    "tg-spoiler",
    "u",
];

/// Returns the text without tags.
pub(super) fn parse(source: &str) -> Result<String, MarkupError> {
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
        Some(name) => Err(MarkupError::new(format!("the tag <{name}> is not closed"), ESCAPE)),
        None => Ok(visible),
    }
}

enum Tag {
    Start(String),
    End(String),
}

fn follow(tag: Tag, open: &mut Vec<String>) -> Result<(), MarkupError> {
    match tag {
        Tag::Start(name) => open.push(name),
        Tag::End(name) => match open.pop() {
            // Telegram treats </> as the end of the open tag.
            Some(last) if name.is_empty() || name == last => {}
            Some(last) => {
                let what = format!("</{name}> stands where <{last}> is to be closed");
                return Err(MarkupError::new(what, ESCAPE));
            }
            None => {
                let what = format!("</{name}> closes a tag that is not open");
                return Err(MarkupError::new(what, ESCAPE));
            }
        },
    }
    Ok(())
}

/// Returns the tag at the start of `source`, and the rest.
fn tag(source: &str) -> Result<(Tag, &str), MarkupError> {
    let unclosed = || {
        let start: String = source.chars().take(20).collect();
        MarkupError::new(format!("the tag at {start:?} has no end"), ESCAPE)
    };
    let end = end_of_tag(source).ok_or_else(unclosed)?;
    let inner = &source[1..end];
    let (inner, is_end) = match inner.strip_prefix('/') {
        Some(inner) => (inner, true),
        None => (inner, false),
    };
    let (name, rest) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
    let (name, after) = (name.to_ascii_lowercase(), &source[end + 1..]);
    if is_end {
        return Ok((Tag::End(name), after));
    }
    if name.is_empty() {
        return Err(MarkupError::new("a < starts no tag", ESCAPE));
    }
    known(&name)?;
    check_attributes(&name, rest)?;
    Ok((Tag::Start(name), after))
}

/// Refuses an unknown tag, and suggests a replacement.
fn known(name: &str) -> Result<(), MarkupError> {
    if TAGS.contains(&name) {
        return Ok(());
    }
    let what = format!("Telegram does not know the tag <{}>", excerpt(name));
    let remedy = match name.trim_end_matches('/') {
        "p" | "div" | "section" | "article" => {
            "Leave the tag out and part paragraphs by empty lines."
        }
        "br" | "hr" => "Write a line break in its place.",
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
            "Write the heading in <b>, on a line of its own."
        }
        "ul" | "ol" | "li" => "Write each item on a line of its own, behind a bullet.",
        "img" | "video" | "figure" => "Give files in media_urls.",
        _ => {
            "Use b, i, u, s, a, code, pre, blockquote, tg-spoiler, tg-emoji or <span class=\"tg-spoiler\">, and \
             write &lt; for a < that starts no tag."
        }
    };
    Err(MarkupError::new(what, remedy))
}

/// Checks the attributes of a tag.
fn check_attributes(tag: &str, source: &str) -> Result<(), MarkupError> {
    let given = attributes(tag, source)?;
    let value =
        |name: &str| given.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value);
    if tag == "span" && value("class") != Some("tg-spoiler") {
        let remedy = "Write <span class=\"tg-spoiler\"> for hidden text, or leave the tag out.";
        return Err(MarkupError::new("<span> has no class=\"tg-spoiler\"", remedy));
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if tag == "tg-emoji" && !value("emoji-id").is_some_and(is_number) {
        let remedy = "Write <tg-emoji emoji-id=\"5368324170671202286\">👍</tg-emoji>.";
        return Err(MarkupError::new("<tg-emoji> has no emoji-id that is a number", remedy));
    }
    Ok(())
}

/// Returns the names and values of attributes; a missing value is empty.
fn attributes<'a>(tag: &str, source: &'a str) -> Result<Vec<(String, &'a str)>, MarkupError> {
    let mut found = Vec::new();
    let mut rest = source.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let after = after.trim_start();
        let Some(after) = after.strip_prefix('=') else {
            found.push((name.to_ascii_lowercase(), ""));
            rest = after;
            continue;
        };
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, left) = match quote {
            Some(quote) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
            None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        if name.is_empty() || quote.is_none() && (value.is_empty() || !value.chars().all(is_plain))
        {
            let what = format!("an attribute of <{tag}> cannot be read at {:?}", excerpt(rest));
            return Err(MarkupError::new(what, "Write attributes as name=\"value\"."));
        }
        found.push((name.to_ascii_lowercase(), value));
        rest = left.trim_start();
    }
    Ok(found)
}

/// Returns the position of the `>` of the tag; one inside a quoted value does not count.
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

/// Decodes the entity at the start of `source`; an unknown one stays as it is.
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

    #[test]
    fn tags_of_pages_are_refused_by_name_with_what_to_write() {
        for (source, name, hint) in [
            ("<p>para</p>", "<p>", "empty lines"),
            ("<H1>x</H1>", "<h1>", "<b>"),
            ("<ul><li>x</li></ul>", "<ul>", "line of its own"),
            ("<div class=\"a\">x</div>", "<div>", "empty lines"),
            ("a<br>b", "<br>", "line break"),
            ("a<br/>b", "<br/>", "line break"),
            ("<span>x</span>", "<span>", "tg-spoiler"),
            ("<span class='other'>x</span>", "<span>", "tg-spoiler"),
            ("<span style=\"color:red\">x</span>", "<span>", "tg-spoiler"),
            ("<font>x</font>", "<font>", "blockquote"),
            ("<script>x</script>", "<script>", "&lt;"),
            ("<tg-emoji>x</tg-emoji>", "<tg-emoji>", "emoji-id"),
            ("<tg-emoji emoji-id=\"abc\">x</tg-emoji>", "<tg-emoji>", "emoji-id"),
            ("<a href=https://example.org/>x</a>", "<a>", "name=\"value\""),
            ("<a =x>y</a>", "<a>", "name=\"value\""),
        ] {
            let problem = parse(source).unwrap_err();
            assert!(problem.what.contains(name), "{source}: {problem:?}");
            assert!(problem.remedy.contains(hint), "{source}: {problem:?}");
        }
        let long = parse(&format!("<{}>", "x".repeat(5_000))).unwrap_err();
        assert!(long.what.len() < 1_000);
    }

    #[test]
    fn what_telegram_knows_passes() {
        for source in [
            "<b>x</b> <i>y</i>",
            "<strong>a</strong><em>b</em><ins>c</ins><strike>d</strike><del>e</del><s>f</s><u>g</u>",
            "<span class=\"tg-spoiler\">x</span><tg-spoiler>y</tg-spoiler>",
            "<SPAN CLASS='tg-spoiler'>x</span>",
            "5 &lt; 6 <a href=\"https://example.com/\">z</a>",
            "<a href = 'tg://user?id=1' title=\"a b\">z</a>",
            "<pre><code class=\"language-rust\">x</code></pre>",
            "<blockquote expandable>x</blockquote>",
            "<tg-emoji emoji-id=\"5368324170671202286\">👍</tg-emoji>",
            "<b><i>nested</i></b>",
        ] {
            assert!(parse(source).is_ok(), "{source}: {:?}", parse(source));
        }
    }
}
