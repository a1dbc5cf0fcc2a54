//! Ids that cannot be mistaken for one another.

use std::fmt;

use schemars::JsonSchema;
use sea_orm::{DbErr, DeriveValueType, TryFromU64};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! number_id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, DeriveValueType)]
        #[serde(transparent)]
        #[schemars(inline)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

macro_rules! uuid_id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, DeriveValueType)]
        #[serde(transparent)]
        #[schemars(inline)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A fresh id; ids sort by the time they were made.
            #[must_use]
            pub fn fresh() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl TryFromU64 for $name {
            fn try_from_u64(n: u64) -> Result<Self, DbErr> {
                Uuid::try_from_u64(n).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

number_id! {
    /// A post.
    PostId,
    /// A connected account.
    AccountId,
    /// A webhook delivery, as work; its public id is the `uid` column.
    DeliveryId,
    /// A stored file, as work; its public id is the `uid` column.
    AssetId,
    /// An analysis of a file, as work.
    AnalysisId,
    /// A file made from another, as work.
    VariantId,
    /// A recurring upkeep job.
    ChoreId,
    /// A letter, as work.
    LetterId,
    /// An event of Stripe, as work.
    StripeEventId,
    /// A film that a model makes, as work; its public id is the `uid` column.
    AiJobId,
    /// A line of a wallet's ledger.
    CreditEntryId,
    /// A conversation.
    ConversationId,
    /// A direct message.
    MessageId,
    /// A comment.
    CommentId,
    /// Reading an account's inbox, as work.
    SyncId,
    /// Something that a network sent, as work.
    InboundId,
    /// A change on a network, as work.
    OutgoingId,
    /// A file that came to an inbox, as work.
    InboxFileId,
    /// The record of a location, as work.
    ProfileId,
    /// A review.
    ReviewId,
    /// A photo or film of a location.
    BusinessMediaId,
}

uuid_id! {
    /// A person.
    UserId,
    /// A workspace.
    WorkspaceId,
    /// A brand.
    BrandId,
    /// An API key.
    KeyId,
    /// An encrypted secret.
    SecretId,
    /// An event.
    EventId,
    /// A webhook.
    WebhookId,
    /// A person who runs the service.
    OperatorId,
    /// A pause of publishing.
    PauseId,
    /// A file that was announced.
    UploadId,
    /// Somebody who signs up.
    SignupId,
    /// A person's subscription.
    SubscriptionId,
    /// A person's grant to an OAuth client.
    GrantId,
    /// A drop page.
    DropSessionId,
    /// An insight about a post.
    InsightId,
    /// A suggested post.
    SuggestionId,
    /// A connection that a person is making in a browser.
    ConnectSessionId,
    /// A message on the feedback board.
    FeedbackId,
    /// An event that an agent told.
    AgentFeedbackId,
}
