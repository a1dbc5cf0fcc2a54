//! The user of the command line: logging in, logging out, profiles.

mod callback;
mod login;
mod oauth;
mod profile;

pub use login::{LoginMethod, login, logout, store_profile};
pub use oauth::LoginError;
pub use profile::{ProfileOptions, Target};
