//! The shared parts of background readings: permits, which publishing takes precedence over, and the reaction to a
//! network's error.

mod permits;
mod reaction;

pub use permits::{Budget, IsBusy, Permits, background_share};
pub use reaction::fresh_tokens;
pub use reaction::{Reaction, backoff, react};
