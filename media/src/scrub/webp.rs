//! WebP: the Exif and XMP chunks.

use super::{Format, Step, exif, hold_or_blank, xmp};

#[derive(Debug, Default)]
pub(super) struct Webp {
    begun: bool,
}

impl Format for Webp {
    fn next(&mut self) -> Step {
        if self.begun {
            return Step::Head(8);
        }
        self.begun = true;
        Step::Pass(12)
    }

    fn head(&mut self, held: &mut [u8]) -> Step {
        let Some((name, size)) = held.split_first_chunk::<4>() else { return Step::Rest };
        let Ok(size) = <[u8; 4]>::try_from(size) else { return Step::Rest };
        let size = u64::from(u32::from_le_bytes(size));
        let even = size + size % 2;
        match name {
            b"EXIF" | b"XMP " => hold_or_blank(8 + even, even),
            _ => Step::Pass(even),
        }
    }

    fn edit(&mut self, chunk: &mut [u8]) {
        let Some((head, content)) = chunk.split_at_mut_checked(8) else { return };
        if head.starts_with(b"XMP ") {
            return xmp::blank(content);
        }
        // Some programs write it as in a JPEG.
        let at = if content.starts_with(b"Exif\0\0") { 6 } else { 0 };
        exif::blank(&mut content[at..]);
    }
}
