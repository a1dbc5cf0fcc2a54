//! The user of the command line: logging in, logging out, profiles.

mod callback;
mod login;
mod oauth;
mod profile;

pub use login::{Way, keep, login, logout};
pub use oauth::NotIn;
pub use profile::{Given, Target};
