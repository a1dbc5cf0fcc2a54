//! WebM: what stands in tags and attachments becomes nothing.

use super::{Format, Next};

const SEGMENT: u32 = 0x1853_8067;
const CLUSTER: u32 = 0x1f43_b675;
const TAGS: u32 = 0x1254_c367;
const ATTACHMENTS: u32 = 0x1941_a469;
/// An element of nothing.
const VOID: u8 = 0xec;
const NOTHING: u32 = VOID as u32;

#[derive(Debug, Default)]
pub(super) struct Webm {
    /// Bytes that come now and are to be blanked.
    blank: u64,
}

impl Format for Webm {
    fn next(&mut self) -> Next {
        match std::mem::take(&mut self.blank) {
            0 => Next::Head(2),
            blank => Next::Blank(blank),
        }
    }

    fn head(&mut self, held: &mut [u8]) -> Next {
        let id = held[0].leading_zeros() as usize + 1;
        if id > 4 {
            return Next::Rest;
        }
        let Some(first) = held.get(id) else { return Next::Head(id + 1) };
        let size = first.leading_zeros() as usize + 1;
        if size > 8 {
            return Next::Rest;
        }
        if held.len() < id + size {
            return Next::Head(id + size);
        }
        let name = held[..id].iter().fold(0_u32, |name, byte| name << 8 | u32::from(*byte));
        let content = number(&held[id..]);
        match (name, content) {
            // Elements of these come next; that of a live stream does not know how long it will be.
            (SEGMENT, _) | (CLUSTER, None) => Next::Pass(0),
            // The content of an element that was voided before.
            (NOTHING, Some(content)) => Next::Blank(content),
            (TAGS | ATTACHMENTS, Some(content @ 2..)) => {
                let head = nothing(content);
                self.blank = content - head.len() as u64;
                Next::Put(head)
            }
            (_, Some(content)) => Next::Pass(content),
            (_, None) => Next::Rest,
        }
    }

    fn edit(&mut self, _part: &mut [u8]) {}
}

/// The value of a number that says in its first bits how long it is; none if all others are set.
fn number(bytes: &[u8]) -> Option<u64> {
    let length = u32::try_from(bytes.len()).unwrap_or(8);
    let all = bytes.iter().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
    let unknown = (1_u64 << (7 * length)) - 1;
    Some(all & unknown).filter(|value| *value != unknown)
}

/// The head of an element of nothing that is so long with it.
fn nothing(whole: u64) -> Vec<u8> {
    // The size takes up to eight bytes: any number can be written longer than it needs.
    let length = usize::try_from(whole - 1).unwrap_or(8).min(8);
    let content = (whole - 1 - length as u64) | 1 << (7 * length);
    let mut head = vec![VOID];
    head.extend(&content.to_be_bytes()[8 - length..]);
    head
}
