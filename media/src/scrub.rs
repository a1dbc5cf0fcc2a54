//! Where a picture was taken is nobody's business: it is blanked while the file comes in, before it is stored.
//!
//! Only metadata are touched, and no byte is added or removed, so sizes and offsets stay what they were. What else
//! metadata say (whose picture it is, that it was generated) stays.

use crate::dimensions::Tiff;

/// The largest piece of metadata that is held to be blanked.
const MOST: usize = 4 * 1024 * 1024;

/// The entry of a first directory that leads to the one of the place (CIPA DC-008, 4.6.3).
const PLACE: u16 = 0x8825;

/// What of a file has come, as far as it must be known.
pub(crate) struct Scrub {
    format: Format,
    held: Vec<u8>,
    next: Next,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Jpeg,
    Png,
    Webp,
}

/// What comes next.
#[derive(Debug, Clone, Copy)]
enum Next {
    /// The beginning of a part, of so many bytes.
    Head(usize),
    /// So many bytes to be passed on.
    Pass(u64),
    /// So many bytes of metadata.
    Edit(usize),
    /// Nothing that matters.
    Rest,
}

impl Scrub {
    /// For a file of this type; what is no JPEG, PNG or WebP passes as it is.
    pub fn new(mime: &str) -> Self {
        let (format, next) = match mime {
            "image/jpeg" => (Format::Jpeg, Next::Pass(2)),
            "image/png" => (Format::Png, Next::Pass(8)),
            "image/webp" => (Format::Webp, Next::Pass(12)),
            _ => (Format::Png, Next::Rest),
        };
        Self { format, held: Vec::new(), next }
    }

    /// Takes the next bytes and appends to `out` what may be stored by now.
    pub fn push(&mut self, mut piece: &[u8], out: &mut Vec<u8>) {
        while !piece.is_empty() {
            match self.next {
                Next::Rest => return out.extend_from_slice(piece),
                Next::Pass(left) => {
                    let now = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    out.extend_from_slice(&piece[..now]);
                    piece = &piece[now..];
                    let left = left - now as u64;
                    self.next = if left > 0 { Next::Pass(left) } else { self.head() };
                }
                Next::Head(size) | Next::Edit(size) => {
                    let now = piece.len().min(size - self.held.len());
                    self.held.extend_from_slice(&piece[..now]);
                    piece = &piece[now..];
                    if self.held.len() == size {
                        self.whole(out);
                    }
                }
            }
        }
    }

    /// What is left at the end; of a file that was cut off in its metadata these are blank.
    pub fn end(mut self) -> Vec<u8> {
        if matches!(self.next, Next::Edit(_)) {
            self.held.fill(0);
        }
        self.held
    }

    const fn head(&self) -> Next {
        match self.format {
            Format::Jpeg => Next::Head(4),
            Format::Png | Format::Webp => Next::Head(8),
        }
    }

    /// A head or a piece of metadata is complete.
    fn whole(&mut self, out: &mut Vec<u8>) {
        let edited = matches!(self.next, Next::Edit(_));
        let next = if edited { self.head() } else { self.after_head() };
        if edited {
            match self.format {
                Format::Jpeg => in_jpeg(&mut self.held),
                Format::Png => in_png(&mut self.held),
                Format::Webp => in_webp(&mut self.held),
            }
        }
        // A PNG's checksum is over the name of the part as well, so that is held with it.
        if let (Format::Png, Next::Edit(size)) = (self.format, next) {
            out.extend_from_slice(&self.held[..4]);
            self.held.drain(..4);
            self.next = Next::Edit(size + 4);
            return;
        }
        out.append(&mut self.held);
        self.next = next;
    }

    fn after_head(&self) -> Next {
        let head = &self.held;
        match self.format {
            Format::Jpeg => {
                let content = usize::from(u16::from_be_bytes([head[2], head[3]])).saturating_sub(2);
                match (head[0], head[1]) {
                    // From here on there are pixels.
                    (0xff, 0xda | 0xd9) => Next::Rest,
                    (0xff, 0xe1) if content > 0 => Next::Edit(content),
                    (0xff, _) if content > 0 => Next::Pass(content as u64),
                    (0xff, _) => Next::Head(4),
                    _ => Next::Rest,
                }
            }
            Format::Png => {
                let size = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
                match &head[4..8] {
                    b"IEND" => Next::Rest,
                    b"eXIf" | b"iTXt" => held_or_passed(u64::from(size) + 4),
                    _ => Next::Pass(u64::from(size) + 4),
                }
            }
            Format::Webp => {
                let size = u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
                let even = size + size % 2;
                match &head[..4] {
                    _ if even == 0 => Next::Head(8),
                    b"EXIF" | b"XMP " => held_or_passed(even),
                    _ => Next::Pass(even),
                }
            }
        }
    }
}

