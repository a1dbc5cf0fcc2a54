//! Serves stored media files to networks and people.

use std::ops::Range;

use fanfare_core::{
    Domain, Result,
    files::{self, ServedFile},
};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, ResBody, StatusCode,
        header::{
            ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY,
            CONTENT_TYPE, ETAG, IF_NONE_MATCH, IF_RANGE, RANGE,
        },
    },
};

use crate::{middleware::request::LogFields, reply, request_id};

/// The media types of files, by the extension they are stored with.
const TYPES: [(&str, &str); 14] = [
    ("aac", "audio/aac"),
    ("gif", "image/gif"),
    ("jpg", "image/jpeg"),
    ("m4a", "audio/mp4"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("ogg", "audio/ogg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("vtt", "text/vtt"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
];

/// `GET /media/{path}`. A file never changes.
pub struct Files(pub Domain);

#[async_trait]
impl Handler for Files {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        let name = req.params().get("path").cloned().unwrap_or_default();
        self.answer(&name, req, res).await;
    }
}

impl Files {
    /// Responds with the file of this name.
    pub async fn answer(&self, name: &str, req: &mut Request, res: &mut Response) {
        LogFields::set_route(req, "/media/{path}");
        let body = req.method() != Method::HEAD;
        if let Err(error) = self.send(name, req.headers(), res, body).await {
            let base_url = &self.0.settings.base_url;
            reply::write(res, reply::refusal(&error), &request_id::get(req), base_url);
        }
    }

    async fn send(
        &self,
        name: &str,
        asked: &HeaderMap,
        res: &mut Response,
        body: bool,
    ) -> Result<()> {
        let file = files::find(&self.0, name).await?;
        let (etag, size) = (file.etag.as_deref(), file.size);
        let wanted = if is_same(asked, IF_NONE_MATCH, etag) {
            FileRange::Nothing
        } else {
            requested_range(asked, etag, size)
        };
        let (status, range) = match &wanted {
            FileRange::Whole => (StatusCode::OK, 0..size),
            FileRange::Part(range) => (StatusCode::PARTIAL_CONTENT, range.clone()),
            FileRange::Nothing => (StatusCode::NOT_MODIFIED, 0..0),
            FileRange::Outside => (StatusCode::RANGE_NOT_SATISFIABLE, 0..0),
        };
        if matches!(wanted, FileRange::Whole | FileRange::Part(_)) {
            if body {
                let part = (status == StatusCode::PARTIAL_CONTENT).then(|| range.clone());
                let bytes = files::open(&self.0, &file, part).await?;
                res.replace_body(ResBody::stream(bytes.into_stream()));
            }
            set(res, CONTENT_LENGTH, &(range.end - range.start).to_string());
        }
        match wanted {
            FileRange::Part(range) => {
                let shown = format!("bytes {}-{}/{}", range.start, range.end - 1, size);
                set(res, CONTENT_RANGE, &shown);
            }
            FileRange::Outside => {
                set(res, CONTENT_RANGE, &format!("bytes */{size}"));
                res.replace_body(ResBody::Once(format!("The file has {size} bytes.\n").into()));
            }
            FileRange::Whole | FileRange::Nothing => {}
        }
        res.status_code(status);
        describe(res, name, &file, status);
        Ok(())
    }
}

fn describe(res: &mut Response, name: &str, file: &ServedFile, status: StatusCode) {
    let outside = status == StatusCode::RANGE_NOT_SATISFIABLE;
    let kind = content_type(file.mime.as_deref(), name);
    set(res, CONTENT_TYPE, if outside { "text/plain" } else { kind });
    set(res, ACCEPT_RANGES, "bytes");
    // A file that is opened as a page may do nothing in our origin.
    set(res, CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'");
    set(res, HeaderName::from_static("cross-origin-resource-policy"), "cross-origin");
    if !outside {
        match file.valid_for {
            None => set(res, CACHE_CONTROL, "public, max-age=31536000, immutable"),
            Some(left) => set(res, CACHE_CONTROL, &format!("private, max-age={}", left / 1_000)),
        }
    }
    if let Some(etag) = &file.etag {
        set(res, ETAG, etag);
    }
}

fn set(res: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        res.headers_mut().insert(name, value);
    }
}

/// Returns the type that was detected from the file's bytes, or that of its extension. Types outside the list are never
/// sent: no file can be a page or a script.
fn content_type(mime: Option<&str>, name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let is = |(end, kind): &&(&str, &str)| match mime {
        Some(mime) => mime == *kind,
        None => Some(*end) == extension,
    };
    TYPES.iter().find(is).map_or("application/octet-stream", |(_, kind)| kind)
}

#[derive(Debug, PartialEq, Eq)]
enum FileRange {
    Whole,
    Part(Range<u64>),
    /// Nothing: the caller has the file already.
    Nothing,
    Outside,
}

fn requested_range(asked: &HeaderMap, etag: Option<&str>, size: u64) -> FileRange {
    let Some(range) = asked.get(RANGE).and_then(|range| range.to_str().ok()) else {
        return FileRange::Whole;
    };
    if asked.contains_key(IF_RANGE) && !is_same(asked, IF_RANGE, etag) {
        return FileRange::Whole;
    }
    range.strip_prefix("bytes=").map_or(FileRange::Whole, |range| one_range(range.trim(), size))
}

/// Parses a single range. Several ranges or an invalid one are ignored, as RFC 9110 allows.
fn one_range(range: &str, size: u64) -> FileRange {
    let Some((first, last)) = range.split_once('-') else { return FileRange::Whole };
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let (start, end) = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => (first, last.saturating_add(1).min(size)),
        (Some(first), None) if last.trim().is_empty() => (first, size),
        (None, Some(0)) if first.trim().is_empty() => return FileRange::Outside,
        (None, Some(length)) if first.trim().is_empty() => (size.saturating_sub(length), size),
        _ => return FileRange::Whole,
    };
    if start < end { FileRange::Part(start..end) } else { FileRange::Outside }
}

