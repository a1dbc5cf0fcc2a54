//! E-mails, and sending them by SMTP.
//!
//! A [`Letter`] is an e-mail: plain text and the links in it. A [`Mailer`] sends it through the operator's mail server.
//! The domain decides when an e-mail is due, to whom it goes and how often it is tried; this crate has no database.

mod address;
mod letter;
mod smtp;

pub use address::canonical_address;
pub use letter::Letter;
pub use smtp::{Mailer, MailerError, SendError};
