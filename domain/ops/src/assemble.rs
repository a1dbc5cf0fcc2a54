//! Gives a domain what its features keep in it.

use fanfare_conversations::inbox::ReadsAccounts;
use fanfare_core::Features;
use fanfare_insight::analytics::ReadsNumbers;
use fanfare_people::billing::WorkspacePosts;
use fanfare_publishing::{
    accounts::AccountHooks,
    posts::{PostWriter, VideoQuotas, unpaid::UnpaidPosts},
};

/// The operator's settings of the features.
#[derive(Debug, Clone)]
pub struct FeatureSettings {
    /// People and payments.
    pub people: fanfare_people::Settings,
    /// Publishing.
    pub publishing: fanfare_publishing::Settings,
    /// Conversations.
    pub conversations: fanfare_conversations::Settings,
    /// Numbers and models.
    pub insight: fanfare_insight::Settings,
}

impl FeatureSettings {
    /// Returns what the features keep in a domain: these settings, and the hooks by which a feature is called from one that
    /// it stands on.
    #[must_use]
    pub fn features(self) -> Features {
        let accounts: AccountHooks = vec![Box::new(ReadsAccounts), Box::new(ReadsNumbers)];
        let posts: Box<dyn WorkspacePosts> = Box::new(UnpaidPosts);
        Features::default()
            .with(self.people)
            .with(self.publishing)
            .with(self.conversations)
            .with(self.insight)
            .with(PostWriter::default())
            .with(VideoQuotas::default())
            .with(accounts)
            .with(posts)
    }
}
