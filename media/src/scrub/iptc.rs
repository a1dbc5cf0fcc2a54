//! IPTC: the places that picture desks write into a JPEG, in the resources of Photoshop.

use super::{exif, xmp};

const RESOURCES: &[u8] = b"Photoshop 3.0\0";

/// The place of the content, the city, its part, the province, the country and its code (IIM 4.2, record 2).
const PLACES: [u8; 7] = [26, 27, 90, 92, 95, 100, 101];

/// Blanks places in the resources; what cannot be read is blanked whole.
pub(super) fn blank(content: &mut [u8]) {
    let mut rest = match content.starts_with(RESOURCES) {
        true => &mut content[RESOURCES.len()..],
        false => content,
    };
    while !rest.is_empty() {
        let Some((id, from, size)) = resource(rest) else { return rest.fill(0) };
        let whole = (from + size + size % 2).min(rest.len());
        let (resource, behind) = std::mem::take(&mut rest).split_at_mut(whole);
        let resource = &mut resource[from..from + size];
        match id {
            0x0404 => blank_records(resource),
            0x0422 | 0x0423 => exif::blank(resource),
            0x0424 => xmp::blank(resource),
            _ => {}
        }
        rest = behind;
    }
}

/// Number of the first resource, where its content begins, and how long that is.
fn resource(bytes: &[u8]) -> Option<(u16, usize, usize)> {
    let rest = bytes.strip_prefix(b"8BIM")?;
    let (id, rest) = rest.split_first_chunk::<2>()?;
    // A name with its length before it, filled up to an even number of bytes.
    let name = (usize::from(*rest.first()?) + 2) & !1;
    let (size, rest) = rest.get(name..)?.split_first_chunk::<4>()?;
    let size = usize::try_from(u32::from_be_bytes(*size)).ok()?;
    let from = bytes.len() - rest.len();
    (size <= rest.len()).then_some((u16::from_be_bytes(*id), from, size))
}

/// Blanks places in records; what cannot be read is blanked whole.
pub(super) fn blank_records(mut rest: &mut [u8]) {
    while let [mark, record, kind, high, low, ..] = *rest {
        let size = usize::from(u16::from_be_bytes([high, low]));
        // A size of more than 15 bits is written in another way, which no place needs.
        if mark != 0x1c || high >= 0x80 || rest.len() < 5 + size {
            return rest.fill(0);
        }
        let (dataset, behind) = std::mem::take(&mut rest).split_at_mut(5 + size);
        if record == 2 && PLACES.contains(&kind) {
            dataset[5..].fill(b' ');
        }
        rest = behind;
    }
    rest.fill(0);
}
