//! Reads a page's metadata: Open Graph, else its title and description.
//!
//! The page is only tokenized, as the HTML standard defines it. No tree is built: that takes quadratic time for a page
//! with deeply nested elements (ADR 34).

use html5gum::{StartTag, Token, Tokenizer, emitters::default::DefaultEmitter};

/// The longest texts that are used, in characters.
const TITLE_MAX: usize = 300;
const DESCRIPTION_MAX: usize = 1_000;

/// Longest address of a picture, in characters.
const ADDRESS_MAX: usize = 8_192;

/// The head of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// If it has one that can be read.
    pub title: Option<String>,
    /// If it has one that can be read.
    pub description: Option<String>,
    /// Address of an image, may be relative.
    pub image: Option<String>,
    /// The base of relative addresses, if not the page; may itself be relative.
    pub base: Option<String>,
    /// The character set that it declares.
    pub charset: Option<String>,
}

/// Names of `meta` elements with the same meaning, best first.
const TITLES: [&str; 2] = ["og:title", "twitter:title"];
const DESCRIPTIONS: [&str; 3] = ["og:description", "twitter:description", "description"];
const IMAGES: [&str; 4] = ["og:image:secure_url", "og:image", "og:image:url", "twitter:image"];

/// Returns the page's metadata, read from its start to the body.
pub fn read(html: &str) -> Head {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut reader = Reader::default();
    for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
        if reader.handle_token(token) {
            break;
        }
    }
    reader.head()
}

#[derive(Default)]
struct Reader {
    titles: [Option<String>; TITLES.len()],
    descriptions: [Option<String>; DESCRIPTIONS.len()],
    images: [Option<String>; IMAGES.len()],
    title: Option<String>,
    /// Between `<title>` and its end.
    in_title: bool,
    base: Option<String>,
    charset: Option<String>,
}

impl Reader {
    /// Handles a token; returns true when the rest is not needed.
    fn handle_token(&mut self, token: Token) -> bool {
        match token {
            Token::StartTag(tag) => match tag.name.as_slice() {
                b"body" => return true,
                b"title" => self.in_title = self.title.is_none(),
                b"meta" => self.meta(&tag),
                b"base" if self.base.is_none() => self.base = value(&tag, b"href"),
                _ => {}
            },
            Token::String(text) if self.in_title => {
                self.title.get_or_insert_default().push_str(&String::from_utf8_lossy(&text));
            }
            Token::EndTag(tag) if tag.name.as_slice() == b"title" => self.in_title = false,
            _ => {}
        }
        false
    }

    fn meta(&mut self, tag: &StartTag<()>) {
        if self.charset.is_none() {
            self.charset = value(tag, b"charset").or_else(|| charset_of_meta(tag));
        }
        let Some(content) = value(tag, b"content") else { return };
        let about = value(tag, b"property").or_else(|| value(tag, b"name")).unwrap_or_default();
        let about = about.trim().to_ascii_lowercase();
        set_if_empty(&TITLES, &mut self.titles, &about, || normalize_text(&content, TITLE_MAX));
        set_if_empty(&DESCRIPTIONS, &mut self.descriptions, &about, || {
            normalize_text(&content, DESCRIPTION_MAX)
        });
        set_if_empty(&IMAGES, &mut self.images, &about, || normalize_text(&content, ADDRESS_MAX));
    }

    fn head(self) -> Head {
        let title = self.title.and_then(|title| normalize_text(&title, TITLE_MAX));
        Head {
            title: self.titles.into_iter().flatten().next().or(title),
            description: self.descriptions.into_iter().flatten().next(),
            image: self.images.into_iter().flatten().next(),
            base: self.base,
            charset: self.charset,
        }
    }
}

/// Stores the first text of each name.
fn set_if_empty(
    names: &[&str],
    places: &mut [Option<String>],
    about: &str,
    text: impl FnOnce() -> Option<String>,
) {
    let place = names.iter().position(|name| *name == about).map(|index| &mut places[index]);
    if let Some(place) = place.filter(|place| place.is_none()) {
        *place = text();
    }
}

fn value(tag: &StartTag<()>, name: &[u8]) -> Option<String> {
    tag.attributes.get(name).map(|value| String::from_utf8_lossy(value).into_owned())
}

/// Returns the character set in the content type that a `meta` element declares.
fn charset_of_meta(tag: &StartTag<()>) -> Option<String> {
    value(tag, b"http-equiv").filter(|name| name.trim().eq_ignore_ascii_case("content-type"))?;
    super::charset::charset_parameter(&value(tag, b"content")?)
}

/// Collapses white space and cuts the text to `max` characters; `None` if nothing is left or it could not be decoded.
fn normalize_text(text: &str, max: usize) -> Option<String> {
    let mut tidied = String::new();
    for word in text.split_whitespace() {
        if !tidied.is_empty() {
            tidied.push(' ');
        }
        tidied.push_str(word);
        // A character has four bytes at most.
        if tidied.len() > 4 * max {
            break;
        }
    }
    let cut: String = tidied.chars().take(max).filter(|c| !c.is_control()).collect();
    (!cut.is_empty() && !cut.contains(char::REPLACEMENT_CHARACTER)).then_some(cut)
}

#[cfg(test)]
mod tests;
