//! What requests are counted together against a limit.

/// A limit that routes share. Everything a person does counts against a limit of its own besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bucket {
    /// Creating posts, one by one or in batches: 100 requests an hour per key.
    Posts,
    /// Reading accounts and posts: 300 requests an hour per key.
    Reads,
    /// Connecting with credentials, whatever comes of it: 20 an hour per person.
    Connect,
    /// Only what a person does in all: 2,000 requests an hour.
    Other,
}

impl Bucket {
    /// Its name in the OpenAPI document.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Posts => "posts",
            Self::Reads => "reads",
            Self::Connect => "connect",
            Self::Other => "other",
        }
    }
}
