//! Commands that speak to a running service over HTTP, and to nothing else.

mod client;
mod demo;
mod health;

pub use demo::demo;
pub use health::health;
