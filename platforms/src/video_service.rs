//! The way to a service that processes videos apart from the account's server.

use url::Url;

/// The service that Bluesky's videos are sent to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum VideoService {
    /// The network's own.
    #[default]
    Usual,
    /// Another one, at this address.
    At(Url),
    /// None: videos are sent to the account's server, and are processed after the post is public.
    Off,
}
