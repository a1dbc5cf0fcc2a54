//! From a caption to an article: its title, slug and HTML.

use pulldown_cmark::{Event, Options, Parser, html};
use uuid::Uuid;

use super::settings::Settings;
use crate::Draft;

/// Longest title in characters; WordPress has no limit, this one is Fanfare's.
pub const TITLE_MAX: usize = 200;
/// Longest slug in characters. WordPress stores 200 and may append a number.
pub const SLUG_MAX: usize = 150;
/// Longest part of a slug that comes from the title.
const SLUG_TITLE_MAX: usize = 80;

/// The title: the setting, else the first line of the caption without a Markdown heading mark.
pub fn title(draft: &Draft, settings: &Settings) -> String {
    let given = settings.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let title = given.unwrap_or_else(|| {
        let line = first_line(&draft.caption);
        heading(line).unwrap_or(line)
    });
    let mut cut: String = title.chars().take(TITLE_MAX).collect();
    if cut.len() < title.len() {
        cut.pop();
        cut.push('…');
    }
    cut
}

fn first_line(caption: &str) -> &str {
    caption.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The text of an ATX heading.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let text = text.trim();
    ((1..=6).contains(&level) && line[level..].starts_with([' ', '\t']) && !text.is_empty())
        .then_some(text)
}

/// The slug under which the post is sent and looked for: always the same for one draft.
pub fn slug(draft: &Draft, settings: &Settings) -> String {
    if let Some(slug) = settings.slug.as_ref().filter(|slug| !slug.is_empty()) {
        return slug.clone();
    }
    let title = slugified(&title(draft, settings));
    let title = cut_at_hyphen(&title, SLUG_TITLE_MAX);
    let start = if title.is_empty() { "post" } else { title };
    format!("{start}-{}", short(draft.key))
}

/// Ten digits of the random end of the key.
fn short(key: Uuid) -> String {
    let digits = key.simple().to_string();
    digits[digits.len() - 10..].to_owned()
}

fn cut_at_hyphen(slug: &str, max: usize) -> &str {
    match slug.get(..max) {
        Some(cut) if !slug[max..].starts_with('-') => {
            cut.rfind('-').map_or(cut, |hyphen| &cut[..hyphen])
        }
        Some(cut) => cut,
        None => slug,
    }
}

/// ASCII letters in lower case and digits, with single hyphens between them: a slug that the site leaves as it is.
pub fn slugified(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            '\'' | '’' => {}
            _ => match plain(c) {
                "" if slug.is_empty() || slug.ends_with('-') => {}
                "" => slug.push('-'),
                letters => slug.push_str(letters),
            },
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// Latin letters with marks, as they are commonly written without.
fn plain(c: char) -> &'static str {
    match c {
        'à' | 'á' | 'â' | 'ã' | 'å' | 'ā' | 'ă' | 'ą' => "a",
        'ä' | 'æ' => "ae",
        'ç' | 'ć' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
        'ğ' => "g",
        'ì' | 'í' | 'î' | 'ï' | 'ī' | 'į' | 'ı' => "i",
        'ł' | 'ľ' => "l",
        'ñ' | 'ń' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ø' | 'ō' | 'ő' => "o",
        'ö' | 'œ' => "oe",
        'ř' => "r",
        'ś' | 'š' | 'ş' | 'ș' => "s",
        'ß' => "ss",
        'ť' | 'ț' => "t",
        'þ' => "th",
        'ù' | 'ú' | 'û' | 'ū' | 'ů' | 'ű' => "u",
        'ü' => "ue",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => "",
    }
}

/// The caption as HTML. Line breaks are kept, as people who write captions expect; a heading that became the title is
/// not said twice.
pub fn html(draft: &Draft, settings: &Settings) -> String {
    let text = match settings.title {
        Some(_) => draft.caption.as_str(),
        None => without_title(&draft.caption),
    };
    let events = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let kept = events.map(|event| if event == Event::SoftBreak { Event::HardBreak } else { event });
    let mut out = String::with_capacity(text.len() * 2);
    html::push_html(&mut out, kept);
    out
}

/// What follows a heading on the first line, unless nothing follows.
fn without_title(caption: &str) -> &str {
    let start = caption.trim_start();
    let (line, rest) = start.split_once('\n').unwrap_or((start, ""));
    let is_title = heading(line.trim_end()).is_some() && !rest.trim().is_empty();
    if is_title { rest } else { caption }
}

/// An image below the text.
pub fn figure(address: &str, alt: &str) -> String {
    let (address, alt) = (escaped(address), escaped(alt));
    format!("<figure class=\"wp-block-image\"><img src=\"{address}\" alt=\"{alt}\"></figure>\n")
}

/// Text for an attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests;
