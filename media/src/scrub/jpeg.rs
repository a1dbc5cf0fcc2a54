//! JPEG: segments before, between and behind the pixels, and whole pictures behind the first one.

use super::{Format, Next, exif, holds, iptc, xmp};

const XMP: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
const MORE_XMP: &[u8] = b"http://ns.adobe.com/xmp/extension/\0";

/// The position in the file.
#[derive(Debug, Default, Clone, Copy)]
enum Place {
    /// At its first bytes.
    #[default]
    Start,
    /// In a picture.
    Picture,
    /// Behind the end of one. Another may follow (a preview, a gain map), with metadata of its own; the film that
    /// phones put there, and whatever else, is blanked.
    Behind,
}

#[derive(Debug, Default)]
pub(super) struct Jpeg(Place);

impl Format for Jpeg {
    fn next(&mut self) -> Next {
        match self.0 {
            Place::Start => {
                self.0 = Place::Picture;
                Next::Pass(2)
            }
            Place::Picture => Next::Marker,
            Place::Behind => Next::Head(1),
        }
    }

    fn head(&mut self, held: &mut [u8]) -> Next {
        match (self.0, &*held) {
            (Place::Behind, [0]) => Next::Pass(0),
            (Place::Behind, [0xff]) => Next::Head(2),
            (Place::Behind, [0xff, 0xd8]) => {
                self.0 = Place::Picture;
                Next::Pass(0)
            }
            (Place::Behind, _) => {
                held.fill(0);
                Next::Void
            }
            (_, [0xff, 0xd9]) => {
                self.0 = Place::Behind;
                Next::Pass(0)
            }
            // These stand alone.
            (_, [0xff, 0x01 | 0xd8]) => Next::Pass(0),
            (_, [0xff, _]) => Next::Head(4),
            (_, [0xff, code, high, low]) => {
                let size = u16::from_be_bytes([*high, *low]);
                let content = usize::from(size).saturating_sub(2);
                match code {
                    // Sizes, profiles and indexes; all other application segments may hold anything.
                    0xe0 | 0xe2 => Next::Pass(content as u64),
                    0xe1..=0xef | 0xfe => Next::Hold(4 + content),
                    _ => Next::Pass(content as u64),
                }
            }
            _ => Next::Rest,
        }
    }

    fn edit(&mut self, segment: &mut [u8]) {
        let Some((head, content)) = segment.split_at_mut_checked(4) else { return };
        if content.starts_with(b"Exif\0") && content.len() > 6 {
            exif::blank(&mut content[6..]);
        } else if content.starts_with(XMP) {
            xmp::blank(&mut content[XMP.len()..]);
        } else if content.starts_with(MORE_XMP) {
            // A stretch of a text that goes on in other segments: nobody can tell what in it is a place.
            content[MORE_XMP.len()..].fill(b' ');
        } else if head[1] == 0xed {
            iptc::blank(content);
        } else if holds(content, "gps") {
            content.fill(0);
        }
    }
}
