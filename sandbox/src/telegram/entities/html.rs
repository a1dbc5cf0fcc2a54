//! The HTML style of the Bot API: few tags, each closed.
//!
//! <https://core.telegram.org/bots/api#html-style>

use super::{Builder, Formatted, Start, is_link, units};

/// An open tag.
struct Open {
    name: String,
    start: Start,
    /// `href`, `class` or `emoji-id`, depending on the tag.
    value: String,
    expandable: bool,
}

pub(super) fn parse(source: &str) -> Result<Formatted, String> {
    let mut out = Builder::default();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        match c {
            '&' => {
                let (c, length) = character(&source[at..]);
                out.push(c);
                at += length;
            }
            '<' if source[at + 1..].starts_with('/') => {
                let end = source[at..]
                    .find('>')
                    .ok_or_else(|| format!("Unclosed end tag at byte offset {at}"))?;
                close(&mut out, &mut open, source[at + 2..at + end].trim(), at)?;
                at += end + 1;
            }
            '<' => {
                let (tag, length) = start_tag(source, at, &out)?;
                open.push(tag);
                at += length;
            }
            c => {
                out.push(c);
                at += c.len_utf8();
            }
        }
    }
    match open.last() {
        Some(tag) => Err(format!("Can't find end tag corresponding to start tag \"{}\"", tag.name)),
        None => Ok(out.done),
    }
}

fn close(out: &mut Builder, open: &mut Vec<Open>, name: &str, at: usize) -> Result<(), String> {
    let tag = open.pop().ok_or_else(|| format!("Unexpected end tag at byte offset {at}"))?;
    let name = name.to_ascii_lowercase();
    if !name.is_empty() && name != tag.name {
        return Err(format!(
            "Unmatched end tag at byte offset {at}, expected \"</{}>\", found \"</{name}>\"",
            tag.name
        ));
    }
    let text = out.since(tag.start).to_owned();
    match tag.name.as_str() {
        "b" | "strong" => {
            out.end("bold", tag.start);
        }
        "i" | "em" => {
            out.end("italic", tag.start);
        }
        "u" | "ins" => {
            out.end("underline", tag.start);
        }
        "s" | "strike" | "del" => {
            out.end("strikethrough", tag.start);
        }
        "span" | "tg-spoiler" => {
            out.end("spoiler", tag.start);
        }
        "blockquote" => {
            out.end(if tag.expandable { "expandable_blockquote" } else { "blockquote" }, tag.start);
        }
        "pre" => pre(out, &tag),
        "code" => {
            // Inside <pre>, the class names the language of the block.
            let language = tag.value.strip_prefix("language-").map(str::to_owned);
            let inside = open.last().is_some_and(|outer| outer.name == "pre");
            if let Some(entity) = out.end("code", tag.start) {
                entity.language = language.filter(|_| inside);
            }
        }
        "a" => {
            let url = if tag.value.is_empty() { text } else { tag.value };
            if is_link(&url)
                && let Some(entity) = out.end("text_link", tag.start)
            {
                entity.url = Some(url);
            }
        }
        _ => {
            if let Some(entity) = out.end("custom_emoji", tag.start) {
                entity.custom_emoji_id = Some(tag.value);
            }
        }
    }
    Ok(())
}

/// `<pre><code class="language-…">` is one entity, not two.
fn pre(out: &mut Builder, tag: &Open) {
    let length = units(out.since(tag.start));
    let inner = out
        .done
        .entities
        .iter()
        .position(|e| e.kind == "code" && e.offset == tag.start.units && e.length == length);
    let language = inner.map(|at| out.done.entities.remove(at)).and_then(|code| code.language);
    if let Some(entity) = out.end("pre", tag.start) {
        entity.language = language;
    }
}

fn start_tag(source: &str, at: usize, out: &Builder) -> Result<(Open, usize), String> {
    let unclosed = || format!("Unclosed start tag at byte offset {at}");
    let rest = &source[at + 1..];
    let name_end = rest.find(|c: char| c.is_whitespace() || c == '>').ok_or_else(unclosed)?;
    let name = rest[..name_end].to_ascii_lowercase();
    let known = [
        "a",
        "b",
        "strong",
        "i",
        "em",
        "s",
        "strike",
        "del",
        "u",
        "ins",
        "tg-spoiler",
        "tg-emoji",
        "span",
        "pre",
        "code",
        "blockquote",
    ];
    if !known.contains(&name.as_str()) {
        return Err(format!("Unsupported start tag \"{name}\" at byte offset {at}"));
    }
    let wanted = match name.as_str() {
        "a" => "href",
        "span" | "code" => "class",
        "tg-emoji" => "emoji-id",
        _ => "",
    };
    let mut tag = Open { name, start: out.start(at), value: String::new(), expandable: false };
    let mut read = name_end;
    loop {
        let left = rest[read..].trim_start();
        read = rest.len() - left.len();
        if left.starts_with('>') {
            break;
        }
        let (attribute, value, length) = attribute(left).ok_or_else(unclosed)?;
        read += length;
        if attribute == wanted {
            tag.value = value;
        } else if attribute == "expandable" {
            tag.expandable = true;
        }
    }
    if tag.name == "span" && tag.value != "tg-spoiler" {
        return Err(format!("Tag \"span\" must have class \"tg-spoiler\" at byte offset {at}"));
    }
    if tag.name == "tg-emoji"
        && (tag.value.is_empty() || !tag.value.bytes().all(|b| b.is_ascii_digit()))
    {
        return Err("Invalid custom emoji identifier specified".into());
    }
    Ok((tag, read + 2))
}

/// Returns the name, value and length of an attribute.
fn attribute(text: &str) -> Option<(String, String, usize)> {
    let end = text.find(|c: char| c.is_whitespace() || c == '=' || c == '>')?;
    let name = text[..end].to_ascii_lowercase();
    let Some(value) = text[end..].strip_prefix('=') else {
        return Some((name, String::new(), end.max(1)));
    };
    let start = end + 1;
    let (raw, length) = match value.chars().next()? {
        quote @ ('"' | '\'') => {
            let close = value[1..].find(quote)?;
            (&value[1..=close], close + 2)
        }
        _ => {
            let close = value.find(|c: char| c.is_whitespace() || c == '>')?;
            (&value[..close], close)
        }
    };
    let mut decoded = String::new();
    let mut at = 0;
    while let Some(c) = raw[at..].chars().next() {
        let (c, length) = if c == '&' { character(&raw[at..]) } else { (c, c.len_utf8()) };
        decoded.push(c);
        at += length;
    }
    Some((name, decoded, start + length))
}

/// Returns the character of a reference such as `&lt;` or `&#38;`, and the reference's length.
fn character(text: &str) -> (char, usize) {
    let Some(end) = text.find(';').filter(|end| *end <= 10) else { return ('&', 1) };
    let name = &text[1..end];
    let c = match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        _ => name.strip_prefix('#').and_then(|number| {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|c| *c != '\0')
        }),
    };
    c.map_or(('&', 1), |c| (c, end + 1))
}