fn held_or_passed(size: u64) -> Next {
    match usize::try_from(size) {
        Ok(size) if size <= MOST => Next::Edit(size),
        _ => Next::Pass(size),
    }
}

fn in_jpeg(segment: &mut [u8]) {
    if let Some(exif) = segment.strip_prefix(b"Exif\0\0") {
        let at = segment.len() - exif.len();
        blank_place(&mut segment[at..]);
    } else if segment.starts_with(b"http://ns.adobe.com/x") {
        blank_words(segment);
    }
}

/// The name, the content and the checksum of a part.
fn in_png(part: &mut [u8]) {
    let Some(end) = part.len().checked_sub(4).filter(|end| *end >= 4) else { return };
    match &part[..4] {
        b"eXIf" => blank_place(&mut part[4..end]),
        // Not compressed, as XMP has to be.
        _ if part[4..].starts_with(b"XML:com.adobe.xmp\0\0") => blank_words(&mut part[4..end]),
        _ => return,
    }
    let sum = crc32fast::hash(&part[..end]);
    part[end..].copy_from_slice(&sum.to_be_bytes());
}

fn in_webp(content: &mut [u8]) {
    if Tiff::open(content).is_some() {
        return blank_place(content);
    }
    in_jpeg(content);
    blank_words(content);
}

/// Empties the directory of the place: its values, its entries, and their number.
fn blank_place(exif: &mut [u8]) {
    for (from, to) in places(exif).unwrap_or_default() {
        if let Some(stretch) = exif.get_mut(from..to) {
            stretch.fill(0);
        }
    }
}

/// The stretches that tell the place.
fn places(exif: &[u8]) -> Option<Vec<(usize, usize)>> {
    let tiff = Tiff::open(exif)?;
    let first = usize::try_from(tiff.long(4)?).ok()?;
    let entries = usize::from(tiff.short(first)?);
    let mut found = Vec::new();
    for entry in 0..entries {
        let at = first.checked_add(2 + entry * 12)?;
        let Some(tag) = tiff.short(at) else { break };
        if tag != PLACE {
            continue;
        }
        let place = usize::try_from(tiff.long(at + 8)?).ok()?;
        let count = usize::from(tiff.short(place)?);
        for value in 0..count {
            let value = place.checked_add(2 + value * 12)?;
            let (Some(kind), Some(number)) = (tiff.short(value + 2), tiff.long(value + 4)) else {
                break;
            };
            let size = u64::from(number).saturating_mul(width(kind));
            if size > 4 {
                let from = usize::try_from(tiff.long(value + 8)?).ok()?;
                let to = from.saturating_add(usize::try_from(size).ok()?).min(exif.len());
                found.push((from, to));
            }
        }
        found.push((place, place.checked_add(2 + count * 12)?.min(exif.len())));
    }
    Some(found)
}

/// Bytes of one value of a type (TIFF 6.0, section 2).
const fn width(kind: u16) -> u64 {
    match kind {
        1 | 2 | 6 | 7 => 1,
        3 | 8 => 2,
        5 | 10 | 12 => 8,
        _ => 4,
    }
}

/// Blanks the values of all names of an XMP text that begin with `GPS`, be they attributes or elements.
fn blank_words(text: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = find(&text[at..], b"GPS") {
        at += found;
        let name = text[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        at += name;
        let end = match text.get(at..) {
            Some([b'=', quote @ (b'"' | b'\''), ..]) => {
                let quote = *quote;
                at += 2;
                text[at..].iter().position(|byte| *byte == quote)
            }
            Some([b'>', ..]) => {
                at += 1;
                text[at..].iter().position(|byte| *byte == b'<')
            }
            _ => continue,
        };
        let end = end.map_or(text.len(), |end| at + end);
        text[at..end].fill(b' ');
        at = end;
    }
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|found| found == word)
}

#[cfg(test)]
mod tests {
    use super::Scrub;
    use crate::tests::files;

