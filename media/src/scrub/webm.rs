//! WebM: tags and attachments are replaced by void elements.

use super::{Format, Step};

const SEGMENT: u32 = 0x1853_8067;
const CLUSTER: u32 = 0x1f43_b675;
const TAGS: u32 = 0x1254_c367;
const ATTACHMENTS: u32 = 0x1941_a469;
/// The id of a void element.
const VOID: u8 = 0xec;
const VOID_ID: u32 = VOID as u32;

#[derive(Debug, Default)]
pub(super) struct Webm {
    /// The number of next bytes to blank.
    blank: u64,
}

impl Format for Webm {
    fn next(&mut self) -> Step {
        match std::mem::take(&mut self.blank) {
            0 => Step::Head(2),
            blank => Step::Blank(blank),
        }
    }

    fn head(&mut self, held: &mut [u8]) -> Step {
        let id = held[0].leading_zeros() as usize + 1;
        if id > 4 {
            return Step::Rest;
        }
        let Some(first) = held.get(id) else { return Step::Head(id + 1) };
        let size = first.leading_zeros() as usize + 1;
        if size > 8 {
            return Step::Rest;
        }
        if held.len() < id + size {
            return Step::Head(id + size);
        }
        let name = held[..id].iter().fold(0_u32, |name, byte| name << 8 | u32::from(*byte));
        let content = number(&held[id..]);
        match (name, content) {
            // Their child elements follow. In a live stream the size is unknown.
            (SEGMENT, _) | (CLUSTER, None) => Step::Pass(0),
            // The content of an element that was replaced before.
            (VOID_ID, Some(content)) => Step::Blank(content),
            (TAGS | ATTACHMENTS, Some(content @ 2..)) => {
                let head = void_element(content);
                self.blank = content - head.len() as u64;
                Step::Put(head)
            }
            (_, Some(content)) => Step::Pass(content),
            (_, None) => Step::Rest,
        }
    }

    fn edit(&mut self, _part: &mut [u8]) {}
}

/// Returns the value of a variable-length number, or `None` if all its value bits are set (unknown size).
fn number(bytes: &[u8]) -> Option<u64> {
    let length = u32::try_from(bytes.len()).unwrap_or(8);
    let all = bytes.iter().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
    let unknown = (1_u64 << (7 * length)) - 1;
    Some(all & unknown).filter(|value| *value != unknown)
}

/// Returns the header of a void element with this total size.
fn void_element(whole: u64) -> Vec<u8> {
    // The size takes up to eight bytes, because each number can be padded.
    let length = usize::try_from(whole - 1).unwrap_or(8).min(8);
    let content = (whole - 1 - length as u64) | 1 << (7 * length);
    let mut head = vec![VOID];
    head.extend(&content.to_be_bytes()[8 - length..]);
    head
}
