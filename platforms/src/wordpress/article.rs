//! Converts a caption to a WordPress article: its title, slug and HTML.

use pulldown_cmark::{Event, Options, Parser, html};

use super::settings::Settings;
use crate::{Draft, article};

/// Longest title in characters; WordPress has no limit; this is Fanfare's own.
pub const TITLE_MAX: usize = 200;
/// Longest slug in characters. WordPress stores 200 and may append a number.
pub const SLUG_MAX: usize = 150;

/// Returns the title: the setting, else the first line of the caption.
pub fn title(draft: &Draft, settings: &Settings) -> String {
    article::title(settings.title.as_deref(), &draft.caption, TITLE_MAX)
}

/// Returns the slug with which the post is sent and looked up: always the same for one draft.
pub fn slug(draft: &Draft, settings: &Settings) -> String {
    if let Some(slug) = settings.slug.as_ref().filter(|slug| !slug.is_empty()) {
        return slug.clone();
    }
    article::slug(&title(draft, settings), draft.key)
}

/// Returns the caption as HTML. Line breaks are kept, as authors of captions expect; a heading that became the title is
/// left out.
pub fn html(draft: &Draft, settings: &Settings) -> String {
    let text = article::body(settings.title.as_deref(), &draft.caption);
    let events = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let kept = events.map(|event| if event == Event::SoftBreak { Event::HardBreak } else { event });
    let mut out = String::with_capacity(text.len() * 2);
    html::push_html(&mut out, kept);
    out
}

/// Returns the HTML of an image below the text.
pub fn figure(address: &str, alt: &str) -> String {
    let (address, alt) = (escaped(address), escaped(alt));
    format!("<figure class=\"wp-block-image\"><img src=\"{address}\" alt=\"{alt}\"></figure>\n")
}

/// Escapes a text for an HTML attribute.
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
