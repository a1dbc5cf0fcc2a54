//! Boxes of an MP4 or MOV file that are held whole (ISO 14496-12, QuickTime File Format).

use super::{contains_word, xmp};

/// Boxes that describe a file and no place: everything else in user data is taken out, since every maker of cameras has
/// a way of its own to write where it is.
const KEPT: [&[u8; 4]; 22] = [
    b"\xa9nam", b"\xa9ART", b"\xa9alb", b"\xa9cpy", b"\xa9too", b"\xa9swr", b"\xa9day", b"\xa9cmt",
    b"\xa9des", b"\xa9inf", b"auth", b"chpl", b"cprt", b"dscp", b"hinf", b"hnti", b"kind", b"kywd",
    b"name", b"perf", b"tagc", b"titl",
];

/// Tracks that are shown or heard. Others hold what a camera noted while it recorded, such as its way.
const SHOWN: [&[u8; 4]; 9] =
    [b"vide", b"soun", b"tmcd", b"text", b"sbtl", b"subt", b"clcp", b"auxv", b"hint"];

const XMP: [u8; 16] = [
    0xbe, 0x7a, 0xcf, 0xcb, 0x97, 0xa9, 0x42, 0xe8, 0x9c, 0x71, 0x99, 0x94, 0x91, 0xe3, 0xaf, 0xac,
];

/// A box, its head and its content apart.
struct Part<'a> {
    head: &'a mut [u8],
    content: &'a mut [u8],
}

impl Part<'_> {
    fn name(&self) -> [u8; 4] {
        [self.head[4], self.head[5], self.head[6], self.head[7]]
    }

    /// Makes it one of nothing.
    fn empty(self) {
        self.head[4..8].copy_from_slice(b"free");
        self.content.fill(0);
    }
}

/// The boxes in a row; what is broken at the end is blanked.
fn each(mut rest: &mut [u8], mut what: impl FnMut(Part<'_>)) {
    while !rest.is_empty() {
        let Some((head, size)) = measure(rest) else { return rest.fill(0) };
        let (whole, behind) = std::mem::take(&mut rest).split_at_mut(size);
        let (head, content) = whole.split_at_mut(head);
        what(Part { head, content });
        rest = behind;
    }
}

/// Returns the time the head of the first box is, and the whole.
fn measure(bytes: &[u8]) -> Option<(usize, usize)> {
    let (short, rest) = bytes.split_first_chunk::<4>()?;
    let (head, size) = match u32::from_be_bytes(*short) {
        1 => (16, u64::from_be_bytes(*rest.get(4..)?.first_chunk::<8>()?)),
        short => (8, u64::from(short)),
    };
    let size = usize::try_from(size).ok()?;
    (head <= size && size <= bytes.len()).then_some((head, size))
}

/// Takes places out of a box that is held whole.
pub(super) fn edit(bytes: &mut [u8]) {
    each(bytes, |found| match &found.name() {
        b"udta" => each(found.content, user_datum),
        b"meta" => meta(found.content),
        b"uuid" if found.content.starts_with(&XMP) => xmp::blank(&mut found.content[XMP.len()..]),
        b"trak" if is_shown(found.content) => each(found.content, |part| match &part.name() {
            b"udta" | b"meta" => edit_one(part),
            _ => {}
        }),
        b"trak" => found.empty(),
        _ => {}
    });
}

fn edit_one(part: Part<'_>) {
    match &part.name() {
        b"udta" => each(part.content, user_datum),
        _ => meta(part.content),
    }
}

fn user_datum(datum: Part<'_>) {
    match &datum.name() {
        b"meta" => meta(datum.content),
        b"XMP_" => xmp::blank(datum.content),
        name if KEPT.contains(&name) => {}
        _ => datum.empty(),
    }
}

/// Metadata by keys: a list of names, and behind it their values by number.
fn meta(content: &mut [u8]) {
    // In a MOV its boxes begin at once, in an MP4 behind a version.
    let at = if content.get(4..8) == Some(b"hdlr") { 0 } else { 4.min(content.len()) };
    let mut places: Vec<u32> = Vec::new();
    each(&mut content[at..], |part| match &part.name() {
        b"keys" => places = named(part.content),
        b"ilst" => each(part.content, |value| {
            let name = value.name();
            // Named in order.
            let known = places.binary_search(&u32::from_be_bytes(name)).is_ok();
            let says = name == *b"\xa9xyz" || (name == *b"----" && tells_place(value.content));
            if known || says {
                value.empty();
            }
        }),
        b"xml " | b"bxml" | b"uuid" if tells_place(part.content) => part.empty(),
        _ => {}
    });
}

/// The numbers, from 1, of the keys that name a place.
fn named(keys: &[u8]) -> Vec<u32> {
    let (mut rest, mut number, mut found) = (keys.get(8..).unwrap_or_default(), 0, Vec::new());
    while let Some((_, size)) = measure(rest) {
        number += 1;
        if tells_place(&rest[..size]) {
            found.push(number);
        }
        rest = &rest[size..];
    }
    found
}

fn tells_place(bytes: &[u8]) -> bool {
    ["location", "latitude", "gps"].iter().any(|word| contains_word(bytes, word))
}

/// Is a track one that is shown or heard? A text that DJI writes says where the drone was.
fn is_shown(track: &mut [u8]) -> bool {
    let mut shown = true;
    each(track, |part| {
        if part.name() == *b"mdia" {
            each(part.content, |part| {
                if part.name() == *b"hdlr" {
                    let kind = part.content.get(8..12);
                    shown = SHOWN.iter().any(|known| kind == Some(&known[..]))
                        && !contains_word(part.content, "dji");
                }
            });
        }
    });
    shown
}
