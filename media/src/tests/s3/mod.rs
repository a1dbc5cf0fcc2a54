//! A bucket on loopback: a small model of an S3 server that checks signatures, and what our store does with it.

mod bucket;
mod http;
mod signature;
mod stories;
