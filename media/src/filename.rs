//! Makes readable file names.

use percent_encoding::percent_decode_str;
use url::Url;

use crate::kind;

/// The longest name in characters, without its extension.
const MAX_NAME: usize = 80;
const DEFAULT_NAME: &str = "media";

/// Returns the last segment of an address as a file name; see [`filename`].
pub(crate) fn from_url(url: &Url, mime: &str) -> String {
    let last = url.path_segments().and_then(|mut all| all.next_back()).unwrap_or_default();
    clean(&percent_decode_str(last).decode_utf8_lossy(), mime)
}

/// Returns a user's file name in a form that is safe to show and to send on: without directories, without characters
/// that have a special meaning in a file system or a header or can mislead a reader, at most 80 characters long, and
/// with an extension of `mime`.
#[must_use]
pub fn filename(given: &str, mime: &str) -> String {
    clean(given.rsplit(['/', '\\']).next().unwrap_or_default(), mime)
}

fn clean(name: &str, mime: &str) -> String {
    let shown =
        name.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| is_plain(*c));
    let cleaned = shown.collect::<String>();
    let words = cleaned.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let (stem, given) = split_extension(words.trim_end_matches('.'));
    let kept = stem.chars().take(MAX_NAME).collect::<String>();
    let stem = match kept.trim_matches(['.', ' ']) {
        "" => DEFAULT_NAME,
        stem => stem,
    };
    format!("{stem}.{}", fitting_extension(given, mime))
}

/// Splits off the extension, if there is one: at most five letters and digits, and not only digits.
fn split_extension(name: &str) -> (&str, &str) {
    match name.rsplit_once('.') {
        Some((stem, end)) if is_extension(end) => (stem, end),
        _ => (name, ""),
    }
}

fn is_extension(end: &str) -> bool {
    (1..=5).contains(&end.len())
        && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !end.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the given extension if it is a common one of the type, else the default extension of the type.
fn fitting_extension(given: &str, mime: &str) -> String {
    let given = given.to_ascii_lowercase();
    match (mime, given.as_str()) {
        ("image/jpeg", "jpeg") | ("video/mp4", "m4v") => given,
        _ => kind::extension(mime).to_owned(),
    }
}

/// Returns false for control characters, separators, quotes, and characters that change the text direction or have no
/// width.
fn is_plain(c: char) -> bool {
    let unsafe_here =
        matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '\'' | '<' | '>' | '|' | '\u{fffd}');
    let invisible = matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    !c.is_control() && !unsafe_here && !invisible
}

#[cfg(test)]
mod tests {
    use super::{filename, from_url};

    #[test]
    fn names_come_from_the_last_segment_with_the_right_extension() -> Result<(), url::ParseError> {
        let cases = [
            ("https://a.example/x/photo.png?token=secret#part", "image/png", "photo.png"),
            ("https://a.example/photo.PNG", "image/png", "photo.png"),
            ("https://a.example/photo.jpeg", "image/jpeg", "photo.jpeg"),
            ("https://a.example/photo.png", "image/jpeg", "photo.jpg"),
            ("https://a.example/clip.m4v", "video/mp4", "clip.m4v"),
            ("https://a.example/image.php", "image/gif", "image.gif"),
            ("https://a.example/v1.2", "video/webm", "v1.2.webm"),
            ("https://a.example/archive.tar.gz", "application/pdf", "archive.tar.pdf"),
            ("https://a.example/", "image/png", "media.png"),
            ("https://a.example", "image/png", "media.png"),
            ("https://a.example/.png", "image/png", "media.png"),
            ("https://a.example/my%20holiday%20%20photo.jpg", "image/jpeg", "my holiday photo.jpg"),
            ("https://a.example/%E5%86%99%E7%9C%9F.jpg", "image/jpeg", "写真.jpg"),
            ("https://a.example/Grüße.webp", "image/webp", "Grüße.webp"),
        ];
        for (url, mime, name) in cases {
            assert_eq!(from_url(&url.parse()?, mime), name, "{url}");
        }
        Ok(())
    }

    #[test]
    fn a_given_name_loses_the_directories_before_it() {
        for given in ["C:\\fakepath\\my photo.PNG", "/home/ada/my  photo.png", "my photo"] {
            assert_eq!(filename(given, "image/png"), "my photo.png", "{given}");
        }
        for given in ["", "/", "..", "\u{202e}"] {
            assert_eq!(filename(given, "video/mp4"), "media.mp4", "{given}");
        }
    }

    #[test]
    fn nothing_in_a_name_can_act() -> Result<(), url::ParseError> {
        let cases = [
            ("..%2f..%2fetc%2fpasswd", "etcpasswd.png"),
            ("%2e%2e%5c%2e%2e%5cboot.ini", "boot.png"),
            ("a%00b%0d%0aSet-Cookie.png", "ab Set-Cookie.png"),
            ("%22%3Cscript%3E.png", "script.png"),
            ("gnp%E2%80%AEexe.png", "gnpexe.png"),
            ("%FF%FE.png", "media.png"),
            ("%20..%20.png", "media.png"),
        ];
        for (segment, name) in cases {
            let url = format!("https://a.example/x/{segment}").parse()?;
            let made = from_url(&url, "image/png");
            assert!(!made.contains(['/', '\\', '"', '\0', '\r', '\n']), "{made}");
            assert_eq!(made, name, "{segment}");
        }
        let long = format!("https://a.example/{}.png", "é".repeat(500)).parse()?;
        assert_eq!(from_url(&long, "image/png").chars().count(), 84);
        Ok(())
    }
}
