//! The supported media types. A type is detected from the first bytes of a file only, never from a name or a header.

/// The number of first bytes that [`sniff`] needs, if the file has as many.
pub(crate) const SNIFF_BYTES: usize = 4096;

/// The supported types and their extensions. PDF is for LinkedIn documents, WebVTT for captions of
/// videos.
const SUPPORTED_TYPES: [(&str, &str); 9] = [
    ("image/jpeg", "jpg"),
    ("image/png", "png"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("video/mp4", "mp4"),
    ("video/quicktime", "mov"),
    ("video/webm", "webm"),
    ("application/pdf", "pdf"),
    (VTT, "vtt"),
];

/// The type of captions.
pub(crate) const VTT: &str = "text/vtt";

/// Audio types by the names of the library. They occur in inbox messages, but not in posts.
const SOUND_TYPES: [(&str, &str); 5] = [
    ("audio/mpeg", "mp3"),
    ("audio/m4a", "m4a"),
    ("audio/aac", "aac"),
    ("audio/ogg", "ogg"),
    ("audio/x-wav", "wav"),
];

/// The type of a file whose type is unknown.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// Major brands of MP4 files that the library does not know: newer versions of the base format, and Sony cameras.
const MORE_MP4_BRANDS: [&[u8; 4]; 7] =
    [b"iso7", b"iso8", b"iso9", b"isoa", b"isob", b"isoc", b"XAVC"];

/// Returns the media type of a file that begins with `head` if it is supported: JPEG, PNG, GIF, WebP, MP4, MOV, WebM,
/// PDF or WebVTT. The first 4 KiB are enough.
#[must_use]
pub fn sniff(head: &[u8]) -> Option<&'static str> {
    let found = match detect(head) {
        // Apple's name for an MP4 file that contains a video.
        Some("video/x-m4v") => "video/mp4",
        Some(found) => found,
        None if has_mp4_brand(head) => "video/mp4",
        None if is_vtt(head) => VTT,
        None => return None,
    };
    let (mime, _) = SUPPORTED_TYPES.into_iter().find(|(mime, _)| *mime == found)?;
    is_genuine(mime, head).then_some(mime)
}

/// Returns the type of a file of any kind: a supported type, the type that the bytes look like, or
/// `application/octet-stream`. Never the type of a web page.
pub(crate) fn detect_any(head: &[u8]) -> &'static str {
    let found = sniff(head).or_else(|| detect(head)).unwrap_or(UNKNOWN_TYPE);
    if found.starts_with("text/") { UNKNOWN_TYPE } else { found }
}

/// Returns the type that the bytes look like, supported or not.
pub(crate) fn detect(head: &[u8]) -> Option<&'static str> {
    infer::get(head).map(|kind| kind.mime_type())
}

/// Returns the supported types with their extensions.
pub(crate) fn supported_types() -> impl Iterator<Item = (&'static str, &'static str)> {
    SUPPORTED_TYPES.into_iter()
}

/// Returns the supported type with this name, which may be an alias or have parameters.
#[must_use]
pub fn supported(named: &str) -> Option<&'static str> {
    let named = named.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let named = match named.as_str() {
        "image/jpg" => "image/jpeg",
        "video/x-m4v" => "video/mp4",
        other => other,
    };
    SUPPORTED_TYPES.into_iter().find(|(mime, _)| *mime == named).map(|(mime, _)| mime)
}

/// Returns the file extension of a type.
#[must_use]
pub fn extension(mime: &str) -> &'static str {
    let mut all = SUPPORTED_TYPES.into_iter().chain(SOUND_TYPES);
    all.find(|(known, _)| *known == mime).map_or("bin", |(_, extension)| extension)
}

/// Checks signatures more strictly than the library, which checks only a part of some, or accepts them anywhere in the
/// head. For example, a page that mentions `%PDF` is not a document.
fn is_genuine(mime: &str, head: &[u8]) -> bool {
    match mime {
        "image/png" => head.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/gif" => head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a"),
        "image/webp" => head.starts_with(b"RIFF"),
        "application/pdf" => head.starts_with(b"%PDF-"),
        "video/quicktime" => {
            let first = head.get(4..8).unwrap_or_default();
            [b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"].iter().any(|atom| first == *atom)
        }
        _ => true,
    }
}

fn has_mp4_brand(head: &[u8]) -> bool {
    head.get(4..8) == Some(b"ftyp")
        && MORE_MP4_BRANDS.iter().any(|brand| head.get(8..12) == Some(brand.as_slice()))
}

