//! The parts that all readings in the background share: permits that come after publishing, and the reaction to a network's error.

mod permits;
mod reaction;

pub(crate) use permits::{Budget, Permits};
pub use permits::{IsBusy, share_of};
pub(crate) use reaction::{Reaction, backoff, fresh_tokens, react};