    /// An Exif structure with a camera's name and a place.
    fn exif(little: bool) -> Vec<u8> {
        let short = |n: u16| if little { n.to_le_bytes() } else { n.to_be_bytes() };
        let long = |n: u32| if little { n.to_le_bytes() } else { n.to_be_bytes() };
        let mut all = if little { b"II*\0".to_vec() } else { b"MM\0*".to_vec() };
        all.extend(long(8));
        all.extend(short(2));
        all.extend([&short(0x010f)[..], &short(2), &long(4), b"Cam\0"].concat());
        all.extend([&short(0x8825)[..], &short(4), &long(1), &long(38)].concat());
        all.extend(long(0));
        // The place: a reference in the entry itself, and three fractions behind the directory.
        all.extend(short(2));
        all.extend([&short(1)[..], &short(2), &long(2), b"N\0\0\0"].concat());
        all.extend([&short(2)[..], &short(5), &long(3), &long(68)].concat());
        all.extend(long(0));
        all.extend(b"SECRET-SECRET-SECRET-24!");
        all
    }

    const XMP: &[u8] =
        b"<x exif:GPSLatitude=\"52,SECRET\" dc:rights='mine'><exif:GPSLongitude>13,SECRET\
                         </exif:GPSLongitude></x>";

    fn scrubbed(mime: &str, file: &[u8], step: usize) -> Vec<u8> {
        let (mut scrub, mut out) = (Scrub::new(mime), Vec::new());
        for piece in file.chunks(step) {
            scrub.push(piece, &mut out);
        }
        out.extend(scrub.end());
        out
    }

    fn located() -> Vec<(&'static str, Vec<u8>)> {
        let app1 = |content: &[u8]| files::segment(0xe1, content);
        let chunk = |name: &[u8; 4], content: &[u8]| {
            let named = [&name[..], content].concat();
            let size = u32::try_from(content.len()).unwrap().to_be_bytes();
            [&size[..], &named, &crc32fast::hash(&named).to_be_bytes()].concat()
        };
        let riff = |name: &[u8; 4], content: &[u8]| {
            let size = u32::try_from(content.len()).unwrap().to_le_bytes();
            [&name[..], &size, content, &[0][..content.len() % 2]].concat()
        };
        let mut all = Vec::new();
        for little in [true, false] {
            let segments = [
                app1(&[b"Exif\0\0", &exif(little)[..]].concat()),
                app1(&[b"http://ns.adobe.com/xap/1.0/\0", XMP].concat()),
            ];
            all.push(("image/jpeg", files::jpeg(64, 48, &segments.concat())));
            let png = files::png(64, 48);
            let text = [b"XML:com.adobe.xmp\0\0\0\0\0", XMP].concat();
            let parts = [chunk(b"eXIf", &exif(little)), chunk(b"iTXt", &text)].concat();
            all.push(("image/png", [&png[..33], &parts, &png[33..]].concat()));
            let parts = [riff(b"EXIF", &exif(little)), riff(b"XMP ", XMP)].concat();
            all.push(("image/webp", [files::webp(64, 48), parts].concat()));
        }
        all
    }

    #[test]
    fn the_place_is_gone_and_everything_else_is_there() {
        for (mime, file) in located() {
            let clean = scrubbed(mime, &file, usize::MAX);
            let has = |word: &[u8]| clean.windows(word.len()).any(|found| found == word);
            assert!(!has(b"SECRET"), "{mime}");
            assert!(has(b"Cam\0") && has(b"dc:rights='mine'"), "{mime}");
            assert_eq!(clean.len(), file.len(), "{mime}");
            assert_eq!(crate::dimensions(&clean), Some((64, 48)), "{mime}");
            for step in [1, 2, 3, 7, 64] {
                assert_eq!(scrubbed(mime, &file, step), clean, "{mime} in pieces of {step}");
            }
            if mime == "image/png" {
                let at = clean.windows(4).position(|name| name == b"eXIf").unwrap();
                let size = exif(true).len();
                let sum = crc32fast::hash(&clean[at..at + 4 + size]).to_be_bytes();
                assert_eq!(clean[at + 4 + size..at + 8 + size], sum);
            }
        }
    }

    #[test]
    fn files_cut_or_broken_anywhere_keep_their_size_and_stop_nothing() {
        for (mime, file) in located() {
            for end in 0..file.len() {
                assert_eq!(scrubbed(mime, &file[..end], 5).len(), end, "{mime} cut at {end}");
            }
            for at in 0..file.len() {
                for value in [0, 0x7f, 0xff] {
                    let mut broken = file.clone();
                    broken[at] = value;
                    assert_eq!(scrubbed(mime, &broken, 64).len(), file.len(), "{mime} at {at}");
                }
            }
        }
    }

    #[test]
    fn what_holds_no_place_passes_as_it_is() {
        for (mime, file) in files::each() {
            assert_eq!(scrubbed(mime, &file, 3), file, "{mime}");
        }
    }
}
