/// What can be wrong with the way to Redis. What it contained is not repeated, since it may hold a password.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL cannot be read.
    #[error(
        "the Redis URL is not valid; it looks like redis://[user:password@]host[:port][/database], or rediss://… for TLS"
    )]
    BadUrl,
}