/// Returns true if the header contains the file's current `ETag`.
fn is_same(asked: &HeaderMap, header: HeaderName, etag: Option<&str>) -> bool {
    let named = asked.get(header).and_then(|value| value.to_str().ok());
    let (Some(named), Some(etag)) = (named, etag) else { return false };
    named.split(',').map(str::trim).any(|one| one == "*" || one.trim_start_matches("W/") == etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_range_is_a_stretch_of_the_file() {
        let part = |text: &str| requested_range(&asked(&[("range", text)]), None, 10);
        assert_eq!(part("bytes=0-0"), FileRange::Part(0..1));
        assert_eq!(part("bytes=2-5"), FileRange::Part(2..6));
        assert_eq!(part("bytes=2-"), FileRange::Part(2..10));
        assert_eq!(part("bytes=-3"), FileRange::Part(7..10));
        assert_eq!(part("bytes=-30"), FileRange::Part(0..10));
        assert_eq!(part("bytes=5-18446744073709551615"), FileRange::Part(5..10));
        for outside in ["bytes=10-", "bytes=10-12", "bytes=-0"] {
            assert_eq!(part(outside), FileRange::Outside, "{outside}");
        }
        for nonsense in ["bytes=", "bytes=a-b", "bytes=5-2", "lines=1-2", "bytes=0-1,3-4"] {
            assert_eq!(part(nonsense), FileRange::Whole, "{nonsense}");
        }
    }

    #[test]
    fn an_empty_file_has_no_stretches() {
        assert_eq!(requested_range(&asked(&[("range", "bytes=0-")]), None, 0), FileRange::Outside);
        assert_eq!(requested_range(&asked(&[]), None, 0), FileRange::Whole);
    }

    #[test]
    fn a_stretch_of_another_version_is_not_sent() {
        let range = |tag| asked(&[("range", "bytes=1-2"), ("if-range", tag)]);
        assert_eq!(requested_range(&range("\"a\""), Some("\"a\""), 10), FileRange::Part(1..3));
        assert_eq!(requested_range(&range("\"b\""), Some("\"a\""), 10), FileRange::Whole);
    }

    #[test]
    fn a_file_that_is_known_is_not_sent_again() {
        let has = |tags| is_same(&asked(&[("if-none-match", tags)]), IF_NONE_MATCH, Some("\"a\""));
        assert!(has("\"a\"") && has("*") && has("\"x\", W/\"a\""));
        assert!(!has("\"x\""));
        assert!(!is_same(&asked(&[]), IF_NONE_MATCH, Some("\"a\"")));
    }

    #[test]
    fn no_file_is_a_page_whatever_is_said_of_it() {
        assert_eq!(content_type(None, "w/0a.png"), "image/png");
        assert_eq!(content_type(Some("image/jpeg"), "0a.png"), "image/jpeg");
        for (mime, name) in [(None, "w/0a.html"), (None, "png"), (Some("text/html"), "a.png")] {
            assert_eq!(content_type(mime, name), "application/octet-stream", "{name}");
        }
    }
}
