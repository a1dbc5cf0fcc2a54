//! MP4 and MOV: locations in the index.

use super::{Format, MAX_HELD, Step, boxes};

/// The end of an index's or a track's content, in bytes from the start of the file.
#[derive(Debug, Default)]
pub(super) struct Film {
    at: u64,
    open: Vec<u64>,
}

impl Format for Film {
    fn next(&mut self) -> Step {
        while self.open.last().is_some_and(|end| self.at >= *end) {
            self.open.pop();
        }
        match self.open.last() {
            // A few zeros may end a list of boxes.
            Some(end) if end - self.at < 8 => self.pass(end - self.at),
            _ => Step::Head(8),
        }
    }

    fn head(&mut self, held: &mut [u8]) -> Step {
        let short = held.first_chunk::<4>().map_or(0, |size| u32::from_be_bytes(*size));
        let left = self.open.last().map_or(u64::MAX, |end| end - self.at);
        let size = match (short, held.get(8..16).and_then(|long| long.first_chunk::<8>())) {
            (0, _) => left,
            (1, None) => return Step::Head(16),
            (1, Some(long)) => u64::from_be_bytes(*long),
            (short, _) => u64::from(short),
        };
        let head = held.len() as u64;
        if size < head {
            // From here on nobody can tell what is what; in an index nobody has to.
            return self.give_up(held, left);
        }
        let size = size.min(left);
        match &held[4..8] {
            b"moov" if self.open.is_empty() => self.enter(head, size),
            b"trak" if size > MAX_HELD && self.open.len() == 1 => self.enter(head, size),
            // Editors make an index that they replace one of nothing, and leave in it what stood there.
            b"free" | b"skip" => self.take_out(held, size),
            b"uuid" if !self.open.is_empty() => self.take_out(held, size),
            b"uuid" if size > MAX_HELD => self.skip(head, size),
            // A track has no others in it.
            b"udta" | b"meta" | b"trak" if size > MAX_HELD => self.take_out(held, size),
            b"udta" | b"meta" | b"trak" | b"uuid" => {
                self.at += size;
                Step::Hold(usize::try_from(size).unwrap_or(usize::MAX))
            }
            _ => self.skip(head, size),
        }
    }

    fn edit(&mut self, part: &mut [u8]) {
        boxes::edit(part);
    }
}

impl Film {
    /// The box holds others, which come next.
    fn enter(&mut self, head: u64, size: u64) -> Step {
        self.open.push(self.at.saturating_add(size));
        self.at += head;
        Step::Pass(0)
    }

    fn pass(&mut self, bytes: u64) -> Step {
        self.at += bytes;
        Step::Pass(bytes)
    }

    fn skip(&mut self, head: u64, size: u64) -> Step {
        self.at = self.at.saturating_add(size);
        Step::Pass(size - head)
    }

    /// Makes the box one of nothing.
    fn take_out(&mut self, held: &mut [u8], size: u64) -> Step {
        held[4..8].copy_from_slice(b"free");
        self.at = self.at.saturating_add(size);
        Step::Blank(size - held.len() as u64)
    }

    fn give_up(&mut self, held: &mut [u8], left: u64) -> Step {
        if self.open.is_empty() {
            return Step::Rest;
        }
        let head = held.len() as u64;
        held.fill(0);
        self.at = self.at.saturating_add(left);
        Step::Blank(left.saturating_sub(head))
    }
}
