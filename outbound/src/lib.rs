//! The one HTTP client of the product, and the guard every outgoing request passes.
//!
//! A [`Client`] reaches public addresses over https only. Origins that the operator configured are opened one by one
//! with [`Client::trusting`]; nothing a user gave ever is. A failed request says whether the server may have acted
//! ([`Error::maybe_sent`]), which is what publishing once rests on.
//!
//! This crate makes no retries, and has no automatic redirects, proxies, cookies, referers or decompression.

mod body;
mod client;
mod error;
mod exchange;
mod multipart;
mod opened;
mod piece;
mod policy;
mod redirect;
mod reply;
mod request;
mod resolver;
mod retry_after;
#[cfg(test)]
mod tests;

pub use client::Client;
pub use error::{Error, ErrorKind};
pub use multipart::Multipart;
pub use piece::{Cause, FileStream};
pub use policy::Policy;
pub use reply::{Download, Reply};
pub use request::Request;
