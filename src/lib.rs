//! The `fanfare` binary, as a library so that tests start the same code.

pub mod commands;
pub mod config;
mod log;
mod metrics;
mod private;
mod simulator;
mod start;

pub use log::init as init_log;
