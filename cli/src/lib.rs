//! Commands that use only the HTTP API of a running service.

mod account;
mod client;
mod clock;
mod demo;
mod health;
mod media;
mod operations;

pub use account::{ProfileOptions, Target};
pub use clock::today;
pub use demo::demo;
pub use health::health;
pub use media::{Upload, upload};
pub use operations::{chapters, commands, run, with_commands, with_near_names};
