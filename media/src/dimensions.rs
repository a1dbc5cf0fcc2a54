//! How large a picture is shown, read from its header.

/// JPEG marks the turns 90° and 270°, with or without mirroring, by these values of the Exif tag (CIPA DC-008, 4.6.4).
const ON_ITS_SIDE: std::ops::RangeInclusive<u16> = 5..=8;
const ORIENTATION: u16 = 0x0112;

/// How many of an image's first bytes [`dimensions`] may need: previews and colour profiles stand before the size.
pub(crate) const HEADER: usize = 512 * 1024;

/// Width and height in pixels of a JPEG, PNG, GIF or WebP image as it is shown, so after the turn that a JPEG's Exif
/// data ask for. `None` for anything else, or if the size does not stand in `head` (512 KiB are practically always
/// enough). No pixels are decoded.
#[must_use]
pub fn dimensions(head: &[u8]) -> Option<(u32, u32)> {
    let mime = crate::sniff(head).filter(|mime| mime.starts_with("image/"))?;
    let size = imagesize::blob_size(head).ok()?;
    let width = u32::try_from(size.width).ok().filter(|width| *width > 0)?;
    let height = u32::try_from(size.height).ok().filter(|height| *height > 0)?;
    let turned =
        mime == "image/jpeg" && orientation(head).is_some_and(|value| ON_ITS_SIDE.contains(&value));
    Some(if turned { (height, width) } else { (width, height) })
}

/// How far a JPEG is turned to be shown, in degrees clockwise; mirroring is left aside.
pub(crate) fn rotation(jpeg: &[u8]) -> u16 {
    match orientation(jpeg) {
        Some(3 | 4) => 180,
        Some(5 | 6) => 90,
        Some(7 | 8) => 270,
        _ => 0,
    }
}

/// The orientation that a JPEG's Exif segment names.
fn orientation(jpeg: &[u8]) -> Option<u16> {
    let mut rest = jpeg.get(2..)?;
    loop {
        let [0xff, marker, high, low, ..] = *rest else { return None };
        // The picture's data begin: the segments before it are all there is.
        if marker == 0xda {
            return None;
        }
        let length = usize::from(u16::from_be_bytes([high, low]));
        let segment = rest.get(4..length.max(2) + 2)?;
        if marker == 0xe1
            && let Some(tiff) = segment.strip_prefix(b"Exif\0\0")
        {
            return Tiff::open(tiff)?.orientation();
        }
        rest = rest.get(length.max(2) + 2..)?;
    }
}

/// A TIFF structure, which Exif data are.
pub(crate) struct Tiff<'a> {
    bytes: &'a [u8],
    little: bool,
}

impl<'a> Tiff<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Option<Self> {
        let little = match bytes.get(..4)? {
            b"II*\0" => true,
            b"MM\0*" => false,
            _ => return None,
        };
        Some(Self { bytes, little })
    }

    /// The tag's value in the first directory. Entries are 12 bytes: tag, type, count, value.
    fn orientation(&self) -> Option<u16> {
        let directory = usize::try_from(self.long(4)?).ok()?;
        let entries = usize::from(self.short(directory)?);
        let at = (0..entries)
            .map(|entry| directory.saturating_add(2 + entry * 12))
            .take_while(|at| *at < self.bytes.len())
            .find(|at| self.short(*at) == Some(ORIENTATION))?;
        self.short(at + 8)
    }

    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn short(&self, at: usize) -> Option<u16> {
        let bytes = self.bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if self.little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    pub(crate) fn long(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }
}

#[cfg(test)]
mod tests {
    use super::dimensions;
    use crate::tests::files;

    #[test]
    fn each_kind_of_image_tells_its_size() {
        let images = [
            files::jpeg(640, 480, &[]),
            files::png(640, 480),
            files::gif(640, 480),
            files::webp(640, 480),
        ];
        for image in images {
            assert_eq!(dimensions(&image), Some((640, 480)));
        }
        assert_eq!(dimensions(&files::webp_lossless(640, 480)), Some((640, 480)));
        assert_eq!(dimensions(&files::webp_extended(640, 480)), Some((640, 480)));
    }

    #[test]
    fn a_jpeg_on_its_side_is_told_as_it_is_shown() {
        for little in [true, false] {
            for value in 1..=8 {
                let image = files::jpeg(640, 480, &files::exif(value, little));
                let shown = if value >= 5 { (480, 640) } else { (640, 480) };
                assert_eq!(dimensions(&image), Some(shown), "orientation {value}");
            }
        }
    }

    #[test]
    fn a_long_preview_before_the_size_does_not_hide_it() {
        let preview = files::segment(0xe2, &[0; 60_000]).repeat(5);
        assert_eq!(dimensions(&files::jpeg(32, 16, &preview)), Some((32, 16)));
    }

    #[test]
    fn a_file_cut_or_broken_anywhere_gives_none_or_a_size_and_never_a_panic() {
        let exif = files::exif(6, true);
        let images = [
            files::jpeg(640, 480, &exif),
            files::png(640, 480),
            files::gif(640, 480),
            files::webp(640, 480),
        ];
        for image in images {
            for end in 0..image.len() {
                let found = dimensions(&image[..end]);
                assert!(
                    matches!(found, None | Some((640, 480) | (480, 640))),
                    "cut at {end}: {found:?}"
                );
            }
            for at in 0..image.len() {
                for value in [0x00, 0x7f, 0xff] {
                    let mut broken = image.clone();
                    broken[at] = value;
                    let _ = dimensions(&broken);
                }
            }
        }
    }

    #[test]
    fn films_documents_and_empty_pictures_have_none() {
        for (mime, bytes) in files::each() {
            assert_eq!(dimensions(&bytes).is_some(), mime.starts_with("image/"), "{mime}");
        }
        assert_eq!(dimensions(&files::png(0, 480)), None);
        assert_eq!(dimensions(&files::gif(640, 0)), None);
    }
}
