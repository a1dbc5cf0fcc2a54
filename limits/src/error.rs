/// Errors of opening the limits. The URL is not repeated, because it may contain a password.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL cannot be read.
    #[error(
        "the Redis URL is not valid; it looks like redis://[user:password@]host[:port][/database], or rediss://… for TLS"
    )]
    BadUrl,
}
