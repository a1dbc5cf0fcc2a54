//! Shared parts of pages with a log-in, for operators and users: the HTML frame, response headers, forms with their
//! CSRF tokens, and the log-in itself.

pub mod doors;
pub mod form;
pub mod frame;
pub mod login;
pub mod mail_note;
mod refill;
pub mod refusal;
pub mod response;
pub mod typed;
pub mod visit;
