//! The HTTP client of all outgoing requests, which checks the address of each of them.
//!
//! A [`Client`] reaches only public addresses over https. Origins that the operator configured are allowed one by one
//! with [`Client::trusting`]; an address from a user is never trusted. A failed request tells whether the server may
//! have acted ([`Error::maybe_sent`]). Publishing each post only once depends on this.
//!
//! This crate makes no automatic retries and has no automatic redirects, proxies, cookies, referers or decompression.

mod body;
mod client;
mod error;
mod exchange;
mod multipart;
pub mod odd_json;
mod opened;
mod piece;
mod policy;
mod redirect;
mod reply;
mod request;
mod resolver;
mod retry_after;
mod server_clock;
#[cfg(test)]
mod tests;
mod tls;

pub use client::Client;
pub use error::{Error, ErrorKind};
pub use multipart::Multipart;
pub use piece::{Cause, FileStream};
pub use policy::Policy;
pub use reply::{Download, Reply};
pub use request::{Request, unlike_any};
pub use server_clock::ServerClock;
