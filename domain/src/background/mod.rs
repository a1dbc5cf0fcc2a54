//! The shared parts of background readings: permits, which publishing takes precedence over, and the reaction to a
//! network's error.

mod permits;
mod reaction;

pub(crate) use permits::{Budget, Permits};
pub use permits::{IsBusy, background_share};
pub(crate) use reaction::{Reaction, backoff, fresh_tokens, react};
