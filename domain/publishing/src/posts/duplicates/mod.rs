//! The duplicate guard: what else an account says, or is about to say, within seven days of a post.
//!
//! One measure serves all: the warnings and refusals of posts and batches, and the forecast. Callers make a [`Print`] of a
//! content, have [`find`] compare it with the account's posts, and show what it found with [`warnings`] or [`refuse`].
//!
//! A post that must not be made twice (`duplicates: refuse`) is compared in the transaction that writes it, after
//! [`lock_account`]: of posts that are equal only the first to come is written.

mod form;
mod measure;
mod print;
mod search;
mod words;

use fanfare_entities::Millis;
use schemars::JsonSchema;
use serde::Deserialize;

pub use print::Print;
pub use search::{Place, find, lock_account};
pub use words::{refuse, refuse_item, shown, violation, warnings, warnings_of_item};

const HOUR: Millis = 3_600_000;

/// Posts up to this distance in time are compared.
pub const COMPARED_SPAN: Millis = 7 * 24 * HOUR;

/// The treatment of a post that the account has already, or nearly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Guard {
    /// It is made, with a warning.
    #[default]
    Warn,
    /// It is refused.
    Refuse,
}
