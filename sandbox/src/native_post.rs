//! Posts that users make natively on a network, not through Fanfare.

use crate::network::Medium;

/// A post that a user makes on the network itself.
#[derive(Debug, Clone)]
pub(crate) struct NativePost {
    /// The account as the caller named it: one login may post under several names.
    pub remote_id: String,
    /// A number that no other post has.
    pub unique: u64,
    pub at_ms: i64,
    pub text: String,
    pub post_type: String,
    pub media_urls: Vec<String>,
}

/// The last millisecond of the year 9999.
const LATEST_MS: i64 = 253_402_300_799_999;

impl NativePost {
    /// Returns its first file.
    pub fn medium(&self) -> Option<Medium> {
        self.media().next()
    }

    /// Returns its files, with types from their names. Nothing is fetched, so their sizes are unknown.
    pub fn media(&self) -> impl Iterator<Item = Medium> {
        self.media_urls.iter().map(|url| Medium {
            url: Some(url.clone()),
            mime: type_of(url).to_owned(),
            ..Medium::default()
        })
    }

    /// Returns its first line, cut to the length of a title, for networks whose articles require one.
    pub fn title(&self, most: usize) -> String {
        let line = self.text.lines().map(str::trim).find(|line| !line.is_empty());
        line.unwrap_or("Untitled").chars().take(most).collect()
    }

    /// Returns the first free number from the post's time in microseconds on, for ids that contain a time.
    pub fn free_number(&self, is_taken: impl Fn(u64) -> bool) -> u64 {
        let at_ms = self.at_ms.clamp(0, LATEST_MS).unsigned_abs();
        let mut number = at_ms * 1_000 + self.unique % 1_000;
        while is_taken(number) {
            number += 1;
        }
        number
    }
}

/// Returns the type of a file by its extension.
fn type_of(url: &str) -> &'static str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let end = path.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    match end.as_deref() {
        Some("mp4") => "video/mp4",
        Some("mov") => "video/quicktime",
        Some("webm") => "video/webm",
        Some("png") => "image/png",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        _ => "image/jpeg",
    }
}

#[cfg(test)]
mod tests {
    use super::{LATEST_MS, NativePost};

    fn new(text: &str, at_ms: i64) -> NativePost {
        NativePost {
            remote_id: String::new(),
            unique: 1_234_567,
            at_ms,
            text: text.to_owned(),
            post_type: String::new(),
            media_urls: ["a.mp4?b=c.png", "https://example.org/d/e.PNG", "f"]
                .map(Into::into)
                .into(),
        }
    }

    #[test]
    fn titles_are_first_lines() {
        for (text, title) in [("\n  one\ntwo", "one"), ("läuft", "läu"), (" \n", "Unt")] {
            assert_eq!(new(text, 0).title(3), title);
        }
    }

    #[test]
    fn names_tell_types() {
        let media: Vec<_> = new("", 0).media().map(|one| (one.file_name(), one.mime)).collect();
        let seen: Vec<_> =
            media.iter().map(|(name, mime)| (name.as_str(), mime.as_str())).collect();
        assert_eq!(seen, [("a.mp4", "video/mp4"), ("e.PNG", "image/png"), ("f", "image/jpeg")]);
    }

    #[test]
    fn numbers_begin_with_their_time_and_are_free() {
        assert_eq!(new("", 5).free_number(|_| false), 5_567);
        assert_eq!(new("", 5).free_number(|number| number < 5_570), 5_570);
        assert_eq!(new("", -5).free_number(|_| false), 567);
        assert_eq!(
            new("", i64::MAX).free_number(|_| false),
            LATEST_MS.unsigned_abs() * 1_000 + 567
        );
    }
}
