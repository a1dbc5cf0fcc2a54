//! The time at which an account likes to post: a grid of times of day, and the next of them that is free.

mod grid;
mod next;

pub use grid::{NewGrid, OneGrid, Slots, set_grid, show_grid};
pub(crate) use grid::{home_zone, zone_of};
pub use next::{NextQuery, NextSlot, next};