/// Returns true if the first line is that of a WebVTT file (<https://www.w3.org/TR/webvtt1/#file-structure>).
fn is_vtt(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.strip_prefix(b"WEBVTT")
        .is_some_and(|rest| rest.first().is_none_or(|next| b" \t\r\n".contains(next)))
}

#[cfg(test)]
mod tests {
    use super::{detect_any, extension, sniff, supported, supported_types};
    use crate::tests::files;

    #[test]
    fn each_supported_type_is_told_by_its_bytes() {
        for (mime, bytes) in files::each() {
            assert_eq!(sniff(&bytes), Some(mime));
        }
        assert_eq!(files::each().len(), supported_types().count());
    }

    #[test]
    fn relatives_and_editions_count_as_their_type() {
        for brand in
            [b"isom", b"iso6", b"iso9", b"mp42", b"avc1", b"dash", b"M4V ", b"M4VH", b"XAVC"]
        {
            assert_eq!(sniff(&files::ftyp(brand)), Some("video/mp4"), "{}", brand.escape_ascii());
        }
        assert_eq!(sniff(b"\0\0\0\x08wide\0\0\x10\0mdat\0\0"), Some("video/quicktime"));
        assert_eq!(sniff(b"\0\0\x10\0moov\0\0\0\x6cmvhd"), Some("video/quicktime"));
        assert_eq!(sniff(b"GIF87a\x01\0\x01\0"), Some("image/gif"));
        for captions in [&b"WEBVTT"[..], b"\xef\xbb\xbfWEBVTT\r\n", b"WEBVTT - of a video\n\n"] {
            assert_eq!(sniff(captions), Some("text/vtt"));
            assert_eq!(detect_any(captions), "application/octet-stream");
        }
        for other in [&b"WEBVTTX\n"[..], b"\nWEBVTT\n", b"webvtt\n"] {
            assert_eq!(sniff(other), None);
        }
    }

    #[test]
    fn what_only_resembles_them_is_refused() {
        let others: [&[u8]; 16] = [
            b"",
            b"\xff\xd8",
            b"\x89PNG\r\n",
            b"GIF90a\x01\0\x01\0",
            b"XXXX\x04\0\0\0WEBPVP8 ",
            b"<!doctype html><p>%PDF-1.7",
            b"some texts, mdat and so on",
            b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
            b"<?xml version=\"1.0\"?><svg/>",
            b"{\"error\": \"not found\"}",
            b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0",
            b"II*\0\x08\0\0\0\x01\0\x02\0",
            b"PK\x03\x04\x14\0\0\0\x08\0",
            b"RIFF\x04\0\0\0AVI LIST",
            b"\x1f\x8b\x08\0\0\0\0\0",
            b"MZ\x90\0\x03\0\0\0",
        ];
        for bytes in others {
            assert_eq!(sniff(bytes), None, "{}", bytes.escape_ascii());
        }
        for brand in [b"heic", b"mif1", b"avif", b"avis", b"M4A ", b"3gp4", b"zzzz"] {
            assert_eq!(sniff(&files::ftyp(brand)), None, "{}", brand.escape_ascii());
        }
        assert_eq!(sniff(&files::ebml("matroska")), None);
    }

    #[test]
    fn where_any_type_is_taken_none_is_a_page() {
        let png = files::png(3, 2);
        let sounds: [(&[u8], &str); 3] = [
            (b"ID3\x03\0\0\0\0\0\0", "audio/mpeg"),
            (b"OggS\0\x02\0\0", "audio/ogg"),
            (b"RIFF\x04\0\0\0WAVEfmt ", "audio/x-wav"),
        ];
        assert_eq!(detect_any(&png), "image/png");
        for (bytes, mime) in sounds {
            assert_eq!(detect_any(bytes), mime);
            assert_ne!(extension(mime), "bin");
        }
        for bytes in [b"hello".as_slice(), b"#!/bin/sh\n", b"<!doctype html><p>"] {
            assert_eq!(detect_any(bytes), "application/octet-stream");
        }
    }

    #[test]
    fn a_type_is_known_by_its_names() {
        for (name, mime) in [
            ("image/png", "image/png"),
            ("IMAGE/JPG", "image/jpeg"),
            ("video/x-m4v", "video/mp4"),
            ("video/webm; codecs=vp9", "video/webm"),
        ] {
            assert_eq!(supported(name), Some(mime));
        }
        for name in ["", "image/*", "image/heic", "text/html", "image/svg+xml", "png"] {
            assert_eq!(supported(name), None, "{name}");
        }
    }

    #[test]
    fn the_extension_follows_from_the_type() {
        for (mime, ext) in supported_types() {
            assert_eq!(extension(mime), ext);
        }
    }
}
