//! The database tables, with one file each, and the types of their ids. This crate has no business rules.
//!
//! Times are whole milliseconds since 1970 UTC in both databases, so that they compare and sort alike. The columns
//! `due_at`, `fencing_token`, `attempts` and `lease_expirations` mean the same in every table that has them; see
//! `docs/architecture.md`, "Durable work". Beside them stands `held_by`, the worker that holds the row (while
//! `lease_expirations` is above 0) or held it last, which only the statements of `domain::durable` read and write.

mod ids;

pub mod account;
pub mod account_day;
pub mod agent_feedback;
pub mod ai_job;
pub mod analytics_sync;
pub mod api_key;
pub mod api_process;
pub mod audit_entry;
pub mod billing_subscription;
pub mod brand;
pub mod brand_lock;
pub mod brand_profile;
pub mod business_media;
pub mod business_profile;
pub mod business_review;
pub mod chore;
pub mod connect_session;
pub mod connect_setting;
pub mod credit_entry;
pub mod credit_purchase;
pub mod credit_reservation;
pub mod credit_wallet;
pub mod drop_session;
pub mod event;
pub mod feedback;
pub mod first_key;
pub mod idempotency_key;
pub mod inbound_event;
pub mod inbox_comment;
pub mod inbox_conversation;
pub mod inbox_file;
pub mod inbox_message;
pub mod inbox_sync;
pub mod invitation;
pub mod lease;
pub mod leaving_post;
pub mod letter;
pub mod login_attempt;
pub mod media_analysis;
pub mod media_asset;
pub mod media_use;
pub mod media_variant;
pub mod media_wait;
pub mod membership;
pub mod oauth_client;
pub mod oauth_code;
pub mod oauth_grant;
pub mod oauth_token;
pub mod operator;
pub mod operator_session;
pub mod outgoing;
pub mod password_link;
pub mod pause;
pub mod performance_profile;
pub mod post;
pub mod post_attempt;
pub mod post_hold;
pub mod post_insight;
pub mod post_name;
pub mod post_numbers;
pub mod post_reading;
pub mod post_set;
pub mod post_set_target;
pub mod post_suggestion;
pub mod registered_app;
pub mod remote_result;
pub mod sample;
pub mod secret;
pub mod signup;
pub mod slot_grid;
pub mod stripe_call;
pub mod stripe_event;
pub mod subscription;
pub mod suggestion_round;
pub mod unpaid_post;
pub mod upload;
pub mod user;
pub mod user_password;
pub mod user_session;
pub mod webhook;
pub mod webhook_delivery;
pub mod webhook_secret;
pub mod worker;
pub mod workspace;
pub mod workspace_deletion;

pub use ids::{
    AccountId, AgentFeedbackId, AiJobId, AnalysisId, AssetId, BrandId, BusinessMediaId, ChoreId,
    CommentId, ConnectSessionId, ConversationId, CreditEntryId, DeletionId, DeliveryId,
    DropSessionId, EventId, FeedbackId, GrantId, InboundId, InboxFileId, InsightId, KeyId,
    LetterId, MessageId, OperatorId, OutgoingId, PauseId, PostId, PostSetId, ProfileId, ReviewId,
    SecretId, SignupId, StripeEventId, SubscriptionId, SuggestionId, SyncId, UploadId, UserId,
    VariantId, WebhookId, WorkspaceId,
};

/// Milliseconds since 1970 UTC.
pub type Millis = i64;
