//! PNG: chunks of Exif and of text, which may be compressed.

use super::{Format, MOST, Next, exif, holds, xmp};

/// The name of a chunk that every reader passes over (PNG, 5.4: ancillary, private, safe to copy).
const NOTHING: &[u8; 4] = b"noPe";

const XMP: &[u8] = b"XML:com.adobe.xmp\0";

#[derive(Debug, Default)]
pub(super) struct Png {
    begun: bool,
    ended: bool,
    /// The checksum of a chunk that is being blanked.
    sum: Option<[u8; 4]>,
}

impl Format for Png {
    fn next(&mut self) -> Next {
        if let Some(sum) = self.sum.take() {
            return Next::Put(sum.to_vec());
        }
        if self.ended {
            return Next::Void;
        }
        if self.begun {
            return Next::Head(8);
        }
        self.begun = true;
        Next::Pass(8)
    }

    fn head(&mut self, held: &mut [u8]) -> Next {
        let Some((size, name)) = held.split_first_chunk_mut::<4>() else { return Next::Rest };
        let content = u64::from(u32::from_be_bytes(*size));
        match &*name {
            b"eXIf" | b"iTXt" | b"tEXt" | b"zTXt" | b"caBX" => {}
            other => {
                self.ended = other == b"IEND";
                return Next::Pass(content + 4);
            }
        }
        let whole = 8 + content + 4;
        if let (true, Ok(size)) = (whole <= MOST, usize::try_from(whole)) {
            return Next::Hold(size);
        }
        name.copy_from_slice(NOTHING);
        self.sum = Some(sum_of_nothing(content));
        Next::Blank(content)
    }

    fn edit(&mut self, chunk: &mut [u8]) {
        let Some(end) = chunk.len().checked_sub(4).filter(|end| *end >= 8) else { return };
        let (named, content) = chunk[4..end].split_at_mut(4);
        if !is_kept(named, content) {
            named.copy_from_slice(NOTHING);
            content.fill(0);
        }
        let sum = crc32fast::hash(&chunk[4..end]);
        chunk[end..].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Blanks what tells a place; false if the whole chunk has to go.
fn is_kept(name: &[u8], content: &mut [u8]) -> bool {
    match name {
        b"eXIf" => {
            exif::blank(content);
            true
        }
        b"caBX" => !holds(content, "gps"),
        b"iTXt" if content.starts_with(XMP) => match text_of(content) {
            Some(at) => {
                xmp::blank(&mut content[at..]);
                true
            }
            None => false,
        },
        _ => {
            let keyword = content.split(|byte| *byte == 0).next().unwrap_or_default();
            // The keywords under which ImageMagick and others store Exif, IPTC and XMP.
            let copied = ["raw profile", "exif:", "gps", "location", "xmp"];
            !copied.iter().any(|word| holds(keyword, word))
        }
    }
}

/// Returns the start of the text of an `iTXt` chunk, if it is not compressed (as that of XMP has to be).
fn text_of(content: &[u8]) -> Option<usize> {
    let [0, _, rest @ ..] = content.get(XMP.len()..)? else { return None };
    let language = rest.iter().position(|byte| *byte == 0)? + 1;
    let translated = rest.get(language..)?.iter().position(|byte| *byte == 0)? + 1;
    Some(XMP.len() + 2 + language + translated)
}

fn sum_of_nothing(content: u64) -> [u8; 4] {
    let (mut sum, mut zeros) = (crc32fast::Hasher::new(), crc32fast::Hasher::new());
    sum.update(NOTHING);
    zeros.update(&[0]);
    // By doubling: what a chunk claims to hold may be gigabytes that never come.
    let mut left = content;
    while left > 0 {
        if left % 2 == 1 {
            sum.combine(&zeros);
        }
        let same = zeros.clone();
        zeros.combine(&same);
        left /= 2;
    }
    sum.finalize().to_be_bytes()
}
