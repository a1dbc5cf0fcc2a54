//! The pages of signing up.

mod form;
mod pages;

use fanfare_core::Domain;
use fanfare_people::signup;

pub use pages::router;

/// Returns true if people can sign up here.
pub fn is_open(cx: &Domain) -> bool {
    signup::require_open(cx).is_ok()
}
