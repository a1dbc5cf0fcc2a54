//! The old Markdown style: no nesting, a few characters.
//!
//! <https://core.telegram.org/bots/api#markdown-style>

use super::{Builder, Formatted, is_link};

pub(super) fn parse(source: &str) -> Result<Formatted, String> {
    let mut out = Builder::default();
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        if c == '\\' && rest[1..].starts_with(['_', '*', '`', '[']) {
            out.push(char::from(rest.as_bytes()[1]));
            at += 2;
            continue;
        }
        let (open, close, kind) = match c {
            '_' => ("_", "_", "italic"),
            '*' => ("*", "*", "bold"),
            '`' if rest.starts_with("```") => ("```", "```", "pre"),
            '`' => ("`", "`", "code"),
            '[' => ("[", "]", "text_link"),
            c => {
                out.push(c);
                at += c.len_utf8();
                continue;
            }
        };
        let inner = &rest[open.len()..];
        let end = inner
            .find(close)
            .ok_or_else(|| format!("Can't find end of the entity starting at byte offset {at}"))?;
        let start = out.start(at);
        let (language, body) =
            if kind == "pre" { language(&inner[..end]) } else { (None, &inner[..end]) };
        body.chars().for_each(|c| out.push(c));
        at += open.len() + end + close.len();
        let url = if kind == "text_link" { link(source, &mut at) } else { None };
        if (kind != "text_link" || url.is_some())
            && let Some(entity) = out.end(kind, start)
        {
            entity.language = language;
            entity.url = url;
        }
    }
    Ok(out.done)
}

/// Returns the address in parentheses after a link's text.
fn link(source: &str, at: &mut usize) -> Option<String> {
    let inner = source[*at..].strip_prefix('(')?;
    let end = inner.find(')')?;
    *at += end + 2;
    let url = inner[..end].to_owned();
    is_link(&url).then_some(url)
}

/// Returns the language in the first line of a block, if there is one, and the rest.
pub(super) fn language(block: &str) -> (Option<String>, &str) {
    match block.split_once('\n') {
        Some((name, rest)) if !name.is_empty() && !name.contains(char::is_whitespace) => {
            (Some(name.to_owned()), rest)
        }
        Some(("", rest)) => (None, rest),
        _ => (None, block),
    }
}
