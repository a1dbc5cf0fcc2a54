//! Tests of every connector, and the server that stands for a network in them.

mod conformance;
pub mod growth;
mod recent_posts;
pub mod test_server;
