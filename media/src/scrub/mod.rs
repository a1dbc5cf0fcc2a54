//! Blanks location metadata while a file is received, before it is stored.
//!
//! Only metadata is changed, and no byte is added or removed, so sizes and offsets stay the same. Other metadata (the
//! author, or that a picture was generated) is kept. Metadata that cannot be parsed is blanked completely.

mod boxes;
mod exif;
mod film;
mod gif;
mod iptc;
mod jpeg;
mod png;
#[cfg(test)]
mod tests;
mod webm;
mod webp;
mod xmp;

/// The largest piece of metadata that is held in memory and parsed. A larger one is blanked.
const MAX_HELD: u64 = 4 * 1024 * 1024;

/// The action for the next part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// Hold the header of a part until it has this many bytes.
    Head(usize),
    /// Hold a part that must be parsed until it has this many bytes.
    Hold(usize),
    /// Pass on this many bytes.
    Pass(u64),
    /// Replace this many bytes by zeros.
    Blank(u64),
    /// Replace the next bytes of the file by these bytes.
    Put(Vec<u8>),
    /// Pass on everything up to the next JPEG marker, which begins a part.
    Marker,
    /// Pass on the rest of the file.
    Rest,
    /// Blank the rest of the file, because it does not belong to the format.
    Void,
}

/// A parser of a file format that finds metadata.
trait Format: Send {
    /// Returns the first part, and the part after each.
    fn next(&mut self) -> Step;

    /// Returns the part after the held bytes, which may be changed before they are passed on.
    fn head(&mut self, held: &mut [u8]) -> Step;

    /// Blanks locations in a part that is held.
    fn edit(&mut self, part: &mut [u8]);
}

/// Removes locations from a file that is being received.
pub(crate) struct Scrub {
    format: Option<Box<dyn Format>>,
    held: Vec<u8>,
    next: Step,
}

impl Scrub {
    /// Creates a scrubber for a file of this type. Documents are not changed.
    pub fn new(mime: &str) -> Self {
        let mut format: Option<Box<dyn Format>> = match mime {
            "image/jpeg" => Some(Box::new(jpeg::Jpeg::default())),
            "image/png" => Some(Box::new(png::Png::default())),
            "image/webp" => Some(Box::new(webp::Webp::default())),
            "image/gif" => Some(Box::new(gif::Gif::default())),
            "video/mp4" | "video/quicktime" => Some(Box::new(film::Film::default())),
            "video/webm" => Some(Box::new(webm::Webm::default())),
            _ => None,
        };
        let next = format.as_mut().map_or(Step::Rest, |format| format.next());
        Self { format, held: Vec::new(), next }
    }

    /// Receives the next bytes and appends to `out` the bytes that can be stored now.
    pub fn push(&mut self, mut piece: &[u8], out: &mut Vec<u8>) {
        while !piece.is_empty() {
            match &mut self.next {
                Step::Rest => return out.extend_from_slice(piece),
                Step::Void => return out.resize(out.len() + piece.len(), 0),
                Step::Pass(left) | Step::Blank(left) => {
                    let now = piece.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= now as u64;
                    let ended = *left == 0;
                    if matches!(self.next, Step::Pass(_)) {
                        out.extend_from_slice(&piece[..now]);
                    } else {
                        out.resize(out.len() + now, 0);
                    }
                    piece = &piece[now..];
                    if ended {
                        self.next_part(out);
                    }
                }
                Step::Put(bytes) => {
                    let now = piece.len().min(bytes.len());
                    out.extend(bytes.drain(..now));
                    let ended = bytes.is_empty();
                    piece = &piece[now..];
                    if ended {
                        self.next_part(out);
                    }
                }
                Step::Head(size) | Step::Hold(size) => {
                    let now = piece.len().min(size.saturating_sub(self.held.len()));
                    self.held.extend_from_slice(&piece[..now]);
                    piece = &piece[now..];
                    if self.held.len() >= *size {
                        self.finish_held(out);
                    }
                }
                Step::Marker => piece = self.seek_marker(piece, out),
            }
        }
    }

    /// Returns the remaining bytes at the end of the file. They are blanked if the file ends within metadata.
    pub fn end(mut self) -> Vec<u8> {
        if matches!(self.next, Step::Hold(_)) {
            self.held.fill(0);
        }
        self.held
    }

    /// Processes a header or a piece of metadata that is complete.
    fn finish_held(&mut self, out: &mut Vec<u8>) {
        let Some(format) = &mut self.format else { return };
        if matches!(self.next, Step::Hold(_)) {
            format.edit(&mut self.held);
            return self.next_part(out);
        }
        self.next = format.head(&mut self.held);
        if !matches!(self.next, Step::Head(_) | Step::Hold(_)) {
            out.append(&mut self.held);
        }
        self.skip_empty(out);
    }

    /// Continues with the next part.
    fn next_part(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
        if let Some(format) = &mut self.format {
            self.next = format.next();
        }
        self.skip_empty(out);
    }

    /// Skips empty parts.
    fn skip_empty(&mut self, out: &mut Vec<u8>) {
        match &self.next {
            Step::Pass(0) | Step::Blank(0) => self.next_part(out),
            Step::Head(size) | Step::Hold(size) if self.held.len() >= *size => {
                self.finish_held(out)
            }
            _ => {}
        }
    }

    /// Passes on all bytes before the next marker and returns the rest of the piece.
    fn seek_marker<'a>(&mut self, piece: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
        if self.held.is_empty() {
            let at = piece.iter().position(|byte| *byte == 0xff).unwrap_or(piece.len());
            out.extend_from_slice(&piece[..at]);
            self.held.extend(piece.get(at));
            return piece.get(at + 1..).unwrap_or_default();
        }
        match piece[0] {
            // Another fill byte before a marker.
            0xff => out.push(0xff),
            code @ (0 | 0xd0..=0xd7) => {
                out.append(&mut self.held);
                out.push(code);
            }
            code => {
                self.held.push(code);
                self.next = Step::Head(2);
                self.finish_held(out);
            }
        }
        &piece[1..]
    }
}

/// Holds a part of `whole` bytes, or blanks its last `rest` bytes if it is too large.
fn hold_or_blank(whole: u64, rest: u64) -> Step {
    match usize::try_from(whole) {
        Ok(size) if whole <= MAX_HELD => Step::Hold(size),
        _ => Step::Blank(rest),
    }
}

/// Returns true if the bytes contain the word, ignoring case.
fn contains_word(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|found| found.eq_ignore_ascii_case(word.as_bytes()))
}
