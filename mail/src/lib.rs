//! Letters and the way they leave: SMTP.
//!
//! A [`Letter`] is plain text with the addresses it leads to. [`Mailer`] hands one to the operator's mail server. When a
//! letter is due, to whom it goes and how often it is tried is the domain's affair: this crate knows no database.

mod letter;
mod smtp;

pub use letter::Letter;
pub use smtp::{BadMailer, Failure, Mailer};
