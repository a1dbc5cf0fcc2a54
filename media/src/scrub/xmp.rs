//! XMP: attributes and elements that contain locations.

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
    name::QName,
};

use super::contains_word;

/// Names of locations, besides those of coordinates.
const PLACE_NAMES: [&[u8]; 15] = [
    b"City",
    b"Country",
    b"CountryCode",
    b"CountryName",
    b"Location",
    b"LocationCreated",
    b"LocationId",
    b"LocationName",
    b"LocationShown",
    b"ProvinceState",
    b"State",
    b"Sublocation",
    b"lat",
    b"lon",
    b"long",
];

/// Parts of the names of coordinates. Some drones write the last one.
const COORDINATE_NAMES: [&str; 4] = ["gps", "latitude", "longitude", "longtitude"];

/// Blanks the values of all location names. If the text cannot be parsed, everything after that point is blanked.
pub(super) fn blank(text: &mut [u8]) {
    let filled = text.iter().rev().take_while(|byte| **byte == 0).count();
    let end = text.len() - filled;
    let text = &mut text[..end];
    let stretches = match std::str::from_utf8(text) {
        Ok(read) if !read.contains('\0') => find_places(read),
        _ => vec![(0, end)],
    };
    for (from, to) in stretches {
        if let Some(stretch) = text.get_mut(from..to) {
            stretch.fill(b' ');
        }
    }
}

/// Returns the ranges of the text that contain locations.
fn find_places(text: &str) -> Vec<(usize, usize)> {
    let mut reader = Reader::from_str(text);
    let (mut found, mut inside, mut from) = (Vec::new(), 0_u32, 0);
    loop {
        let event = reader.read_event();
        let to = usize::try_from(reader.buffer_position()).unwrap_or(text.len());
        match event {
            Ok(Event::Start(tag)) => {
                attributes(text, &tag, inside > 0, &mut found);
                if inside > 0 || is_place(tag.name()) {
                    inside += 1;
                }
            }
            Ok(Event::Empty(tag)) => attributes(text, &tag, inside > 0, &mut found),
            Ok(Event::End(_)) => inside = inside.saturating_sub(1),
            Ok(Event::Text(_) | Event::CData(_) | Event::GeneralRef(_)) if inside > 0 => {
                found.push((from, to));
            }
            Ok(Event::Eof) => return found,
            Ok(_) => {}
            Err(_) => {
                found.push((from, text.len()));
                return found;
            }
        }
        from = to;
    }
}

fn attributes(text: &str, tag: &BytesStart<'_>, inside: bool, found: &mut Vec<(usize, usize)>) {
    let stretch = |part: &[u8]| {
        let from = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        (from, from + part.len())
    };
    for attribute in tag.attributes().with_checks(false) {
        match attribute {
            Ok(attribute)
                if is_place(attribute.key) || (inside && !is_structural(attribute.key)) =>
            {
                found.push(stretch(&attribute.value));
            }
            Ok(_) => {}
            Err(_) => {
                // The whole tag is blanked, so further errors in it do not matter.
                found.push(stretch(tag.attributes_raw()));
                return;
            }
        }
    }
}

/// Returns true for a name that belongs to the syntax of XMP and has no content of its own.
fn is_structural(name: QName<'_>) -> bool {
    let form = [&b"rdf"[..], b"xml", b"xmlns"];
    name.prefix().is_some_and(|prefix| form.contains(&prefix.into_inner()))
        || name.into_inner() == b"xmlns"
}

fn is_place(name: QName<'_>) -> bool {
    if is_structural(name) {
        return false;
    }
    let local = name.local_name().into_inner();
    PLACE_NAMES.contains(&local) || COORDINATE_NAMES.iter().any(|word| contains_word(local, word))
}
