//! The posting schedule of an account: a grid of times of day, and its next free slots.

mod grid;
mod next;

pub use grid::{NewGrid, OneGrid, Slots, set_grid, show_grid};
pub use grid::{home_zone, zone_of};
pub use next::{NextSlot, NextSlotQuery, next_slots};
