//! What all background readings share: permits, which publishing takes precedence over, and the reaction to a network's
//! error.

mod permits;
mod reaction;

pub(crate) use permits::{Budget, Permits};
pub use permits::{IsBusy, share_of};
pub(crate) use reaction::{Reaction, backoff, fresh_tokens, react};
