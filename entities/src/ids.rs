//! The id types, one for each table, so that ids of different tables cannot be confused.

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
            /// Returns a new id. Ids sort by creation time.
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
    /// A webhook delivery. Its public id is the `uid` column.
    DeliveryId,
    /// A stored file. Its public id is the `uid` column.
    AssetId,
    /// An analysis of a file.
    AnalysisId,
    /// A converted file.
    VariantId,
    /// A recurring maintenance job.
    ChoreId,
    /// An e-mail.
    LetterId,
    /// An event from Stripe.
    StripeEventId,
    /// An AI video job. Its public id is the `uid` column.
    AiJobId,
    /// An entry in the ledger of a wallet.
    CreditEntryId,
    /// A conversation.
    ConversationId,
    /// A direct message.
    MessageId,
    /// A comment.
    CommentId,
    /// The reading of an account's inbox.
    SyncId,
    /// An event that a platform sent.
    InboundId,
    /// A change on a platform.
    OutgoingId,
    /// A file that an inbox received.
    InboxFileId,
    /// The record of a location, as work.
    ProfileId,
    /// A review.
    ReviewId,
    /// A photo or video of a business location.
    BusinessMediaId,
    /// The deletion of a workspace. Its public id is the `uid` column.
    DeletionId,
}

uuid_id! {
    /// A person.
    UserId,
    /// A workspace.
    WorkspaceId,
    /// A brand.
    BrandId,
    /// A post set.
    PostSetId,
    /// An API key.
    KeyId,
    /// An encrypted secret.
    SecretId,
    /// An event.
    EventId,
    /// A webhook.
    WebhookId,
    /// An operator of the service.
    OperatorId,
    /// A pause of publishing.
    PauseId,
    /// A file that was announced.
    UploadId,
    /// A signup.
    SignupId,
    /// A person's subscription.
    SubscriptionId,
    /// A person's grant to an OAuth client.
    GrantId,
    /// A page on which people without an account can upload files.
    DropSessionId,
    /// An insight about a post.
    InsightId,
    /// A suggested post.
    SuggestionId,
    /// A connection that a person is making in a browser.
    ConnectSessionId,
    /// A message on the feedback board.
    FeedbackId,
    /// An event that an agent reported.
    AgentFeedbackId,
}
