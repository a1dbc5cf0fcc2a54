//! The list of networks. All code that iterates over networks uses it: discovery, environment variables, demo, tests.

use serde::{Deserialize, Serialize};

use crate::{
    Platform, bluesky, devto, discord, facebook, google_business, hashnode, instagram, lemmy,
    linkedin, mastodon, pinterest, slack, telegram, threads, tiktok, wordpress, x, youtube,
};

/// Generates the identifiers and look-up functions from lines `folder::Connector`; the folder's name is the identifier.
macro_rules! networks {
    ($($folder:ident::$connector:ident,)+) => {
        /// A network with a connector.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "each variant is the network's own name")]
        pub enum PlatformId {
            $($connector,)+
        }

        impl PlatformId {
            /// Returns the identifier used in the API, in the database and in variable names.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$connector => stringify!($folder),)+
                }
            }
        }

        /// Returns all networks, in the order of their names.
        #[must_use]
        pub fn all() -> &'static [&'static dyn Platform] {
            &[$(&$folder::$connector,)+]
        }

        /// Returns the connector of a network.
        #[must_use]
        pub fn find(id: PlatformId) -> &'static dyn Platform {
            match id {
                $(PlatformId::$connector => &$folder::$connector,)+
            }
        }
    };
}

networks! {
    bluesky::Bluesky,
    devto::Devto,
    discord::Discord,
    facebook::Facebook,
    google_business::GoogleBusiness,
    hashnode::Hashnode,
    instagram::Instagram,
    lemmy::Lemmy,
    linkedin::Linkedin,
    mastodon::Mastodon,
    pinterest::Pinterest,
    slack::Slack,
    telegram::Telegram,
    threads::Threads,
    tiktok::Tiktok,
    wordpress::Wordpress,
    x::X,
    youtube::Youtube,
}
