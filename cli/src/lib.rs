//! Commands that speak to a running service over HTTP, and to nothing else.

mod client;
mod demo;

pub use demo::demo;
