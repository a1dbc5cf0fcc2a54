//! GIF: the extension that holds XMP.

use super::{Format, Step};

/// The kind of blocks that follow: each is as long as its first byte says, until one of none.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Blocks {
    #[default]
    None,
    Pixels,
    Text,
    /// The text is not cut into blocks, but is read as if it were, and ends in a slope of bytes that brings every
    /// reader to its end. Blanked are the bytes that such a reader skips: what is left is a letter here and there.
    Xmp,
}

#[derive(Debug, Default)]
pub(super) struct Gif {
    begun: bool,
    blocks: Blocks,
}

impl Format for Gif {
    fn next(&mut self) -> Step {
        if self.begun {
            return Step::Head(1);
        }
        self.begun = true;
        Step::Head(13)
    }

    fn head(&mut self, held: &mut [u8]) -> Step {
        if self.blocks != Blocks::None {
            let size = u64::from(held[0]);
            if size == 0 {
                self.blocks = Blocks::None;
                return Step::Pass(0);
            }
            return if self.blocks == Blocks::Xmp { Step::Blank(size) } else { Step::Pass(size) };
        }
        match &*held {
            // The header, and its table of colours.
            [b'G', b'I', b'F', .., flags, _, _] if held.len() == 13 => Step::Pass(colours(*flags)),
            [0x2c] => Step::Head(10),
            // A frame: its table of colours, and a byte before its pixels.
            [0x2c, .., flags] => {
                self.blocks = Blocks::Pixels;
                Step::Pass(colours(*flags) + 1)
            }
            [0x21] => Step::Head(2),
            [0x21, 0xff] => Step::Head(14),
            [0x21, 0xff, 11, name @ ..] => {
                self.blocks = if name == b"XMP DataXMP" { Blocks::Xmp } else { Blocks::Text };
                Step::Pass(0)
            }
            [0x21, 0xff, size, ..] => {
                self.blocks = Blocks::Text;
                // Eleven bytes of the block are held; a shorter one was read past.
                match size.checked_sub(11) {
                    Some(left) => Step::Pass(u64::from(left)),
                    None => Step::Rest,
                }
            }
            [0x21, _] => {
                self.blocks = Blocks::Text;
                Step::Pass(0)
            }
            _ => Step::Rest,
        }
    }

    fn edit(&mut self, _part: &mut [u8]) {}
}

/// Bytes of a table of colours, if there is one.
fn colours(flags: u8) -> u64 {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}
