//! Reads the displayed size of a picture from its header.

use std::{
    fs::File,
    io::{Cursor, Read},
    path::Path,
};

use crate::{Flaw, picture::DisplayMarks};

/// The number of first bytes of an image that [`dimensions`] may need, because previews and colour profiles can come
/// before the size.
pub(crate) const HEADER_BYTES: usize = 512 * 1024;

/// Returns the displayed width and height in pixels of a JPEG, PNG, GIF or WebP image, that is, after applying its Exif
/// orientation and with square pixels. Returns `None` for any other file, or if the size is not in `head` (512 KiB are
/// almost always enough). No pixels are decoded.
#[must_use]
pub fn dimensions(head: &[u8]) -> Option<(u32, u32)> {
    let (mime, size) = header_size(head)?;
    Some(DisplayMarks::read(&mut Cursor::new(head), mime).displayed_size(size))
}

/// Returns the width and height of the picture as stored.
pub(crate) fn stored_size(at: &Path) -> Result<(u32, u32), Flaw> {
    let mut head = Vec::new();
    File::open(at)?.take(HEADER_BYTES as u64).read_to_end(&mut head)?;
    let size = header_size(&head).map(|(_, size)| size);
    size.ok_or_else(|| Flaw::Unreadable("its size cannot be read".to_owned()))
}

fn header_size(head: &[u8]) -> Option<(&'static str, (u32, u32))> {
    let mime = crate::sniff(head).filter(|mime| mime.starts_with("image/"))?;
    let size = imagesize::blob_size(head).ok()?;
    let width = u32::try_from(size.width).ok().filter(|width| *width > 0)?;
    let height = u32::try_from(size.height).ok().filter(|height| *height > 0)?;
    Some((mime, (width, height)))
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
