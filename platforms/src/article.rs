//! Turns a caption into an article: its title, its body, and a slug.

use uuid::Uuid;

use crate::{Draft, Violation, settings::alt_text, text::is_blank};

/// Longest part of a slug that comes from the title.
const SLUG_TITLE_MAX: usize = 80;

/// Returns the title, cut to `max` characters: the given one, else the first line of the caption without a Markdown
/// heading mark.
pub fn title(given: Option<&str>, caption: &str, max: usize) -> String {
    let given = given.map(str::trim).filter(|title| !title.is_empty());
    let title = given.unwrap_or_else(|| {
        let line = first_line(caption);
        heading(line).unwrap_or(line)
    });
    let mut cut: String = title.chars().take(max).collect();
    if cut.len() < title.len() {
        cut.pop();
        cut.push('…');
    }
    cut
}

/// Returns the body: the caption without a heading that became the title.
pub fn body<'a>(given_title: Option<&str>, caption: &'a str) -> &'a str {
    if given_title.is_some() { caption } else { without_title(caption) }
}

fn first_line(caption: &str) -> &str {
    caption.lines().map(str::trim).find(|line| !is_blank(line)).unwrap_or_default()
}

/// Returns the text of an ATX heading.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let text = text.trim();
    ((1..=6).contains(&level) && line[level..].starts_with([' ', '\t']) && !text.is_empty())
        .then_some(text)
}

/// Returns a slug made from a title and a key: always the same for one draft, and different from that of any other.
pub fn slug(title: &str, key: Uuid) -> String {
    let title = slugify(title);
    let title = cut_at_hyphen(&title, SLUG_TITLE_MAX);
    let start = if title.is_empty() { "post" } else { title };
    format!("{start}-{}", key_digits(key))
}

/// Returns ten digits from the random end of the key.
fn key_digits(key: Uuid) -> String {
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

/// Converts a text to lower-case ASCII letters and digits with single hyphens between them: a slug that sites leave
/// unchanged.
pub fn slugify(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            '\'' | '’' => {}
            _ => match transliterate(c) {
                "" if slug.is_empty() || slug.ends_with('-') => {}
                "" => slug.push('-'),
                letters => slug.push_str(letters),
            },
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// Returns a Latin letter without its diacritics, as it is commonly written.
fn transliterate(c: char) -> &'static str {
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

/// Returns the text after a heading on the first line, if there is any.
fn without_title(caption: &str) -> &str {
    let start = caption.trim_start();
    let (line, rest) = start.split_once('\n').unwrap_or((start, ""));
    let is_title = heading(line.trim_end()).is_some() && !rest.trim().is_empty();
    if is_title { rest } else { caption }
}

/// Returns the text followed by every image but the first, which is the cover.
pub fn with_images(text: &str, draft: &Draft, alt_texts: &[String]) -> String {
    let mut whole = text.trim_end().trim_start_matches(['\r', '\n']).to_owned();
    for (index, media) in draft.media.iter().enumerate().skip(1) {
        let alt = alt_text(alt_texts, index).unwrap_or_default();
        let alt = alt.replace(['[', ']'], "").replace('\n', " ");
        whole.push_str(&format!("\n\n![{alt}](<{}>)", media.url));
    }
    whole
}

/// Returns the violation of an article that has no title and no text to make one from.
pub fn title_violation(draft: &Draft, given: Option<&str>) -> Vec<Violation> {
    if !title(given, &draft.caption, usize::MAX).is_empty() || draft.media.is_empty() {
        return Vec::new();
    }
    let message = "A post without text needs a title.";
    let remedy = "Set settings.title, or write a caption; its first line becomes the title.";
    vec![Violation::new("settings.title", "setting_required", message, remedy)]
}

/// Returns the violation of a slug that the site would change.
pub fn slug_violation(given: Option<&str>) -> Option<Violation> {
    let slug = given.filter(|slug| !slug.is_empty() && *slug != slugify(slug))?;
    let message = format!(
        "The slug {slug:?} may hold lower-case letters, digits and single hyphens between them."
    );
    Some(Violation::new(
        "settings.slug",
        "setting_invalid",
        message,
        "Use a slug like autumn-news-2030.",
    ))
}
