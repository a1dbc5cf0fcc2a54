//! Reads what a page says about itself: Open Graph, else its title and description.

/// Longest texts taken over, in characters.
const TITLE_MAX: usize = 300;
const DESCRIPTION_MAX: usize = 1_000;

/// What a page says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Never empty.
    pub title: String,
    /// If it has one.
    pub description: Option<String>,
    /// Address of an image, may be relative.
    pub image: Option<String>,
}

/// The page's words about itself; `None` without a title.
pub fn read(html: &str) -> Option<Page> {
    let mut metas: Vec<(String, String)> = Vec::new();
    let mut title = None;
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = after(comment, "-->");
        } else if is_tag(rest, "script") {
            rest = after_ignoring_case(rest, "</script");
        } else if is_tag(rest, "style") {
            rest = after_ignoring_case(rest, "</style");
        } else if is_tag(rest, "body") {
            break;
        } else if is_tag(rest, "title") {
            let text = after(rest, ">");
            let end = text.find('<').unwrap_or(text.len());
            title = title.or_else(|| tidy(&text[..end], TITLE_MAX));
            rest = &text[end..];
        } else if is_tag(rest, "meta") {
            let (attributes, left) = attributes(&rest["meta".len()..]);
            metas.extend(meta(&attributes));
            rest = left;
        }
    }
    let first = |names: &[&str], max| {
        let found =
            |name: &&str| metas.iter().find(|(key, value)| key == name && !value.trim().is_empty());
        names.iter().find_map(found).and_then(|(_, value)| tidy(value, max))
    };
    Some(Page {
        title: first(&["og:title", "twitter:title"], TITLE_MAX).or(title)?,
        description: first(
            &["og:description", "twitter:description", "description"],
            DESCRIPTION_MAX,
        ),
        image: first(
            &["og:image:secure_url", "og:image", "og:image:url", "twitter:image"],
            usize::MAX,
        ),
    })
}

fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.find(end).map_or("", |at| &text[at + end.len()..])
}

fn after_ignoring_case<'a>(text: &'a str, end: &str) -> &'a str {
    let at = text
        .as_bytes()
        .windows(end.len())
        .position(|part| part.eq_ignore_ascii_case(end.as_bytes()));
    at.and_then(|at| text.get(at + end.len()..)).unwrap_or("")
}

/// Is `rest`, what follows a `<`, an opening tag of this name?
fn is_tag(rest: &str, name: &str) -> bool {
    let start = rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    start && !rest[name.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '-')
}

/// What a `meta` element is about, and its content.
fn meta(attributes: &[(String, String)]) -> Option<(String, String)> {
    let get = |name| attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let about = get("property").or_else(|| get("name"))?;
    Some((about.trim().to_ascii_lowercase(), get("content")?.clone()))
}

/// The attributes of a tag, names in lower case, and what follows the tag.
fn attributes(tag: &str) -> (Vec<(String, String)>, &str) {
    let mut found = Vec::new();
    let mut rest = tag;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        if let Some(left) = rest.strip_prefix('>') {
            return (found, left);
        }
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/'))
            .unwrap_or(rest.len());
        if rest.is_empty() {
            return (found, rest);
        }
        let (name, left) = rest.split_at(end.max(rest.chars().next().map_or(0, char::len_utf8)));
        let left = left.trim_start();
        let (value, left) = match left.strip_prefix('=') {
            Some(value) => attribute_value(value.trim_start()),
            None => ("", left),
        };
        found.push((name.to_ascii_lowercase(), value.to_owned()));
        rest = left;
    }
}

fn attribute_value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return quoted.split_once(quote).unwrap_or((quoted, ""));
        }
    }
    text.split_at(text.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(text.len()))
}

/// Text with its references replaced and its white space folded, cut to `max` characters; `None` if nothing is left.
fn tidy(text: &str, max: usize) -> Option<String> {
    let words: Vec<String> = decoded(text).split_whitespace().map(str::to_owned).collect();
    let text = words.join(" ");
    let cut: String = text.chars().take(max).collect();
    (!cut.is_empty()).then_some(cut)
}

/// Replaces character references.
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let reference = rest.find(';').filter(|end| *end <= 10).map(|end| (&rest[1..end], end + 1));
        match reference.and_then(|(name, length)| Some((character(name)?, length))) {
            Some((character, length)) => {
                out.push(character);
                rest = &rest[length..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// The references that titles have in practice.
fn character(name: &str) -> Option<char> {
    let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    });
    if let Some(number) = number {
        return char::from_u32(number).filter(|c| !c.is_control() || c.is_whitespace());
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "laquo" => '«',
        "raquo" => '»',
        "middot" => '·',
        "bull" => '•',
        "copy" => '©',
        "reg" => '®',
        "trade" => '™',
        "euro" => '€',
        "szlig" => 'ß',
        "auml" => 'ä',
        "ouml" => 'ö',
        "uuml" => 'ü',
        "eacute" => 'é',
        "egrave" => 'è',
        "agrave" => 'à',
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
