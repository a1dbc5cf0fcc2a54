//! Blanks location metadata while a file comes in, before it is stored.
//!
//! Only metadata are touched, and no byte is added or removed, so sizes and offsets stay what they were. What else
//! metadata say (whose picture it is, that it was generated) stays. Metadata that cannot be read are blanked whole.

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

/// The largest piece of metadata that is held to be looked at; a larger one is blanked.
const MOST: u64 = 4 * 1024 * 1024;

/// The next part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Next {
    /// The beginning of a part, until so many bytes of it are held.
    Head(usize),
    /// A part that is to be looked at, until so many bytes of it are held.
    Hold(usize),
    /// A number of bytes to pass on.
    Pass(u64),
    /// A number of bytes to replace by zeros.
    Blank(u64),
    /// Bytes that replace as many bytes of the file.
    Put(Vec<u8>),
    /// Anything up to a marker of a JPEG, which is then the beginning of a part.
    Marker,
    /// Nothing that matters.
    Rest,
    /// Nothing that belongs here: all of it is blanked.
    Void,
}

/// A type of file, as far as it must be known.
trait Format: Send {
    /// Returns the first part, and the part after each.
    fn next(&mut self) -> Next;

    /// Returns the part after the held bytes, which may be changed before they are passed on.
    fn head(&mut self, held: &mut [u8]) -> Next;

    /// Blanks what tells a place in a part that is held.
    fn edit(&mut self, part: &mut [u8]);
}

/// The state of a file that is being read, as far as it must be known.
pub(crate) struct Scrub {
    format: Option<Box<dyn Format>>,
    held: Vec<u8>,
    next: Next,
}

impl Scrub {
    /// For a file of this type; a document passes as it is.
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
        let next = format.as_mut().map_or(Next::Rest, |format| format.next());
        Self { format, held: Vec::new(), next }
    }

    /// Takes the next bytes and appends to `out` what may be stored by now.
    pub fn push(&mut self, mut piece: &[u8], out: &mut Vec<u8>) {
        while !piece.is_empty() {
            match &mut self.next {
                Next::Rest => return out.extend_from_slice(piece),
                Next::Void => return out.resize(out.len() + piece.len(), 0),
                Next::Pass(left) | Next::Blank(left) => {
                    let now = piece.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= now as u64;
                    let ended = *left == 0;
                    if matches!(self.next, Next::Pass(_)) {
                        out.extend_from_slice(&piece[..now]);
                    } else {
                        out.resize(out.len() + now, 0);
                    }
                    piece = &piece[now..];
                    if ended {
                        self.go_on(out);
                    }
                }
                Next::Put(bytes) => {
                    let now = piece.len().min(bytes.len());
                    out.extend(bytes.drain(..now));
                    let ended = bytes.is_empty();
                    piece = &piece[now..];
                    if ended {
                        self.go_on(out);
                    }
                }
                Next::Head(size) | Next::Hold(size) => {
                    let now = piece.len().min(size.saturating_sub(self.held.len()));
                    self.held.extend_from_slice(&piece[..now]);
                    piece = &piece[now..];
                    if self.held.len() >= *size {
                        self.whole(out);
                    }
                }
                Next::Marker => piece = self.seek_marker(piece, out),
            }
        }
    }

    /// Returns the bytes that are left at the end; of a file that was cut off in its metadata these are blank.
    pub fn end(mut self) -> Vec<u8> {
        if matches!(self.next, Next::Hold(_)) {
            self.held.fill(0);
        }
        self.held
    }

    /// A head or a piece of metadata is complete.
    fn whole(&mut self, out: &mut Vec<u8>) {
        let Some(format) = &mut self.format else { return };
        if matches!(self.next, Next::Hold(_)) {
            format.edit(&mut self.held);
            return self.go_on(out);
        }
        self.next = format.head(&mut self.held);
        if !matches!(self.next, Next::Head(_) | Next::Hold(_)) {
            out.append(&mut self.held);
        }
        self.settle(out);
    }

    /// A part has ended.
    fn go_on(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
        if let Some(format) = &mut self.format {
            self.next = format.next();
        }
        self.settle(out);
    }

    /// Steps over parts of no bytes.
    fn settle(&mut self, out: &mut Vec<u8>) {
        match &self.next {
            Next::Pass(0) | Next::Blank(0) => self.go_on(out),
            Next::Head(size) | Next::Hold(size) if self.held.len() >= *size => self.whole(out),
            _ => {}
        }
    }

    /// Passes what is no marker; the rest of the piece.
    fn seek_marker<'a>(&mut self, piece: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
        if self.held.is_empty() {
            let at = piece.iter().position(|byte| *byte == 0xff).unwrap_or(piece.len());
            out.extend_from_slice(&piece[..at]);
            self.held.extend(piece.get(at));
            return piece.get(at + 1..).unwrap_or_default();
        }
        match piece[0] {
            // One more of the bytes that fill up before a marker.
            0xff => out.push(0xff),
            code @ (0 | 0xd0..=0xd7) => {
                out.append(&mut self.held);
                out.push(code);
            }
            code => {
                self.held.push(code);
                self.next = Next::Head(2);
                self.whole(out);
            }
        }
        &piece[1..]
    }
}

/// To hold a part of so many bytes in all, or to blank its last `rest` if that is too much.
fn held_or_blanked(whole: u64, rest: u64) -> Next {
    match usize::try_from(whole) {
        Ok(size) if whole <= MOST => Next::Hold(size),
        _ => Next::Blank(rest),
    }
}

/// True if the bytes hold the word, in any case of letters.
fn holds(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|found| found.eq_ignore_ascii_case(word.as_bytes()))
}
