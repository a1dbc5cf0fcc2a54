//! JPEG: segments before, between and after the pixels, and whole pictures after the first one.

use super::{Format, Step, contains_word, exif, iptc, xmp};

const XMP: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
const EXTENDED_XMP: &[u8] = b"http://ns.adobe.com/xmp/extension/\0";

/// The position in the file.
#[derive(Debug, Default, Clone, Copy)]
enum Position {
    /// At its first bytes.
    #[default]
    Start,
    /// In a picture.
    Picture,
    /// After the end of a picture. Another one with its own metadata may follow (a preview or a gain map). The video
    /// that
    /// phones append, and all other data, is blanked.
    Behind,
}

#[derive(Debug, Default)]
pub(super) struct Jpeg(Position);

impl Format for Jpeg {
    fn next(&mut self) -> Step {
        match self.0 {
            Position::Start => {
                self.0 = Position::Picture;
                Step::Pass(2)
            }
            Position::Picture => Step::Marker,
            Position::Behind => Step::Head(1),
        }
    }

    fn head(&mut self, held: &mut [u8]) -> Step {
        match (self.0, &*held) {
            (Position::Behind, [0]) => Step::Pass(0),
            (Position::Behind, [0xff]) => Step::Head(2),
            (Position::Behind, [0xff, 0xd8]) => {
                self.0 = Position::Picture;
                Step::Pass(0)
            }
            (Position::Behind, _) => {
                held.fill(0);
                Step::Void
            }
            (_, [0xff, 0xd9]) => {
                self.0 = Position::Behind;
                Step::Pass(0)
            }
            // These markers have no content.
            (_, [0xff, 0x01 | 0xd8]) => Step::Pass(0),
            (_, [0xff, _]) => Step::Head(4),
            (_, [0xff, code, high, low]) => {
                let size = u16::from_be_bytes([*high, *low]);
                let content = usize::from(size).saturating_sub(2);
                match code {
                    // Sizes, profiles and indexes. All other application segments may contain anything.
                    0xe0 | 0xe2 => Step::Pass(content as u64),
                    0xe1..=0xef | 0xfe => Step::Hold(4 + content),
                    _ => Step::Pass(content as u64),
                }
            }
            _ => Step::Rest,
        }
    }

    fn edit(&mut self, segment: &mut [u8]) {
        let Some((head, content)) = segment.split_at_mut_checked(4) else { return };
        if content.starts_with(b"Exif\0") && content.len() > 6 {
            exif::blank(&mut content[6..]);
        } else if content.starts_with(XMP) {
            xmp::blank(&mut content[XMP.len()..]);
        } else if content.starts_with(EXTENDED_XMP) {
            // A part of a text that continues in other segments, so locations in it cannot be found.
            content[EXTENDED_XMP.len()..].fill(b' ');
        } else if head[1] == 0xed {
            iptc::blank(content);
        } else if contains_word(content, "gps") {
            content.fill(0);
        }
    }
}
