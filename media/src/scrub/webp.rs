//! WebP: the chunks of Exif and XMP.

use super::{Format, Next, exif, held_or_blanked, xmp};

#[derive(Debug, Default)]
pub(super) struct Webp {
    begun: bool,
}

impl Format for Webp {
    fn next(&mut self) -> Next {
        if self.begun {
            return Next::Head(8);
        }
        self.begun = true;
        Next::Pass(12)
    }

    fn head(&mut self, held: &mut [u8]) -> Next {
        let Some((name, size)) = held.split_first_chunk::<4>() else { return Next::Rest };
        let Ok(size) = <[u8; 4]>::try_from(size) else { return Next::Rest };
        let size = u64::from(u32::from_le_bytes(size));
        let even = size + size % 2;
        match name {
            b"EXIF" | b"XMP " => held_or_blanked(8 + even, even),
            _ => Next::Pass(even),
        }
    }

    fn edit(&mut self, chunk: &mut [u8]) {
        let Some((head, content)) = chunk.split_at_mut_checked(8) else { return };
        if head.starts_with(b"XMP ") {
            return xmp::blank(content);
        }
        // Some write it as it stands in a JPEG.
        let at = if content.starts_with(b"Exif\0\0") { 6 } else { 0 };
        exif::blank(&mut content[at..]);
    }
}
