//! Detects the type of a file and the size of a picture from the first bytes.

/// A picture's type and size in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Picture {
    pub mime: &'static str,
    pub width: u32,
    pub height: u32,
}

/// Reads the head of a PNG, JPEG, GIF or WebP file.
pub(crate) fn picture(bytes: &[u8]) -> Option<Picture> {
    png(bytes).or_else(|| jpeg(bytes)).or_else(|| gif(bytes)).or_else(|| webp(bytes))
}

/// Returns the type of a video file (MP4, QuickTime or WebM), if it is one.
pub(crate) fn video(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(&[0x1a, 0x45, 0xdf, 0xa3]) {
        return Some("video/webm");
    }
    match (bytes.get(4..8)?, bytes.get(8..12)?) {
        (b"ftyp", b"qt  ") => Some("video/quicktime"),
        (b"ftyp", _) => Some("video/mp4"),
        (b"moov" | b"mdat" | b"wide", _) => Some("video/quicktime"),
        _ => None,
    }
}

/// Returns the type by content, of those that the sandbox detects.
pub(crate) fn sniff(bytes: &[u8]) -> Option<&'static str> {
    picture(bytes).map(|picture| picture.mime).or_else(|| video(bytes))
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn le16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn png(bytes: &[u8]) -> Option<Picture> {
    if !bytes.starts_with(b"\x89PNG\r\n\x1a\n") || bytes.get(12..16)? != b"IHDR" {
        return None;
    }
    let width = u32::from_be_bytes(bytes.get(16..20)?.try_into().ok()?);
    let height = u32::from_be_bytes(bytes.get(20..24)?.try_into().ok()?);
    Some(Picture { mime: "image/png", width, height })
}

fn jpeg(bytes: &[u8]) -> Option<Picture> {
    if !bytes.starts_with(&[0xff, 0xd8, 0xff]) {
        return None;
    }
    let mut at = 2;
    loop {
        // There may be any number of 0xff between segments.
        while *bytes.get(at)? == 0xff {
            at += 1;
        }
        let marker = *bytes.get(at)?;
        let frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if frame {
            return Some(Picture {
                mime: "image/jpeg",
                width: be16(bytes, at + 6)?,
                height: be16(bytes, at + 4)?,
            });
        }
        at += 1;
        if !matches!(marker, 0x01 | 0xd0..=0xd8) {
            at += be16(bytes, at)? as usize;
        }
        if *bytes.get(at)? != 0xff {
            return None;
        }
    }
}

fn gif(bytes: &[u8]) -> Option<Picture> {
    if !bytes.starts_with(b"GIF87a") && !bytes.starts_with(b"GIF89a") {
        return None;
    }
    Some(Picture { mime: "image/gif", width: le16(bytes, 6)?, height: le16(bytes, 8)? })
}

fn webp(bytes: &[u8]) -> Option<Picture> {
    if !bytes.starts_with(b"RIFF") || bytes.get(8..12)? != b"WEBP" {
        return None;
    }
    let (width, height) = match bytes.get(12..16)? {
        b"VP8 " => (le16(bytes, 26)? & 0x3fff, le16(bytes, 28)? & 0x3fff),
        b"VP8L" => {
            let bits = u32::from_le_bytes(bytes.get(21..25)?.try_into().ok()?);
            ((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1)
        }
        b"VP8X" => {
            let three = |at: usize| Some(le16(bytes, at)? | u32::from(*bytes.get(at + 2)?) << 16);
            (three(24)? + 1, three(27)? + 1)
        }
        _ => return None,
    };
    Some(Picture { mime: "image/webp", width, height })
}

#[cfg(test)]
mod tests {
    use super::{Picture, picture, video};

    #[test]
    fn heads_are_read() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 1, 0x40, 0, 0, 0, 0x20]);
        assert_eq!(picture(&png), Some(Picture { mime: "image/png", width: 320, height: 32 }));
        let jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 17, 8, 0, 10, 0, 20, 3];
        assert_eq!(picture(&jpeg), Some(Picture { mime: "image/jpeg", width: 20, height: 10 }));
        assert_eq!(
            picture(b"GIF89a\x05\0\x06\0"),
            Some(Picture { mime: "image/gif", width: 5, height: 6 })
        );
        assert_eq!(picture(b"<svg/>"), None);
        assert_eq!(picture(&jpeg[..9]), None);
        assert_eq!(video(b"\0\0\0\x18ftypmp42"), Some("video/mp4"));
        assert_eq!(video(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), None);
    }
}
