//! PNG: Exif and text chunks, which may be compressed.

use super::{Format, MAX_HELD, Step, contains_word, exif, xmp};

/// The name of a chunk that every reader ignores (PNG, 5.4: ancillary, private, safe to copy).
const IGNORED_CHUNK: &[u8; 4] = b"noPe";

const XMP: &[u8] = b"XML:com.adobe.xmp\0";

#[derive(Debug, Default)]
pub(super) struct Png {
    begun: bool,
    ended: bool,
    /// The checksum of a chunk that is being blanked.
    sum: Option<[u8; 4]>,
}

impl Format for Png {
    fn next(&mut self) -> Step {
        if let Some(sum) = self.sum.take() {
            return Step::Put(sum.to_vec());
        }
        if self.ended {
            return Step::Void;
        }
        if self.begun {
            return Step::Head(8);
        }
        self.begun = true;
        Step::Pass(8)
    }

    fn head(&mut self, held: &mut [u8]) -> Step {
        let Some((size, name)) = held.split_first_chunk_mut::<4>() else { return Step::Rest };
        let content = u64::from(u32::from_be_bytes(*size));
        match &*name {
            b"eXIf" | b"iTXt" | b"tEXt" | b"zTXt" | b"caBX" => {}
            other => {
                self.ended = other == b"IEND";
                return Step::Pass(content + 4);
            }
        }
        let whole = 8 + content + 4;
        if let (true, Ok(size)) = (whole <= MAX_HELD, usize::try_from(whole)) {
            return Step::Hold(size);
        }
        name.copy_from_slice(IGNORED_CHUNK);
        self.sum = Some(blank_checksum(content));
        Step::Blank(content)
    }

    fn edit(&mut self, chunk: &mut [u8]) {
        let Some(end) = chunk.len().checked_sub(4).filter(|end| *end >= 8) else { return };
        let (named, content) = chunk[4..end].split_at_mut(4);
        if !is_kept(named, content) {
            named.copy_from_slice(IGNORED_CHUNK);
            content.fill(0);
        }
        let sum = crc32fast::hash(&chunk[4..end]);
        chunk[end..].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Blanks locations. Returns false if the whole chunk must be removed.
fn is_kept(name: &[u8], content: &mut [u8]) -> bool {
    match name {
        b"eXIf" => {
            exif::blank(content);
            true
        }
        b"caBX" => !contains_word(content, "gps"),
        b"iTXt" if content.starts_with(XMP) => match text_start(content) {
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
            !copied.iter().any(|word| contains_word(keyword, word))
        }
    }
}

/// Returns the start of the text of an `iTXt` chunk, if it is not compressed (as that of XMP has to be).
fn text_start(content: &[u8]) -> Option<usize> {
    let [0, _, rest @ ..] = content.get(XMP.len()..)? else { return None };
    let language = rest.iter().position(|byte| *byte == 0)? + 1;
    let translated = rest.get(language..)?.iter().position(|byte| *byte == 0)? + 1;
    Some(XMP.len() + 2 + language + translated)
}

fn blank_checksum(content: u64) -> [u8; 4] {
    let (mut sum, mut zeros) = (crc32fast::Hasher::new(), crc32fast::Hasher::new());
    sum.update(IGNORED_CHUNK);
    zeros.update(&[0]);
    // Computed by doubling, because a chunk may claim to have gigabytes that never arrive.
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
