//! The reasons that a response is not an accepted file, in words for the user.

use crate::{CopyError, IntakeError, kind};

const SUPPORTED: &str = "JPEG, PNG, GIF, WebP, MP4, MOV and WebM files are supported, PDF for linkedin, and WebVTT for \
     captions";

pub(crate) fn unavailable(message: &str, retryable: bool) -> CopyError {
    CopyError::Unavailable { message: message.to_owned(), retryable }
}

pub(crate) fn no_answer() -> CopyError {
    unavailable("The server went silent before the file was complete.", true)
}

pub(crate) fn empty() -> CopyError {
    unavailable("The address gives an empty file.", false)
}

/// Returns the error for a response with an error status.
pub(crate) fn status(status: u16) -> CopyError {
    let retryable = matches!(status, 408 | 425 | 429 | 500..=599);
    let message = match status {
        300..=399 => format!("The address redirects too often, or to nowhere (HTTP {status})."),
        401 | 403 => format!(
            "The server refuses access to the file (HTTP {status}). A signed address may have expired."
        ),
        404 | 410 => format!("There is no file at the address (HTTP {status})."),
        _ => format!("The server answers HTTP {status} instead of the file."),
    };
    CopyError::Unavailable { message, retryable }
}

pub(crate) fn page() -> CopyError {
    let message = "The address gives a web page, not a file. Use the address of the file itself.";
    unavailable(message, false)
}

/// Returns the error for bytes of an unsupported type.
pub(crate) fn unsupported(head: &[u8]) -> IntakeError {
    if head.is_empty() {
        return IntakeError::Empty;
    }
    let what = match markup(head) {
        Some(Markup::Page) => return IntakeError::Page,
        Some(Markup::Svg) => "an SVG drawing".to_owned(),
        None => match kind::detect(head) {
            Some("image/heif") => return IntakeError::Heic,
            Some(mime) => format!("of type {mime}"),
            None => "of a type that is not known".to_owned(),
        },
    };
    IntakeError::Type(format!("The file is {what}."))
}

/// Returns the accepted types to use instead.
pub(crate) fn supported() -> String {
    format!("{SUPPORTED}.")
}

enum Markup {
    Page,
    Svg,
}

fn markup(head: &[u8]) -> Option<Markup> {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with('<') {
        return None;
    }
    let first = |tag: &str| text.find(tag).unwrap_or(usize::MAX);
    // A page may contain a drawing, and a drawing may contain a page. The outer one decides.
    let page = first("<html").min(first("<!doctype html")).min(first("<head")).min(first("<body"));
    match (page, first("<svg")) {
        (page, svg) if svg < page => Some(Markup::Svg),
        (usize::MAX, _) if !infer::text::is_html(head) => None,
        _ => Some(Markup::Page),
    }
}

#[cfg(test)]
mod tests {
    use super::{status, unsupported};
    use crate::{CopyError, IntakeError, tests::files};

    #[test]
    fn pages_are_told_from_drawings_and_other_text() {
        for page in [
            "<!DOCTYPE html><html><svg/></html>",
            "\u{feff}  \n<html lang=\"en\"><head>",
            "<?xml version=\"1.0\"?><!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\">",
            "<!-- hello --><body>",
            "<script>location = '/login'</script>",
        ] {
            assert_eq!(unsupported(page.as_bytes()), IntakeError::Page, "{page}");
        }
        for drawing in [
            "<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
            "<?xml version=\"1.0\"?>\n<!-- made by hand -->\n<svg><foreignObject><html/></foreignObject></svg>",
        ] {
            let IntakeError::Type(message) = unsupported(drawing.as_bytes()) else {
                panic!("{drawing}")
            };
            assert!(message.contains("SVG"), "{message}");
        }
        for other in ["<rss version=\"2.0\">", "{\"error\": \"<html>\"}", "plain text"] {
            assert!(matches!(unsupported(other.as_bytes()), IntakeError::Type(_)), "{other}");
        }
    }

    #[test]
    fn a_known_type_is_named_beside_the_supported_ones() {
        let CopyError::UnsupportedType { message } = unsupported(&files::ftyp(b"avif")).into()
        else {
            panic!()
        };
        assert_eq!(
            message,
            "The file is of type image/avif. JPEG, PNG, GIF, WebP, MP4, MOV and WebM files are supported, PDF for \
             linkedin, and WebVTT for captions."
        );
    }

    #[test]
    fn a_photo_of_a_phone_is_refused_with_what_to_do() {
        assert_eq!(unsupported(&files::ftyp(b"heic")), IntakeError::Heic);
        let CopyError::UnsupportedType { message } = IntakeError::Heic.into() else { panic!() };
        assert!(message.contains("HEIC photo") && message.contains("as JPEG"), "{message}");
    }

    #[test]
    fn only_passing_troubles_are_worth_a_retry() {
        let retryable =
            |code| matches!(status(code), CopyError::Unavailable { retryable: true, .. });
        for code in [408, 425, 429, 500, 502, 503, 504] {
            assert!(retryable(code), "{code}");
        }
        for code in [204, 206, 302, 304, 400, 401, 403, 404, 410, 451] {
            assert!(!retryable(code), "{code}");
        }
    }
}
