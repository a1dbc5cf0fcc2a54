//! Decodes a page as browsers do: by its byte order mark, its header or its `meta` element, else by detection.
//! <https://html.spec.whatwg.org/#determining-the-character-encoding>

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::head;

/// The number of bytes of a page that are searched for a declaration of its character set.
const PRESCAN_BYTES: usize = 1_024;

/// The text of a page.
#[derive(Debug)]
pub struct Decoded<'a> {
    /// The text. If the character set is unknown, only ASCII characters are right.
    pub text: Cow<'a, str>,
    /// True if the character set is known.
    pub known: bool,
}

/// Decodes the bytes of a page with this content type.
pub fn decode<'a>(bytes: &'a [u8], content_type: &str) -> Decoded<'a> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return decode_as(encoding, &bytes[length..]);
    }
    let header = charset_parameter(content_type);
    if let Some(encoding) = header.as_deref().and_then(encoding_by_label) {
        return decode_as(encoding, bytes);
    }
    let start = &bytes[..bytes.len().min(PRESCAN_BYTES)];
    let meta = head::read(&encoding_rs::mem::decode_latin1(start)).charset;
    // A page whose declaration could be read as ASCII is not UTF-16, whatever it declares.
    let ascii =
        |encoding: &'static Encoding| if encoding.is_ascii_compatible() { encoding } else { UTF_8 };
    if let Some(encoding) = meta.as_deref().and_then(encoding_by_label).map(ascii) {
        return decode_as(encoding, bytes);
    }
    if header.is_some() || meta.is_some() {
        return Decoded { known: false, ..decode_as(WINDOWS_1252, bytes) };
    }
    decode_as(guess_encoding(bytes), bytes)
}

fn decode_as<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> Decoded<'a> {
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    Decoded { text, known: true }
}

fn encoding_by_label(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label.trim().as_bytes())
}

/// Detects the character set of a page that declares none.
fn guess_encoding(bytes: &[u8]) -> &'static Encoding {
    let is_utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // The last character was cut off in the middle.
        Err(error) => error.error_len().is_none(),
    };
    if is_utf8 {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Returns the character set that a content type names.
pub fn charset_parameter(content_type: &str) -> Option<String> {
    const NAME: &str = "charset";
    let lower = content_type.to_ascii_lowercase();
    let at = lower.find(NAME)? + NAME.len();
    let value = lower[at..].trim_start().strip_prefix('=')?.trim_start();
    let ends = |c: char| c == ';' || c == '"' || c == '\'' || c.is_whitespace();
    let value = value.trim_start_matches(['"', '\'']);
    let value = &value[..value.find(ends).unwrap_or(value.len())];
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{charset_parameter, decode};

    const UKRAINIAN: &[u8] = b"\xcf\xf0\xe8\xe2\xb3\xf2"; // windows-1251

    #[test]
    fn the_header_stands_before_the_page_and_the_page_before_a_guess() {
        let meta = |charset: &str, title: &[u8]| {
            [format!("<meta charset={charset}><title>").as_bytes(), title].concat()
        };
        let long = [b"<!--".as_slice(), &[b'x'; 1_100], b"--><meta charset=windows-1251>"].concat();
        for (content_type, bytes, known, text) in [
            ("text/html; charset=\"windows-1251\"", UKRAINIAN.to_vec(), true, "Привіт"),
            ("text/html;charset=KOI8-U", b"\xf0\xd2\xc9\xd7\xa6\xd4".to_vec(), true, "Привіт"),
            ("text/html; charset=windows-1251", meta("utf-8", UKRAINIAN), true, "Привіт"),
            ("text/html", meta("'Windows-1251'", UKRAINIAN), true, "Привіт"),
            ("text/html; charset=klingon", meta("windows-1251", UKRAINIAN), true, "Привіт"),
            ("text/html; charset=klingon", b"abc".to_vec(), false, "abc"),
            ("text/html", meta("klingon", b"abc"), false, "abc"),
            ("text/html", meta("utf-16", "é".as_bytes()), true, "é"),
            ("text/html; charset=latin1", b"\xef\xbb\xbf\xc3\xa9".to_vec(), true, "é"),
            ("text/html; charset=gb18030", b"\xc4\xe3\xba\xc3".to_vec(), true, "你好"),
            ("text/html; charset=euc-kr", b"\xbe\xc8\xb3\xe7".to_vec(), true, "안녕"),
            ("text/html", "日本語".as_bytes().to_vec(), true, "日本語"),
            ("text/html", "日本語".as_bytes()[..8].to_vec(), true, "日本"),
            ("text/html", b"Caf\xe9 d\xe9j\xe0 vu".to_vec(), true, "Café déjà vu"),
            // A name further down than browsers look is not seen.
            ("text/html; charset=klingon", long, false, ""),
        ] {
            let decoded = decode(&bytes, content_type);
            assert_eq!(decoded.known, known, "{content_type} {text}");
            assert!(decoded.text.contains(text), "{content_type} {text}: {}", decoded.text);
        }
    }

    #[test]
    fn the_name_is_read_from_a_content_type() {
        for (content_type, name) in [
            ("text/html; charset=UTF-8", Some("utf-8")),
            ("text/html; Charset = 'x' ; a=b", Some("x")),
            ("text/html;charset=", None),
            ("text/html", None),
        ] {
            assert_eq!(charset_parameter(content_type).as_deref(), name, "{content_type}");
        }
    }
}
