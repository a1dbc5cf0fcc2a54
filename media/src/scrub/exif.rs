//! Exif: the directory of the place, and what else of a place stands beside it.

use super::{iptc, xmp};
use crate::tiff::Tiff;

/// The entry that leads to the directory of the place (CIPA DC-008, 4.6.3).
const PLACE: u16 = 0x8825;
/// The entry that leads to the camera's own directory.
const CAMERA: u16 = 0x8769;
const XMP: u16 = 0x02bc;
const IPTC: u16 = 0x83bb;

/// Directories that are looked at; there are two or three.
const MOST: usize = 8;

/// A stretch that may tell a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    from: usize,
    to: usize,
    what: What,
}

/// The content of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Nothing but a place.
    Place,
    Xmp,
    Iptc,
}

/// Empties the directory of the place: its values, its entries, and their number. What is no Exif is blanked whole.
pub(super) fn blank(exif: &mut [u8]) {
    let Some(found) = look(exif) else { return exif.fill(0) };
    for Found { from, to, what } in apart(found) {
        let to = to.min(exif.len());
        let Some(stretch) = exif.get_mut(from..to) else { continue };
        match what {
            What::Place => stretch.fill(0),
            What::Xmp => xmp::blank(stretch),
            What::Iptc => iptc::blank_records(stretch),
        }
    }
}

/// Sorts the findings so that no byte is looked at twice. Of stretches that overlap nobody can tell what is what: they
/// are blanked together.
fn apart(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|found| (found.from, found.to));
    let mut apart: Vec<Found> = Vec::new();
    for next in found {
        match apart.last_mut() {
            Some(last) if *last == next => {}
            Some(last) if next.from < last.to => {
                (last.to, last.what) = (last.to.max(next.to), What::Place);
            }
            _ => apart.push(next),
        }
    }
    apart
}

fn look(exif: &[u8]) -> Option<Vec<Found>> {
    let tiff = Tiff::open(exif)?;
    let first = at(tiff.long(4)?)?;
    // Without a first directory nobody reads the rest.
    tiff.short(first)?;
    let (mut open, mut seen, mut found, mut places) = (vec![first], vec![], vec![], vec![]);
    while let Some(directory) = open.pop() {
        if seen.contains(&directory) || seen.len() == MOST {
            continue;
        }
        seen.push(directory);
        for entry in entries(&tiff, directory) {
            let Some(tag) = tiff.short(entry) else { break };
            let stretch = |what| value(&tiff, entry).map(|(from, to)| Found { from, to, what });
            match (tag, tiff.long(entry + 8).and_then(at)) {
                (PLACE, Some(place)) if places.contains(&place) => {}
                // No real file has so many; their content is not looked at.
                (PLACE, Some(_)) if places.len() == MOST => return None,
                (PLACE, Some(place)) => {
                    places.push(place);
                    blank_directory(&tiff, place, &mut found);
                }
                (CAMERA, Some(directory)) => open.push(directory),
                (XMP, _) => found.extend(stretch(What::Xmp)),
                (IPTC, _) => found.extend(stretch(What::Iptc)),
                _ => {}
            }
        }
        let behind = entries(&tiff, directory).last().map_or(directory + 2, |entry| entry + 12);
        open.extend(tiff.long(behind).and_then(at).filter(|next| *next > 0));
    }
    Some(found)
}

fn blank_directory(tiff: &Tiff<'_>, place: usize, found: &mut Vec<Found>) {
    let mut end = place.saturating_add(2);
    for entry in entries(tiff, place) {
        let value = value(tiff, entry);
        found.extend(value.map(|(from, to)| Found { from, to, what: What::Place }));
        end = entry.saturating_add(12);
    }
    found.push(Found { from: place, to: end, what: What::Place });
}

/// Returns the positions of a directory's entries, as many as there are bytes for.
fn entries(tiff: &Tiff<'_>, directory: usize) -> impl Iterator<Item = usize> {
    let most = tiff.len().saturating_sub(directory) / 12 + 1;
    let count = tiff.short(directory).map_or(0, usize::from).min(most);
    (0..count).map(move |entry| directory.saturating_add(2 + entry * 12))
}

/// Returns the offset of a value that is not in its entry.
fn value(tiff: &Tiff<'_>, entry: usize) -> Option<(usize, usize)> {
    let size =
        u64::from(tiff.long(entry.checked_add(4)?)?).saturating_mul(width(tiff.short(entry + 2)?));
    if size <= 4 {
        return None;
    }
    let from = at(tiff.long(entry + 8)?)?;
    Some((from, from.saturating_add(usize::try_from(size).ok()?)))
}

fn at(offset: u32) -> Option<usize> {
    usize::try_from(offset).ok()
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
