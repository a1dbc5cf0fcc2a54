//! Items of one batch with the same content for one account, or nearly.

use std::sync::Arc;

use fanfare_core::error::{Result, refusal::Likeness};
use fanfare_entities::Millis;
use fanfare_platforms::Warning;

use super::{
    batch::Item,
    compared::Compared,
    duplicates::{self, COMPARED_SPAN, Guard},
};

/// An earlier item that is like an item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Earlier {
    /// Its place in the request.
    pub place: usize,
    /// The likeness of the two.
    pub kind: Likeness,
    /// The time between them.
    distance: Millis,
}

impl Earlier {
    /// Returns the warnings about an item that is like this one.
    pub fn warnings(&self, item: &Compared) -> Vec<Warning> {
        let of = (self.place, self.kind, self.distance);
        duplicates::warnings_of_item(item.platform, &item.print, of)
    }
}

/// Compares the items with one another. Adds the warnings to those that are to be written, and returns those of items that
/// were only checked. One that must repeat nothing is refused, if it was only checked; else when it is written.
pub(super) fn compare_items(items: &mut [Result<Item>]) -> Vec<Vec<Warning>> {
    let compared: Vec<_> =
        items.iter().map(|item| item.as_ref().ok().and_then(Item::compared)).collect();
    let earlier = earlier_ones(&compared);
    let mut warnings = vec![Vec::new(); items.len()];
    for ((item, earlier), warnings) in items.iter_mut().zip(earlier).zip(&mut warnings) {
        let Some(earlier) = earlier else { continue };
        match item {
            Ok(Item::Checked(checked)) if checked.compared.guard == Guard::Refuse => {
                *item = Err(checked.refused(&earlier));
            }
            Ok(Item::Checked(checked)) => *warnings = earlier.warnings(&checked.compared),
            Ok(Item::Ready(ready)) if ready.compared.guard == Guard::Warn => {
                if let Some(row) = Arc::get_mut(&mut ready.row) {
                    row.warnings.extend(earlier.warnings(&ready.compared));
                }
            }
            _ => {}
        }
    }
    warnings
}

/// Returns for each item the first one before it that it repeats. An item that must repeat nothing and does is not made, so
/// later ones are not compared with it.
fn earlier_ones(items: &[Option<&Compared>]) -> Vec<Option<Earlier>> {
    let mut made: Vec<(usize, &Compared)> = Vec::new();
    let mut found = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        let Some(item) = item else {
            found.push(None);
            continue;
        };
        let earlier = made.iter().find_map(|(place, other)| like(item, *place, other));
        if earlier.is_none() || item.guard == Guard::Warn {
            made.push((place, item));
        }
        found.push(earlier);
    }
    found
}

fn like(item: &Compared, place: usize, other: &Compared) -> Option<Earlier> {
    let distance = (item.place.at - other.place.at).abs();
    let is_near = item.place.account == other.place.account && distance <= COMPARED_SPAN;
    // Of a post without a time nobody knows whether it goes out near this one.
    let counts = other.has_time || item.guard == Guard::Warn;
    let kind = (is_near && counts).then(|| item.print.compare(&other.print)).flatten()?;
    Some(Earlier { place, kind, distance })
}
